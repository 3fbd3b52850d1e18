//! Rust types that a declaration names for properties, parameters and results: what a property of such a type is, and how
//! its values are read and written. The declarations that a host writes as Rust types are made of them.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::hash::Hash;
use std::marker::PhantomData;

use alcedo_abi::black_direct::DirectBits;
use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::property_flags;
use alcedo_abi::type_text::TypeText;
use alcedo_abi::zcall::Slot;
use alcedo_base::border::{CallError, SourcePlace};

use crate::decl::{PropertyDecl, RESULT_NAME};
use crate::function::RESULT;
use crate::host_value::HostValue;
use crate::owned::OwnedValue;
use crate::property::PropertyType;
use crate::thunk::{Frame, ParamBlock};
use crate::type_text::{self, SignatureText};
use crate::typed::{FrameValue, OfKind, PlainField, PropertyKind, owned};
use crate::value::Value;

/// A Rust type that a native declaration may name: numbers, `bool`, `String`, [`Name`](alcedo_base::handles::Name), structs and enums
/// of the host, references to objects of a class, and `Vec`, `Option`, `HashSet` and `HashMap` of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type that a native property, parameter or result can have",
    label = "not known to reflection by this Rust type",
    note = "numbers, `bool`, `String`, `Name`, `Obj<Class>`, enums of `#[uenum]`, structs of `#[ustruct]`, and `Vec`, `Option`, `HashSet` and \
            `HashMap` of these are; others are declared with `NativeClass`"
)]
pub trait NativeValue: HostValue {
    /// What a default is written as.
    #[doc(hidden)]
    type Literal;
    /// The kind of a property of this type.
    const KIND: PropertyKind;
    /// Path of its struct or class; empty for plain kinds.
    const TYPE_PATH: &'static str;
    /// The whole type, as reflection writes it.
    #[doc(hidden)]
    const TYPE: &'static TypeText = &TypeText::of(Self::KIND, Self::TYPE_PATH);
    /// Of an enum, the kind of its numbers, and whether all are those of a byte.
    #[doc(hidden)]
    const NUMBERS: Option<(PropertyKind, bool)> = None;

    /// The declaration of a property of this type.
    fn declared(name: &str) -> PropertyDecl {
        PropertyDecl::new(name, Self::KIND).of_type(Self::TYPE_PATH)
    }
}

impl<T: PlainField + FrameValue> NativeValue for T {
    type Literal = Self;
    const KIND: PropertyKind = <T as PlainField>::KIND;
    const TYPE_PATH: &'static str = <T as PlainField>::PATH;
}

macro_rules! declared_as {
    ($([$($bound:tt)*] $rust:ty => $kind:ident, $path:expr, $literal:ty;)*) => {$(
        impl<$($bound)*> NativeValue for $rust
        where
            Self: HostValue,
        {
            type Literal = $literal;
            const KIND: PropertyKind = PropertyKind::$kind;
            const TYPE_PATH: &'static str = $path;
        }
    )*};
}
declared_as! {
    [] bool => BOOL, "", bool;
    [] String => STRING, "", &'static str;
    [T: NativeValue] Vec<T> => ARRAY, T::TYPE.as_str(), ();
    [T: NativeValue] Option<T> => OPTIONAL, T::TYPE.as_str(), ();
    [T: NativeValue + Eq + Hash] HashSet<T> => SET, T::TYPE.as_str(), ();
    [K: NativeValue + Eq + Hash, V: NativeValue] HashMap<K, V> => MAP, EntryPath::<K, V>::TEXT.as_str(), ();
}

/// The type path of a map.
struct EntryPath<K, V>(PhantomData<(K, V)>);

impl<K: NativeValue, V: NativeValue> EntryPath<K, V> {
    const TEXT: &'static TypeText = &TypeText::joined(&[K::TYPE.as_str(), ", ", V::TYPE.as_str()]);
}

/// The fingerprint of a signature: the same that a function gets which is declared with it.
pub const fn fingerprint<A: NativeParams, R: NativeResult>() -> u64 {
    match R::VALUE {
        Some((kind, path)) => A::FINGERPRINT.number(RESULT).value(kind, path).finish(),
        None => A::FINGERPRINT.finish(),
    }
}

/// What a function of these types is compared by: its signature in words.
///
/// # Errors
/// When a path of a type is none.
pub fn signature_of<A: NativeParams, R: NativeResult>() -> Result<SignatureText, CallError> {
    let text = |decl: &PropertyDecl| {
        type_text::TypeText::of_declaration(decl.kind, &decl.type_path)
            .map_err(|error| CallError::other(error.to_string()))
    };
    let params = A::declared(&[]);
    let is_out = |param: &PropertyDecl| param.flags & property_flags::OUT != 0;
    let outs = params.iter().enumerate().filter(|(_, param)| is_out(param)).map(|(at, _)| at).collect();
    let arguments = params.iter().map(text).collect::<Result<_, _>>()?;
    let result = R::declared().as_ref().map(text).transpose()?.map(Box::new);
    Ok(SignatureText { arguments, outs, result })
}

/// A value that a native function gives, or nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a native function",
    label = "neither a value that the host knows, nor a `Result<T, E>` of one with an `E` that is `Display`"
)]
pub trait NativeResult: Sized + 'static {
    /// Its kind and the path of its type; none for nothing.
    const VALUE: Option<(PropertyKind, &'static str)>;

    /// The declaration of such a result; none for nothing.
    fn declared() -> Option<PropertyDecl>;

    /// Stores it as the result of the call.
    ///
    /// # Errors
    /// As for [`Frame::give_result`].
    fn give(self, frame: &mut Frame<'_>) -> Result<(), CallError>;

    /// Takes it out of a block after the call.
    ///
    /// # Errors
    /// [`CallError::Signature`] when the function gives another type.
    fn take(block: &ParamBlock<'_>) -> Result<Self, CallError>;

    /// Takes it out of the values of a call by name.
    ///
    /// # Errors
    /// [`CallError::Signature`] when the function gives another type.
    fn from_value(value: Option<Value>, ty: Option<&PropertyType>) -> Result<Self, CallError>;

    /// Whether it lies in a slot of a call, or is nothing.
    #[doc(hidden)]
    const IN_SLOT: bool;

    /// As it lies in a slot.
    #[doc(hidden)]
    fn into_slot(self) -> Slot;

    /// What lies in a slot; none where that is something else.
    #[doc(hidden)]
    fn from_slot(slot: Slot) -> Option<Self>;
}

impl NativeResult for () {
    const VALUE: Option<(PropertyKind, &'static str)> = None;
    const IN_SLOT: bool = true;

    #[inline]
    fn into_slot(self) -> Slot {
        Slot::EMPTY
    }

    #[inline]
    fn from_slot(_slot: Slot) -> Option<()> {
        Some(())
    }

    fn declared() -> Option<PropertyDecl> {
        None
    }

    fn give(self, _frame: &mut Frame<'_>) -> Result<(), CallError> {
        Ok(())
    }

    fn take(_block: &ParamBlock<'_>) -> Result<(), CallError> {
        Ok(())
    }

    fn from_value(_value: Option<Value>, _ty: Option<&PropertyType>) -> Result<(), CallError> {
        Ok(())
    }
}

impl<T: NativeValue> NativeResult for T {
    const VALUE: Option<(PropertyKind, &'static str)> = Some((T::KIND, T::TYPE_PATH));
    const IN_SLOT: bool = is_kind::<T::Raw>(T::KIND);

    #[inline]
    fn into_slot(self) -> Slot {
        self.into_raw().into_slot()
    }

    #[inline]
    fn from_slot(slot: Slot) -> Option<T> {
        <T::Raw as OfKind>::from_slot(slot).map(T::from_raw)
    }

    fn declared() -> Option<PropertyDecl> {
        Some(PropertyDecl { name: RESULT_NAME.to_owned(), ..T::declared("") }.with_flags(property_flags::RETURN))
    }

    #[inline]
    fn give(self, frame: &mut Frame<'_>) -> Result<(), CallError> {
        frame.give_result(self.into_raw())
    }

    #[inline]
    fn take(block: &ParamBlock<'_>) -> Result<T, CallError> {
        block.result_as().map(T::from_raw)
    }

    fn from_value(value: Option<Value>, ty: Option<&PropertyType>) -> Result<T, CallError> {
        from_value(&value.ok_or_else(|| CallError::other("the function gave nothing"))?, ty)
    }
}

/// What a native function may give: a value, nothing, or a `Result` of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a native function",
    label = "neither a value that the host knows, nor a `Result<T, E>` of one with an `E` that is `Display`"
)]
pub trait NativeReturned {
    /// The value.
    type Value: NativeResult;
    /// Whether it may be an error instead.
    const MAY_FAIL: bool;

    /// The value, or the error in its own words, with the place of the function.
    ///
    /// # Errors
    /// The author's.
    fn crossing(self, place: impl FnOnce() -> SourcePlace) -> Result<Self::Value, CallError>;
}

impl<T: NativeResult> NativeReturned for T {
    type Value = T;
    const MAY_FAIL: bool = false;

    #[inline]
    fn crossing(self, _place: impl FnOnce() -> SourcePlace) -> Result<T, CallError> {
        Ok(self)
    }
}

impl<T: NativeResult, E: Display + 'static> NativeReturned for Result<T, E> {
    type Value = T;
    const MAY_FAIL: bool = true;

    fn crossing(self, place: impl FnOnce() -> SourcePlace) -> Result<T, CallError> {
        self.map_err(|error| {
            let mut error = Some(error);
            let any: &mut dyn std::any::Any = &mut error;
            // One that was a `CallError` before stays what it was.
            if let Some(error) = any.downcast_mut::<Option<CallError>>().and_then(Option::take) {
                return error;
            }
            let message = error.map(|error| error.to_string()).unwrap_or_default();
            CallError::Returned { message, place: Some(place()) }
        })
    }
}

/// One parameter of a native function: a value, or one that comes back ([`Out`](crate::native_out::Out)).
pub trait NativeParam: Sized {
    /// The kind of the value.
    const KIND: PropertyKind;
    /// Path of its struct or class; empty for plain kinds.
    const TYPE_PATH: &'static str;
    /// Whether it comes back.
    const IS_OUT: bool = false;
    /// What is true of its type beside kind and path, as a number.
    #[doc(hidden)]
    const INSIDE: u64 = 0;
    /// How a body has it.
    type Seen;
    /// What is given back through.
    #[doc(hidden)]
    type Kept;
    /// What a caller gets back through.
    #[doc(hidden)]
    type Back;

    /// Its declaration.
    fn declared(name: &str) -> PropertyDecl;
    /// Takes it off a frame.
    ///
    /// # Errors
    /// As for [`Frame::take`].
    fn take(frame: &mut Frame<'_>) -> Result<(Self::Seen, Self::Kept), CallError>;
    /// Gives back what a body has kept.
    ///
    /// # Errors
    /// As for [`Frame::give_out`].
    fn give(kept: Self::Kept, frame: &mut Frame<'_>, at: usize) -> Result<(), CallError>;
    /// Puts it into a block.
    ///
    /// # Errors
    /// [`CallError::Signature`] when the function takes another.
    fn put(self, block: &mut ParamBlock<'_>, at: usize) -> Result<Self::Back, CallError>;
    /// Takes what came back out of a block.
    ///
    /// # Errors
    /// [`CallError::Signature`] when the function gives another.
    fn take_back(back: Self::Back, block: &ParamBlock<'_>, at: usize) -> Result<(), CallError>;
    /// As a value of that type, for a call by name.
    ///
    /// # Errors
    /// [`CallError::Signature`] when the type has other values.
    fn into_value(self, ty: Option<&PropertyType>) -> Result<Value, CallError>;

    /// As what it lies in a slot of a call, if it does.
    #[doc(hidden)]
    type Slotted: FrameValue;
    /// That.
    #[doc(hidden)]
    fn into_slotted(self) -> Self::Slotted;
    /// What was taken out of a slot.
    #[doc(hidden)]
    fn from_slotted(slotted: Self::Slotted) -> Self::Seen;
}

/// Whether values of that form lie in slots of calls, and are of the kind.
const fn is_kind<T: FrameValue>(kind: PropertyKind) -> bool {
    matches!(<T as OfKind>::IN_SLOT, Some(found) if found.0 == kind.0)
}

impl<T: NativeValue> NativeParam for T {
    type Slotted = T::Raw;

    #[inline]
    fn into_slotted(self) -> T::Raw {
        self.into_raw()
    }

    #[inline]
    fn from_slotted(slotted: T::Raw) -> T {
        T::from_raw(slotted)
    }

    const KIND: PropertyKind = <T as NativeValue>::KIND;
    const TYPE_PATH: &'static str = <T as NativeValue>::TYPE_PATH;
    type Seen = T;
    type Kept = ();
    type Back = ();

    fn declared(name: &str) -> PropertyDecl {
        <T as NativeValue>::declared(name)
    }

    #[inline]
    fn take(frame: &mut Frame<'_>) -> Result<(T, ()), CallError> {
        Ok((T::from_raw(frame.take()?), ()))
    }

    #[inline]
    fn give((): (), _frame: &mut Frame<'_>, _at: usize) -> Result<(), CallError> {
        Ok(())
    }

    #[inline]
    fn put(self, block: &mut ParamBlock<'_>, at: usize) -> Result<(), CallError> {
        block.put(at, self.into_raw())
    }

    #[inline]
    fn take_back((): (), _block: &ParamBlock<'_>, _at: usize) -> Result<(), CallError> {
        Ok(())
    }

    fn into_value(self, ty: Option<&PropertyType>) -> Result<Value, CallError> {
        into_value(self, ty)
    }
}

const fn with_param<P: NativeParam>(print: Fingerprint) -> Fingerprint {
    let print = if P::IS_OUT { print.out() } else { print };
    let print = print.value(P::KIND, P::TYPE_PATH);
    if P::INSIDE != 0 { print.number(P::INSIDE) } else { print }
}

/// The parameters of a native function, as a tuple of up to eight.
pub trait NativeParams: Sized {
    /// How many they are.
    const COUNT: usize;
    /// That of their kinds and types.
    const FINGERPRINT: Fingerprint;
    /// How a body has them.
    type Seen;
    /// What is given back through.
    #[doc(hidden)]
    type Kept;
    /// What a caller gets back through.
    #[doc(hidden)]
    type Back;

    /// Their declarations, under these names.
    fn declared(names: &[&str]) -> Vec<PropertyDecl>;

    /// Takes them off a frame.
    ///
    /// # Errors
    /// As for [`Frame::take`].
    fn take(frame: &mut Frame<'_>) -> Result<(Self::Seen, Self::Kept), CallError>;

    /// Gives back what a body has kept.
    ///
    /// # Errors
    /// As for [`Frame::give_out`].
    fn give(kept: Self::Kept, frame: &mut Frame<'_>) -> Result<(), CallError>;

    /// Puts them into a block.
    ///
    /// # Errors
    /// [`CallError::Signature`] when the function takes others.
    fn put(self, block: &mut ParamBlock<'_>) -> Result<Self::Back, CallError>;

    /// Takes what came back out of a block.
    ///
    /// # Errors
    /// [`CallError::Signature`] when the function gives others.
    fn take_back(back: Self::Back, block: &ParamBlock<'_>) -> Result<(), CallError>;

    /// As values of these types, for a call by name.
    ///
    /// # Errors
    /// [`CallError::Signature`] when they are others.
    fn into_values(self, types: &[PropertyType]) -> Result<Vec<Value>, CallError>;
}

/// Parameters that are values, and none of which comes back.
pub trait ValueParams: NativeParams<Seen = Self> + SlotRow + 'static {}

impl<A: NativeParams<Seen = A> + SlotRow + 'static> ValueParams for A {}

mod sealed {
    /// Only tuples of parameters are rows of slots.
    pub trait Sealed {}
}

/// Parameters as they lie in the slots of a call, if they do. Tuples of parameters are such; a slot is made by the form of its value,
/// so none ever holds an address.
pub trait SlotRow: sealed::Sealed + NativeParams {
    /// Whether all lie in slots, and none comes back.
    #[doc(hidden)]
    const IN_SLOTS: bool;
    /// The kinds that the slots have, whatever a type says of itself.
    #[doc(hidden)]
    const KINDS: &'static [Option<PropertyKind>];
    /// Whether the first refers to an object.
    #[doc(hidden)]
    const FIRST_IS_OBJECT: bool;
    /// Whether another does.
    #[doc(hidden)]
    const OTHERS_ARE_OBJECTS: bool;
    /// The slots, and one more for a result.
    #[doc(hidden)]
    type Slots: AsMut<[Slot]>;
    /// What a body sees.
    #[doc(hidden)]
    type Read;

    /// The slots of a call, that of the result empty.
    #[doc(hidden)]
    fn into_slots(self) -> Self::Slots;

    /// What lies in slots; none where that is something else, or there are not so many.
    #[doc(hidden)]
    fn from_slots(slots: &[Slot]) -> Option<Self::Read>;

    /// The words of a direct call.
    #[doc(hidden)]
    type Bits: DirectBits;

    /// Those of the slots of a call; none where there are fewer.
    #[doc(hidden)]
    fn bits_of(slots: &[Slot]) -> Option<Self::Bits>;

    /// What a body has of the words of a direct call; none where something does not lie in a slot.
    #[doc(hidden)]
    fn of_bits(bits: Self::Bits) -> Option<Self::Seen>;
}

macro_rules! tuples {
    ($(($($param:ident $at:tt),*))*) => {$(
        #[allow(unused_variables, clippy::unused_unit, reason = "none are taken of none")]
        impl<$($param: NativeParam),*> NativeParams for ($($param,)*) {
            const COUNT: usize = <[usize]>::len(&[$($at),*]);
            const FINGERPRINT: Fingerprint = {
                let print = Fingerprint::START;
                $(let print = with_param::<$param>(print);)*
                print
            };
            type Seen = ($($param::Seen,)*);
            type Kept = ($($param::Kept,)*);
            type Back = ($($param::Back,)*);

            fn declared(names: &[&str]) -> Vec<PropertyDecl> {
                vec![$($param::declared(names.get($at).copied().unwrap_or_default())),*]
            }

            #[inline]
            fn take(frame: &mut Frame<'_>) -> Result<(Self::Seen, Self::Kept), CallError> {
                let all = ($($param::take(frame)?,)*);
                Ok((($(all.$at.0,)*), ($(all.$at.1,)*)))
            }

            #[inline]
            fn give(kept: Self::Kept, frame: &mut Frame<'_>) -> Result<(), CallError> {
                $($param::give(kept.$at, frame, $at)?;)*
                Ok(())
            }

            #[inline]
            fn put(self, block: &mut ParamBlock<'_>) -> Result<Self::Back, CallError> {
                Ok(($(self.$at.put(block, $at)?,)*))
            }

            #[inline]
            fn take_back(back: Self::Back, block: &ParamBlock<'_>) -> Result<(), CallError> {
                $($param::take_back(back.$at, block, $at)?;)*
                Ok(())
            }

            #[allow(unused_variables, reason = "none are made of none")]
            fn into_values(self, types: &[PropertyType]) -> Result<Vec<Value>, CallError> {
                Ok(vec![$(self.$at.into_value(types.get($at))?),*])
            }
        }

        impl<$($param: NativeParam),*> sealed::Sealed for ($($param,)*) {}

        #[allow(unused_variables, clippy::unused_unit, reason = "none lie in none")]
        impl<$($param: NativeParam),*> SlotRow for ($($param,)*) {
            const IN_SLOTS: bool = true $(&& !$param::IS_OUT && is_kind::<$param::Slotted>($param::KIND))*;
            const KINDS: &'static [Option<PropertyKind>] = &[$(<$param::Slotted as OfKind>::IN_SLOT),*];
            const FIRST_IS_OBJECT: bool = false $(|| ($at == 0 && $param::KIND.0 == PropertyKind::OBJECT.0))*;
            const OTHERS_ARE_OBJECTS: bool = false $(|| ($at != 0 && $param::KIND.0 == PropertyKind::OBJECT.0))*;
            type Slots = [Slot; <[usize]>::len(&[$($at),*]) + 1];
            type Read = ($($param::Seen,)*);

            #[inline]
            fn into_slots(self) -> Self::Slots {
                [$(self.$at.into_slotted().into_slot(),)* Slot::EMPTY]
            }

            #[inline]
            fn from_slots(slots: &[Slot]) -> Option<Self::Read> {
                Some(($($param::from_slotted(<$param::Slotted as OfKind>::from_slot(*slots.get($at)?)?),)*))
            }

            type Bits = [u64; <[usize]>::len(&[$($at),*])];

            #[inline]
            fn bits_of(slots: &[Slot]) -> Option<Self::Bits> {
                Some([$(slots.get($at)?.bits()),*])
            }

            #[inline]
            fn of_bits(bits: Self::Bits) -> Option<Self::Seen> {
                Some(($($param::from_slotted(<$param::Slotted as OfKind>::from_bits(bits[$at])?),)*))
            }
        }
    )*};
}
tuples! {
    ()
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}

/// A Rust value as a value of that type.
///
/// # Errors
/// [`CallError::Signature`] when the type has other values.
fn into_value<T: NativeValue>(value: T, ty: Option<&PropertyType>) -> Result<Value, CallError> {
    let ty = checked::<T>(ty)?;
    Ok(owned(ty.clone(), value.into_raw()).read())
}

/// The Rust value of a value of that type.
///
/// # Errors
/// [`CallError::Signature`] when the type has other values.
fn from_value<T: NativeValue>(value: &Value, ty: Option<&PropertyType>) -> Result<T, CallError> {
    let ty = checked::<T>(ty)?;
    let mut own = OwnedValue::initial(ty.clone());
    own.write(value).map_err(|error| CallError::other(error.to_string()))?;
    let raw = own.as_ptr().to().map(<T::Raw as OfKind>::load);
    raw.map(T::from_raw).ok_or_else(|| differs::<T>(Some(ty)))
}

fn checked<T: NativeValue>(ty: Option<&PropertyType>) -> Result<&PropertyType, CallError> {
    ty.filter(|ty| <T::Raw as OfKind>::matches(ty)).ok_or_else(|| differs::<T>(ty))
}

fn differs<T: NativeValue>(ty: Option<&PropertyType>) -> CallError {
    CallError::Signature {
        name: "a value".to_owned(),
        found: ty.map(ToString::to_string).unwrap_or_default(),
        wanted: <T::Raw as OfKind>::describe().into_owned(),
    }
}
