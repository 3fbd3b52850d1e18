//! Rust types for the properties, parameters and results of native declarations. Each Rust type corresponds to a property type, and
//! converts the values of this property type.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::hash::Hash;
use std::marker::PhantomData;

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::host_direct::DirectBits;
use alcedo_abi::kinds::property_flags;
use alcedo_abi::type_text::TypeText;
use alcedo_abi::zcall::Slot;
use alcedo_base::boundary::{CallError, SourcePlace, mismatch};

use crate::decl::{PropertyDecl, RESULT_NAME};
use crate::host_value::HostValue;
use crate::owned::OwnedValue;
use crate::property::PropertyType;
use crate::thunk::{Frame, ParamBlock};
use crate::type_text::{self, SignatureText};
use crate::typed::{FrameValue, OfKind, PlainField, PropertyKind, owned};
use crate::value::Value;

/// Rust type that a native declaration may use. These types are numbers, `bool`, `String`, [`Name`](alcedo_base::handles::Name), structs
/// and enums of the host, references to objects of a class, and `Vec`, `Option`, `HashSet` and `HashMap` of these types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the type of a native property, parameter or result",
    label = "reflection does not support this Rust type",
    note = "supported types: numbers, `bool`, `String`, `Name`, `Obj<Class>`, enums of `#[uenum]`, structs of `#[ustruct]`, and `Vec`, \
            `Option`, `HashSet` and `HashMap` of these; declare other types with `NativeClass`"
)]
pub trait NativeValue: HostValue {
    /// Type of the default value in the declaration.
    #[doc(hidden)]
    type Literal;
    /// Kind of a property of this type.
    const KIND: PropertyKind;
    /// Path of the struct or class. Empty for plain kinds.
    const TYPE_PATH: &'static str;
    /// Complete type in reflection syntax.
    #[doc(hidden)]
    const TYPE: &'static TypeText = &TypeText::of(Self::KIND, Self::TYPE_PATH);
    /// Kind of the underlying integer of an enum, and a flag. The flag is true if all numbers of the enum fit in a byte. `None` for other
    /// types.
    #[doc(hidden)]
    const NUMBERS: Option<(PropertyKind, bool)> = None;

    /// Returns the declaration of a property of this type.
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

/// Builds the type path of a map.
struct EntryPath<K, V>(PhantomData<(K, V)>);

impl<K: NativeValue, V: NativeValue> EntryPath<K, V> {
    const TEXT: &'static TypeText = &TypeText::joined(&[K::TYPE.as_str(), ", ", V::TYPE.as_str()]);
}

/// Returns the fingerprint of a signature. A function that is declared with these types has an equal fingerprint.
pub const fn fingerprint<A: NativeParams, R: NativeResult>() -> u64 {
    match R::VALUE {
        Some((kind, path)) => A::FINGERPRINT.result(kind, path).finish(),
        None => A::FINGERPRINT.finish(),
    }
}

/// Returns the signature text. Two functions have equal signatures if their signature strings are equal.
///
/// # Errors
/// Fails if the path of a type is invalid.
pub fn signature_of<A: NativeParams, R: NativeResult>() -> Result<SignatureText, CallError> {
    let text = |decl: &PropertyDecl| {
        type_text::TypeText::of_declaration(decl.kind, &decl.type_path)
            .map_err(|error| CallError::other(error.to_string()))
    };
    let params = A::declared(&[]);
    let is_out = |param: &PropertyDecl| param.flags & property_flags::OUT != 0;
    let out_parameters = params.iter().enumerate().filter(|(_, param)| is_out(param)).map(|(at, _)| at).collect();
    let arguments = params.iter().map(text).collect::<Result<_, _>>()?;
    let result = R::declared().as_ref().map(text).transpose()?.map(Box::new);
    Ok(SignatureText { arguments, out_parameters, result })
}

/// Successful result of a native function: a value or `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a native function",
    label = "neither a supported type, nor a `Result<T, E>` of one whose `E` implements `Display`"
)]
pub trait NativeResult: Sized + 'static {
    /// Kind and type path of the result. `None` for `()`.
    const VALUE: Option<(PropertyKind, &'static str)>;

    /// Returns the declaration of this result. Returns `None` for `()`.
    fn declared() -> Option<PropertyDecl>;

    /// Stores the value as the result of the call.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::set_result`].
    fn give(self, frame: &mut Frame<'_>) -> Result<(), CallError>;

    /// Removes and returns the result from a parameter block after the call.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the function returns a different type.
    fn take(block: &ParamBlock<'_>) -> Result<Self, CallError>;

    /// Converts the result of a call by name to this type.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the function returns a different type.
    fn from_value(value: Option<Value>, ty: Option<&PropertyType>) -> Result<Self, CallError>;

    /// True if the result fits a call slot, or is `()`.
    #[doc(hidden)]
    const IN_SLOT: bool;

    /// Converts the value to a call slot.
    #[doc(hidden)]
    fn into_slot(self) -> Slot;

    /// Reads the value from a call slot. Returns `None` if the slot holds a different kind.
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
        frame.set_result(self.into_raw())
    }

    #[inline]
    fn take(block: &ParamBlock<'_>) -> Result<T, CallError> {
        block.result_as().map(T::from_raw)
    }

    fn from_value(value: Option<Value>, ty: Option<&PropertyType>) -> Result<T, CallError> {
        let value = value.ok_or_else(|| CallError::other("the function returned no value"))?;
        let ty = checked::<T>(ty)?;
        let mut own = OwnedValue::initial(ty.clone());
        own.write(&value).map_err(|error| CallError::other(error.to_string()))?;
        let raw = own.as_ptr().to().map(<T::Raw as OfKind>::load);
        raw.map(T::from_raw).ok_or_else(|| differs::<T>(Some(ty)))
    }
}

/// Return type of a native function: a value, `()`, or a `Result` of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a native function",
    label = "neither a supported type, nor a `Result<T, E>` of one whose `E` implements `Display`"
)]
pub trait NativeReturned {
    /// Type of the successful result.
    type Value: NativeResult;
    /// True if the function may return an error.
    const MAY_FAIL: bool;

    /// Returns the successful result. For an error, returns its message with the source location of the function.
    ///
    /// # Errors
    /// Returns the error of the native function.
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
            // A `CallError` is returned unchanged.
            if let Some(error) = any.downcast_mut::<Option<CallError>>().and_then(Option::take) {
                return error;
            }
            let message = error.map(|error| error.to_string()).unwrap_or_default();
            CallError::Returned { message, place: Some(place()) }
        })
    }
}

/// Parameter of a native function: a value, or an out parameter ([`Out`](crate::native_out::Out)).
pub trait NativeParam: Sized {
    /// Kind of the value.
    const KIND: PropertyKind;
    /// Path of the struct or class. Empty for plain kinds.
    const TYPE_PATH: &'static str;
    /// True for an out parameter.
    const IS_OUT: bool = false;
    /// Fingerprint of type details that kind and path do not contain. Zero if the type has no such details.
    #[doc(hidden)]
    const INSIDE: u64 = 0;
    /// Type that the function body receives.
    type Seen;
    /// State that the callee keeps to write the out value back to the caller.
    #[doc(hidden)]
    type Kept;
    /// State that the caller keeps to receive the out value.
    #[doc(hidden)]
    type Back;
    /// Form of the argument in frames, parameter blocks and call slots.
    #[doc(hidden)]
    type Slotted: FrameValue;

    /// Returns the declaration of this parameter.
    fn declared(name: &str) -> PropertyDecl;
    /// Converts the argument to its form for the callee, and to the state that receives the out value.
    #[doc(hidden)]
    fn into_slotted(self) -> (Self::Slotted, Self::Back);
    /// Converts the received argument to the value that the function body receives, and to the state that writes the out value back.
    #[doc(hidden)]
    fn from_slotted(slotted: Self::Slotted) -> (Self::Seen, Self::Kept);
    /// Takes the argument from a frame.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::take`].
    #[inline]
    fn take(frame: &mut Frame<'_>) -> Result<(Self::Seen, Self::Kept), CallError> {
        frame.take().map(Self::from_slotted)
    }
    /// Writes the out value back to the frame.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::set_out`].
    fn give(kept: Self::Kept, frame: &mut Frame<'_>, at: usize) -> Result<(), CallError>;
    /// Stores the argument in the parameter at index `at` of a parameter block.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the parameter has a different type.
    #[inline]
    fn put(self, block: &mut ParamBlock<'_>, at: usize) -> Result<Self::Back, CallError> {
        if Self::IS_OUT {
            block.expect_out(at)?;
        }
        let (slotted, back) = self.into_slotted();
        block.put(at, slotted)?;
        Ok(back)
    }
    /// Reads the out value from a parameter block after the call.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the out parameter has a different type.
    fn take_back(back: Self::Back, block: &ParamBlock<'_>, at: usize) -> Result<(), CallError>;
    /// Converts the argument to a value of `ty`, for a call by name.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if `ty` does not match the Rust type.
    fn into_value(self, ty: Option<&PropertyType>) -> Result<Value, CallError>;
}

/// Checks if values of type `T` fit call slots and are of `kind`.
const fn is_kind<T: FrameValue>(kind: PropertyKind) -> bool {
    matches!(<T as OfKind>::IN_SLOT, Some(found) if found.0 == kind.0)
}

impl<T: NativeValue> NativeParam for T {
    type Slotted = T::Raw;

    #[inline]
    fn into_slotted(self) -> (T::Raw, ()) {
        (self.into_raw(), ())
    }

    #[inline]
    fn from_slotted(slotted: T::Raw) -> (T, ()) {
        (T::from_raw(slotted), ())
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
    fn give((): (), _frame: &mut Frame<'_>, _at: usize) -> Result<(), CallError> {
        Ok(())
    }

    #[inline]
    fn take_back((): (), _block: &ParamBlock<'_>, _at: usize) -> Result<(), CallError> {
        Ok(())
    }

    fn into_value(self, ty: Option<&PropertyType>) -> Result<Value, CallError> {
        Ok(owned(checked::<T>(ty)?.clone(), self.into_raw()).read())
    }
}

const fn with_param<P: NativeParam>(print: Fingerprint) -> Fingerprint {
    let print = print.param(P::IS_OUT, P::KIND, P::TYPE_PATH);
    if P::INSIDE != 0 { print.number(P::INSIDE) } else { print }
}

/// Parameters of a native function, as a tuple of up to eight types.
pub trait NativeParams: Sized {
    /// Number of parameters.
    const COUNT: usize;
    /// Fingerprint of the kinds and types of all parameters.
    const FINGERPRINT: Fingerprint;
    /// Values that the function body receives.
    type Seen;
    /// State that the callee keeps to write the out values back to the caller.
    #[doc(hidden)]
    type Kept;
    /// State that the caller keeps to receive the out values.
    #[doc(hidden)]
    type Back;

    /// Returns the declarations of the parameters. `names` contains the name of each parameter.
    fn declared(names: &[&str]) -> Vec<PropertyDecl>;

    /// Takes the arguments from a frame.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::take`].
    fn take(frame: &mut Frame<'_>) -> Result<(Self::Seen, Self::Kept), CallError>;

    /// Writes the out values back to the frame.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::set_out`].
    fn give(kept: Self::Kept, frame: &mut Frame<'_>) -> Result<(), CallError>;

    /// Stores the arguments in a parameter block.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the parameters have different types.
    fn put(self, block: &mut ParamBlock<'_>) -> Result<Self::Back, CallError>;

    /// Reads the out values from a parameter block after the call.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the out parameters have different types.
    fn take_back(back: Self::Back, block: &ParamBlock<'_>) -> Result<(), CallError>;

    /// Converts the arguments to values of the types in `types`, for a call by name.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the types differ.
    fn into_values(self, types: &[PropertyType]) -> Result<Vec<Value>, CallError>;
}

/// Parameter tuple without out parameters.
pub trait ValueParams: NativeParams<Seen = Self> + SlotRow + 'static {}

impl<A: NativeParams<Seen = A> + SlotRow + 'static> ValueParams for A {}

mod sealed {
    /// Restricts `SlotRow` to tuples of parameters.
    pub trait Sealed {}
}

/// Conversion of parameter tuples to call slots. Each slot is built from a Rust value, so no slot contains an address.
pub trait SlotRow: sealed::Sealed + NativeParams {
    /// True if all parameters fit call slots and none is an out parameter.
    #[doc(hidden)]
    const IN_SLOTS: bool;
    /// Kinds of the slots. Each kind is the kind of `NativeParam::Slotted`, and may differ from the kind of the declared type.
    #[doc(hidden)]
    const KINDS: &'static [Option<PropertyKind>];
    /// True if the first parameter refers to an object.
    #[doc(hidden)]
    const FIRST_IS_OBJECT: bool;
    /// True if any parameter after the first refers to an object.
    #[doc(hidden)]
    const OTHERS_ARE_OBJECTS: bool;
    /// Array with one slot per parameter and one for the result.
    #[doc(hidden)]
    type Slots: AsMut<[Slot]>;

    /// Returns the slots of a call, with an empty result slot.
    #[doc(hidden)]
    fn into_slots(self) -> Self::Slots;

    /// Reads the arguments from slots. Returns `None` if a slot is missing or holds a different kind.
    #[doc(hidden)]
    fn from_slots(slots: &[Slot]) -> Option<Self::Seen>;

    /// Machine words that a direct call passes.
    #[doc(hidden)]
    type Bits: DirectBits;

    /// Returns the slots as machine words. Returns `None` if there are too few slots.
    #[doc(hidden)]
    fn bits_of(slots: &[Slot]) -> Option<Self::Bits>;

    /// Converts machine words to the arguments of a direct call. Returns `None` if a parameter does not fit a slot.
    #[doc(hidden)]
    fn of_bits(bits: Self::Bits) -> Option<Self::Seen>;
}

macro_rules! tuples {
    ($(($($param:ident $at:tt),*))*) => {$(
        #[allow(unused_variables, clippy::unused_unit, reason = "unused for an empty tuple")]
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

            fn into_values(self, types: &[PropertyType]) -> Result<Vec<Value>, CallError> {
                Ok(vec![$(self.$at.into_value(types.get($at))?),*])
            }
        }

        impl<$($param: NativeParam),*> sealed::Sealed for ($($param,)*) {}

        #[allow(unused_variables, clippy::unused_unit, reason = "unused for an empty tuple")]
        impl<$($param: NativeParam),*> SlotRow for ($($param,)*) {
            const IN_SLOTS: bool = true $(&& !$param::IS_OUT && is_kind::<$param::Slotted>($param::KIND))*;
            const KINDS: &'static [Option<PropertyKind>] = &[$(<$param::Slotted as OfKind>::IN_SLOT),*];
            const FIRST_IS_OBJECT: bool = false $(|| ($at == 0 && $param::KIND.0 == PropertyKind::OBJECT.0))*;
            const OTHERS_ARE_OBJECTS: bool = false $(|| ($at != 0 && $param::KIND.0 == PropertyKind::OBJECT.0))*;
            type Slots = [Slot; <[usize]>::len(&[$($at),*]) + 1];

            #[inline]
            fn into_slots(self) -> Self::Slots {
                [$(self.$at.into_slotted().0.into_slot(),)* Slot::EMPTY]
            }

            #[inline]
            fn from_slots(slots: &[Slot]) -> Option<Self::Seen> {
                Some(($($param::from_slotted(<$param::Slotted as OfKind>::from_slot(*slots.get($at)?)?).0,)*))
            }

            type Bits = [u64; <[usize]>::len(&[$($at),*])];

            #[inline]
            fn bits_of(slots: &[Slot]) -> Option<Self::Bits> {
                Some([$(slots.get($at)?.bits()),*])
            }

            #[inline]
            fn of_bits(bits: Self::Bits) -> Option<Self::Seen> {
                Some(($($param::from_slotted(<$param::Slotted as OfKind>::from_bits(bits[$at])?).0,)*))
            }
        }
    )*};
}

/// Calls the macro `$then` with tuples of up to eight types.
macro_rules! each_tuple {
    ($then:ident) => {
        $then! {
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
    };
}
pub(crate) use each_tuple;

each_tuple!(tuples);

fn checked<T: NativeValue>(ty: Option<&PropertyType>) -> Result<&PropertyType, CallError> {
    ty.filter(|ty| <T::Raw as OfKind>::matches(ty)).ok_or_else(|| differs::<T>(ty))
}

fn differs<T: NativeValue>(ty: Option<&PropertyType>) -> CallError {
    let found = ty.map(ToString::to_string).unwrap_or_default();
    mismatch(&"a value", &found, &<T::Raw as OfKind>::describe())
}
