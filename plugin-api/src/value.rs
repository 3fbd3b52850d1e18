//! Rust types as property kinds: their layout in host memory and their encoding in the slots of a ZCall.
#![expect(unsafe_code, reason = "reads and writes host memory and follows pointer slots, as each kind prescribes")]

use alcedo_abi::call::FailureKind;
use alcedo_abi::handles::{Name, ObjectHandle};
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::type_text::TypeText;
use alcedo_abi::value::{TextRaw, TextSink, TextView};
use alcedo_abi::zcall::{Slot, SlotType, SlotValue};
use alcedo_rt::CallError;

use crate::host::put_text;
use crate::kinds::ValidityToken;
use crate::kinds::{Ptr, PtrMut, Viewable};
use crate::ptr::{ArgumentSlot, ResultSlot};
use crate::{Class, Obj, UName};

/// Type of a property, a parameter, a result, a struct field or a container element: numbers, `bool`, `String`, `UName`,
/// `Obj<C>`, structs with `#[ustruct]`, every [`Kind`](crate::Kind), and containers of std.
///
/// # Safety
/// `Raw` has the size, alignment and meaning that the host assigns to `KIND` and `TYPE_PATH`. Any bytes are valid for `Raw`
/// until its pointers are followed, and zero bytes are a value. Slots are written and read as the ABI prescribes for the kind,
/// and `Passing` matches this encoding: `ByPointer` if `COPY_RUNS_CODE` is true. If `host_address` returns an address, the value stays live
/// at this address until the next write or call.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::Value;
///
/// /// Formats the kind and path of a type for the list of an editor.
/// fn describe<T: Value>() -> String {
///     format!("{} {}", T::KIND.text().unwrap_or("?"), T::TYPE_PATH)
/// }
/// assert_eq!(describe::<Obj<Object>>(), "Object /Script/Core.Object");
/// assert_eq!(describe::<Vec<f64>>(), "Array f64");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a property, a parameter or a result",
    label = "the host does not know this type",
    note = "supported types: u8 … u64, i8 … i64, f32, f64, bool, String, UName, Obj<Class>, structs with #[ustruct], UArray, USet, \
            UMap, UOptional and the other kinds of the prelude, Vec, Option, and the sets and maps of std"
)]
pub unsafe trait Value: Sized + 'static {
    /// Kind of the value in the host.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::Value;
    ///
    /// assert_eq!(u32::KIND, PropertyKind::U32);
    /// assert_eq!(Vec::<u32>::KIND, UArray::<u32>::KIND, "both are arrays of the host");
    /// ```
    const KIND: PropertyKind;
    /// Path of the struct or class, or the type arguments of a container. Empty for kinds without path and type arguments.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::Value;
    ///
    /// assert_eq!(UMap::<UName, f64>::TYPE_PATH, "Name, f64");
    /// assert_eq!(f64::TYPE_PATH, "");
    /// ```
    const TYPE_PATH: &'static str;
    /// Type as a string, with its kind, path and type arguments.
    #[doc(hidden)]
    const TYPE: &'static TypeText = &TypeText::of(Self::KIND, Self::TYPE_PATH);
    /// True if a value may refer to an object. Before such a value is written, a running collection must be notified.
    #[doc(hidden)]
    const NAMES_OBJECTS: bool = true;
    /// True if a value in host form may own memory, which must then be freed.
    #[doc(hidden)]
    const OWNS_MEMORY: bool = false;
    /// True if copying a value can run code of the author: the `Hash`, `Eq` or `Ord` of keys. False for a struct, because a struct that is
    /// passed by value is `Copy`, and so contains no sets and maps.
    #[doc(hidden)]
    const COPY_RUNS_CODE: bool = false;
    /// For an enum: the underlying type, and true if all numbers of the enum fit in a byte. `None` for all other types.
    #[doc(hidden)]
    const NUMBERS: Option<(PropertyKind, bool)> = None;
    /// Type in which code receives a value in host memory. For plain values, strings and containers of std, this type is a copy of the
    /// value. For every [`Kind`](crate::Kind), this type is a [`Borrowed`](crate::Borrowed).
    type Seen<'f>;
    /// Representation of the value in host memory and in parameter blocks.
    type Raw: 'static;
    /// Type of the literal in the specifier `default = …`.
    type Literal;
    /// Encoding of a value in a slot: [`InSlot`], [`ByPointer`] or [`AsText`].
    #[doc(hidden)]
    type Passing;
    /// Data that the caller stores on its stack while a slot passes an argument.
    #[doc(hidden)]
    type In;
    /// Data that the caller stores on its stack until it receives a result.
    #[doc(hidden)]
    type Out;

    /// Returns a copy or a view of the value in host memory.
    #[doc(hidden)]
    fn see<'f>(value: Viewable<'_, Self, impl FnOnce() -> ValidityToken<'f>>) -> Self::Seen<'f>;

    /// Returns the address of the value if the value is in host form.
    #[doc(hidden)]
    fn host_address(&self) -> Result<Option<*const Self::Raw>, CallError> {
        Ok(None)
    }

    #[doc(hidden)]
    fn load(from: Ptr<'_, Self>) -> Self;

    #[doc(hidden)]
    #[inline]
    fn try_load(from: Ptr<'_, Self>) -> Result<Self, CallError> {
        Ok(Self::load(from))
    }

    #[doc(hidden)]
    fn store(&self, target: PtrMut<'_, Self>) -> Result<(), CallError>;

    /// Creates the data that the caller stores on its stack while a slot passes this value as an argument.
    ///
    /// # Safety
    /// The call runs on the game thread, or the value is not a [`Kind`](crate::Kind).
    #[doc(hidden)]
    unsafe fn stage(&self) -> Self::In;

    /// Returns the slot of an argument. `staged` must be the result of `stage` of this value. The slot is valid while the value and
    /// `staged` remain at their addresses.
    #[doc(hidden)]
    fn slot_in(&self, staged: &Self::In) -> Slot;

    /// Creates the data that the caller stores on its stack until it receives a result.
    #[doc(hidden)]
    fn out() -> Self::Out;

    /// Returns the slot that receives a result. The slot is valid while `out` remains at its address.
    #[doc(hidden)]
    fn slot_out(out: &mut Self::Out) -> Slot;

    /// Converts the slot and the data, which the callee has filled, into the result.
    ///
    /// # Safety
    /// `out()` returned `out`, and `slot_out` returned `slot` for `out`. A callee that returns this type has filled `out` and
    /// `slot`.
    #[doc(hidden)]
    unsafe fn take_out(slot: Slot, out: Self::Out) -> Result<Self, CallError>;

    #[doc(hidden)]
    fn from_slot(slot: ArgumentSlot<'_, Self>) -> Result<Self, CallError>;

    #[doc(hidden)]
    fn into_slot(self, slot: ResultSlot<'_, Self>) -> Result<(), CallError>;

    /// Returns the bits of the value if a slot can store values of this type, otherwise 0.
    #[doc(hidden)]
    #[inline]
    fn direct_bits(&self) -> u64 {
        0
    }

    /// Creates a value from the bits of a slot. Returns `None` if a slot cannot store values of this type.
    #[doc(hidden)]
    #[inline]
    fn of_direct_bits(_bits: u64) -> Option<Self> {
        None
    }
}

/// Encoding of values that are stored in the slot itself.
#[derive(Debug)]
pub enum InSlot {}

/// Encoding of values in host form: the slot contains the address of the value. For a result, the callee overwrites the value there.
#[derive(Debug)]
pub enum ByPointer {}

/// Encoding of strings: an argument slot points to a [`TextView`], a result slot to a [`TextSink`].
#[derive(Debug)]
pub enum AsText {}

/// Value that can be borrowed in place from host memory: numbers, [`UName`], [`Obj`], and `#[ustruct(pod)]` structs with fields of these
/// types. `bool` is excluded, because a byte in host memory may have any value.
///
/// # Safety
/// The type and its `Raw` have equal layouts, and any bytes are valid for the type.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::Plain;
///
/// #[ustruct(package = "Game", pod)]
/// pub struct Sample {
///     time: f64,
///     height: f64,
/// }
///
/// fn is_borrowed_as_a_slice<T: Plain>() {}
///
/// is_borrowed_as_a_slice::<Sample>();
///
/// fn highest(samples: &Borrowed<'_, UArray<Sample>>) -> f64 {
///     samples.with_slice(|samples| samples.iter().map(|sample| sample.height).fold(0.0, f64::max))
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "an array of `{Self}` cannot be borrowed as a slice",
    label = "values of this type own memory, or have another layout in host memory",
    note = "only numbers, UName, Obj<Class> and `#[ustruct(pod)]` structs of these can be borrowed as a slice"
)]
pub unsafe trait Plain: Value {}

/// Literal type of a kind without literals. Properties of this kind cannot have `default = …`.
#[derive(Debug)]
pub enum NoDefault {}

macro_rules! in_the_slot {
    ($value:ident => $slot_value:expr, $from:expr) => {
        type Passing = InSlot;
        type In = ();
        type Out = ();

        #[inline]
        unsafe fn stage(&self) {}

        #[inline]
        fn slot_in(&self, (): &()) -> Slot {
            let $value = self;
            plain_slot($slot_value)
        }

        #[inline]
        fn out() {}

        #[inline]
        fn slot_out((): &mut ()) -> Slot {
            Slot::EMPTY
        }

        #[inline]
        unsafe fn take_out(slot: Slot, (): ()) -> Result<Self, CallError> {
            plain_value(slot).map($from)
        }

        #[inline]
        fn from_slot(slot: ArgumentSlot<'_, Self>) -> Result<Self, CallError> {
            plain_value(slot.bare()).map($from)
        }

        #[inline]
        fn into_slot(self, slot: ResultSlot<'_, Self>) -> Result<(), CallError> {
            let $value = &self;
            slot.put(plain_slot($slot_value));
            Ok(())
        }

        #[inline]
        fn direct_bits(&self) -> u64 {
            let $value = self;
            SlotValue::into_bits($slot_value)
        }

        #[inline]
        fn of_direct_bits(bits: u64) -> Option<Self> {
            Some(SlotValue::from_bits(bits)).map($from)
        }
    };
}

macro_rules! in_memory {
    ($value:ident: $raw:ty => $to_raw:expr, $from_raw:expr) => {
        type Raw = $raw;
        type Seen<'f> = Self;

        #[inline]
        fn see<'f>(value: Viewable<'_, Self, impl FnOnce() -> ValidityToken<'f>>) -> Self {
            Self::load(value.ptr())
        }

        #[inline]
        fn load(from: Ptr<'_, Self>) -> Self {
            let from_raw: fn($raw) -> Self = $from_raw;
            from_raw(from.read())
        }

        #[inline]
        fn store(&self, target: PtrMut<'_, Self>) -> Result<(), CallError> {
            let $value = self;
            target.write($to_raw);
            Ok(())
        }
    };
}

macro_rules! numbers {
    ($($rust:ty => $kind:ident),*) => {$(
        // SAFETY: the host's number of this kind is the same Rust number; any bytes are valid.
        unsafe impl Value for $rust {
            const KIND: PropertyKind = PropertyKind::$kind;
            const TYPE_PATH: &'static str = "";
            const NAMES_OBJECTS: bool = false;
            type Literal = Self;
            in_memory!(value: Self => *value, |raw| raw);
            in_the_slot!(value => *value, |value| value);
        }

        // SAFETY: the number is its own raw form, and any bytes are a valid number.
        unsafe impl Plain for $rust {}
    )*};
}
numbers!(u8 => U8, u16 => U16, u32 => U32, u64 => U64, i8 => I8, i16 => I16, i32 => I32, i64 => I64, f32 => F32, f64 => F64);

// SAFETY: the host's bool is one byte, 0 or 1; any byte is valid for `u8`.
unsafe impl Value for bool {
    const KIND: PropertyKind = PropertyKind::BOOL;
    const TYPE_PATH: &'static str = "";
    const NAMES_OBJECTS: bool = false;
    type Literal = Self;
    in_memory!(value: u8 => u8::from(*value), |raw| raw != 0);
    in_the_slot!(value => *value, |value: bool| value);
}

// SAFETY: the host's name is the number that `UName` wraps.
unsafe impl Value for UName {
    const KIND: PropertyKind = PropertyKind::NAME;
    const TYPE_PATH: &'static str = "";
    const NAMES_OBJECTS: bool = false;
    type Literal = &'static str;
    in_memory!(value: Name => value.0, Self);
    in_the_slot!(value => value.0, Self);
}

// SAFETY: the name is transparent over its raw form, a number.
unsafe impl Plain for UName {}

// SAFETY: the host's reference is the handle that `Obj` wraps. The class of the object is checked when the handle is used.
unsafe impl<C: Class> Value for Obj<C> {
    const KIND: PropertyKind = PropertyKind::OBJECT;
    const TYPE_PATH: &'static str = C::PATH;
    type Literal = NoDefault;
    in_memory!(value: ObjectHandle => value.handle(), Self::from_handle);
    in_the_slot!(value => value.handle(), Self::from_handle);
}

// SAFETY: the reference is transparent over its raw form, a handle. Any bytes are a handle, possibly a stale one.
unsafe impl<C: Class> Plain for Obj<C> {}

/// Storage on the caller's stack for a result string.
#[doc(hidden)]
#[derive(Default)]
pub struct TextOut {
    text: String,
    sink: Option<TextSink>,
}

impl TextOut {
    /// Returns the slot that receives the string.
    pub(crate) fn slot(&mut self) -> Slot {
        let context = (&raw mut self.text).cast();
        pointer_slot(self.sink.insert(TextSink { context, put: put_text }))
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

// SAFETY: the host's string is a `TextRaw`, for which any bytes are valid until its pointer is followed.
// Arguments are passed as a view; results are returned through a sink.
unsafe impl Value for String {
    const KIND: PropertyKind = PropertyKind::STRING;
    const TYPE_PATH: &'static str = "";
    const NAMES_OBJECTS: bool = false;
    const OWNS_MEMORY: bool = true;
    type Raw = TextRaw;
    type Literal = &'static str;
    type Seen<'f> = Self;
    type Passing = AsText;
    type In = TextView;
    type Out = TextOut;

    fn see<'f>(value: Viewable<'_, Self, impl FnOnce() -> ValidityToken<'f>>) -> Self {
        Self::load(value.ptr())
    }

    fn load(from: Ptr<'_, Self>) -> Self {
        from.utf8()
    }

    fn store(&self, target: PtrMut<'_, Self>) -> Result<(), CallError> {
        target.write_text(self)
    }

    #[inline]
    unsafe fn stage(&self) -> TextView {
        TextView::of(self)
    }

    #[inline]
    fn slot_in(&self, staged: &TextView) -> Slot {
        pointer_slot(staged)
    }

    #[inline]
    fn out() -> TextOut {
        TextOut::default()
    }

    #[inline]
    fn slot_out(out: &mut TextOut) -> Slot {
        out.slot()
    }

    #[inline]
    unsafe fn take_out(_slot: Slot, out: TextOut) -> Result<Self, CallError> {
        Ok(out.into_text())
    }

    #[inline]
    fn from_slot(slot: ArgumentSlot<'_, Self>) -> Result<Self, CallError> {
        slot.text()
    }

    #[inline]
    fn into_slot(self, slot: ResultSlot<'_, Self>) -> Result<(), CallError> {
        slot.put_text(&self)
    }
}

/// Implements `Value` for a std type. Values of this type are copied in and out as a whole.
macro_rules! copied {
    (
        $name:ty, [$($params:tt)*], raw: $raw:ty, kind: $kind:ident, path: $path:expr,
        runs_code: $runs_code:expr, load: |$from:ident| $load:expr, store: |$value:ident, $to:ident| $store:expr
    ) => {
        #[expect(unsafe_code, reason = "declares the host form of this kind, and dereferences pointer slots")]
        // SAFETY: the host stores this kind in exactly this form, for which any bytes are valid until their pointers are followed.
        // Slots hold a pointer to the value, as the ABI prescribes.
        unsafe impl<$($params)*> Value for $name {
            const KIND: alcedo_abi::kinds::PropertyKind = alcedo_abi::kinds::PropertyKind::$kind;
            const TYPE_PATH: &'static str = $path;
            const OWNS_MEMORY: bool = true;
            const COPY_RUNS_CODE: bool = $runs_code;
            type Raw = $raw;
            type Literal = $crate::value::NoDefault;
            $crate::__alcedo_copied_value! {}

            fn load($from: $crate::kinds::Ptr<'_, Self>) -> Self {
                $load
            }

            fn store(&self, $to: $crate::kinds::PtrMut<'_, Self>) -> Result<(), $crate::CallError> {
                let $value = self;
                $store
            }
        }
    };
}
pub(crate) use copied;

#[inline]
pub(crate) fn plain_slot<T: SlotValue>(value: T) -> Slot {
    Slot::from_bits(T::SLOT, value.into_bits())
}

#[inline]
pub(crate) fn plain_value<T: SlotValue>(slot: Slot) -> Result<T, CallError> {
    if slot.is(T::SLOT) { Ok(T::from_bits(slot.bits())) } else { Err(wrong_slot(slot, T::SLOT)) }
}

fn wrong_slot(slot: Slot, expected: SlotType) -> CallError {
    let found = slot.kind().map_or("unknown", SlotType::text);
    CallError::new(FailureKind::BUFFER, format!("a slot holds {found}, but the signature requires {}", expected.text()))
}

/// Creates a slot that points to data on the caller's stack.
#[doc(hidden)]
pub(crate) fn pointer_slot<T>(target: &T) -> Slot {
    Slot::from_bits(SlotType::POINTER, core::ptr::from_ref(target).expose_provenance() as u64)
}

/// Creates a slot that points to a value in host memory or in host form.
#[doc(hidden)]
pub fn address_slot<T>(target: *const T) -> Slot {
    Slot::from_bits(SlotType::POINTER, target.expose_provenance() as u64)
}

/// Returns the address in a pointer slot.
pub(crate) fn pointer_of<T>(slot: Slot) -> Result<*mut T, CallError> {
    if !slot.is(SlotType::POINTER) || slot.bits() == 0 {
        return Err(wrong_slot(slot, SlotType::POINTER));
    }
    let address = usize::try_from(slot.bits()).map_err(|_too_wide| wrong_slot(slot, SlotType::POINTER))?;
    Ok(core::ptr::with_exposed_provenance_mut(address))
}
