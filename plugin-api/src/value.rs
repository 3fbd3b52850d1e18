//! Rust types as property kinds: how each lies in host memory, and how each travels in the slots of a ZCall.
#![expect(unsafe_code, reason = "reads and writes host memory and follows pointer slots, as each kind prescribes")]

use alcedo_abi::call::FailureKind;
use alcedo_abi::handles::{Name, ObjectHandle};
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::{TextRaw, TextSink, TextView};
use alcedo_abi::zcall::{Slot, SlotType, SlotValue};
use alcedo_rt::CallError;

use crate::blocks::{ArgumentSlot, ResultSlot};
use crate::host::put_text;
use crate::kinds::ValidityToken;
use crate::kinds::{Ptr, PtrMut, Viewable};
use crate::type_text::TypeText;
use crate::{Class, Obj, UName};

/// A type that a property, a parameter, a result, a field of a struct or an element of a container can have: numbers,
/// `bool`, `String`, `UName`, `Obj<C>`, structs with `#[ustruct]`, every [`Kind`](crate::Kind), and containers of std.
///
/// # Safety
/// `Raw` has the size, alignment and meaning that the host gives to `KIND` and `TYPE_PATH`, any bytes are valid for it
/// until they are followed, and zero bytes are a value. The slots made and read are those that the border prescribes for
/// the kind, and `Way` is how it has them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a property, a parameter or a result",
    label = "the host does not know this type",
    note = "known are u8 … u64, i8 … i64, f32, f64, bool, String, UName, Obj<Class>, structs with #[ustruct], UArray, USet, \
            UMap, UOptional and the other kinds of the prelude, Vec, Option, and the sets and maps of std"
)]
pub unsafe trait Value: Sized + 'static {
    /// What the host calls it.
    const KIND: PropertyKind;
    /// Path of its struct or class; empty for plain kinds.
    const TYPE_PATH: &'static str;
    /// The text of the whole type.
    #[doc(hidden)]
    const TYPE: &'static TypeText = &TypeText::of(Self::KIND, Self::TYPE_PATH);
    /// Whether a value may refer to an object, which a collection that is under way has to hear of when it is written.
    #[doc(hidden)]
    const NAMES_OBJECTS: bool = true;
    /// Whether a value in host form may own memory.
    #[doc(hidden)]
    const OWNS_MEMORY: bool = false;
    /// Of an enum, the kind of its numbers, and whether all are those of a byte.
    #[doc(hidden)]
    const NUMBERS: Option<(PropertyKind, bool)> = None;
    /// How a value is seen where it lies: plain values, texts and containers of std as copies, every
    /// [`Kind`](crate::Kind) as a [`Lent`](crate::Lent) view.
    type Seen<'f>;
    /// The value as it lies in host memory and in parameter blocks.
    type Raw: 'static;
    /// What a `default = …` may be.
    type Literal;
    /// How a value travels in a slot: [`InSlot`], [`ByPointer`] or [`AsText`].
    #[doc(hidden)]
    type Way;
    /// What stands on the caller's stack while an argument travels in a slot.
    #[doc(hidden)]
    type In;
    /// What stands on the caller's stack while it waits for a result.
    #[doc(hidden)]
    type Out;

    /// Sees the value where it lies.
    #[doc(hidden)]
    fn see<'f>(value: Viewable<'_, Self, impl FnOnce() -> ValidityToken<'f>>) -> Self::Seen<'f>;

    /// Where the value lies in host form, if it does.
    #[doc(hidden)]
    fn lies_at(&self) -> Result<Option<*const Self::Raw>, CallError> {
        Ok(None)
    }

    /// Copies the value out of host memory.
    #[doc(hidden)]
    fn load(from: Ptr<'_, Self>) -> Self;

    /// Copies the value, or returns an error if the bytes are not a value of this type.
    #[doc(hidden)]
    #[inline]
    fn try_load(from: Ptr<'_, Self>) -> Result<Self, CallError> {
        Ok(Self::load(from))
    }

    /// Overwrites a value in host memory.
    #[doc(hidden)]
    fn store(&self, target: PtrMut<'_, Self>) -> Result<(), CallError>;

    /// What stands on the caller's stack while the value travels as an argument.
    ///
    /// # Safety
    /// This is the game thread, or the value is no [`Kind`](crate::Kind).
    #[doc(hidden)]
    unsafe fn stage(&self) -> Self::In;

    /// The slot of an argument. It is right where `staged` came from `stage` of this value, and both stay where they are.
    #[doc(hidden)]
    fn slot_in(&self, staged: &Self::In) -> Slot;

    /// What stands on the caller's stack while it waits for a result.
    #[doc(hidden)]
    fn out() -> Self::Out;

    /// The slot that waits for a result. It is right as long as `out` does not move.
    #[doc(hidden)]
    fn slot_out(out: &mut Self::Out) -> Slot;

    /// The result, after the call.
    ///
    /// # Safety
    /// `out` came from `out()`, and `slot` from `slot_out` of it; a callee that gives a value of this type has filled them.
    #[doc(hidden)]
    unsafe fn take_out(slot: Slot, out: Self::Out) -> Result<Self, CallError>;

    /// Copies an argument out of a caller's slot.
    #[doc(hidden)]
    fn from_slot(slot: ArgumentSlot<'_, Self>) -> Result<Self, CallError>;

    /// Puts a result into a caller's slot.
    #[doc(hidden)]
    fn into_slot(self, slot: ResultSlot<'_, Self>) -> Result<(), CallError>;

    /// The bits of a value that lies in a slot.
    #[doc(hidden)]
    #[inline]
    fn direct_bits(&self) -> u64 {
        0
    }

    /// The value of these bits, if such values lie in slots.
    #[doc(hidden)]
    #[inline]
    fn of_direct_bits(_bits: u64) -> Option<Self> {
        None
    }
}

/// The way of values that lie in their slot.
#[derive(Debug)]
pub enum InSlot {}

/// The way of values to whose host form a slot points. That of a result has a value to be overwritten.
#[derive(Debug)]
pub enum ByPointer {}

/// The way of texts: the slot points to a [`TextView`], that of a result to a [`TextSink`].
#[derive(Debug)]
pub enum AsText {}

/// A value that may be lent as it lies in host memory: numbers, [`UName`], [`Obj`], and `#[ustruct(pod)]` structs of these. A
/// `bool` may not, since a byte there may be any.
///
/// # Safety
/// The type lies in memory as its `Raw` does, and any bytes are valid for it too.
#[diagnostic::on_unimplemented(
    message = "an array of `{Self}` cannot be lent as a slice",
    label = "such a value owns something, or does not lie in host memory as it does in Rust",
    note = "numbers, UName, Obj<Class> and `#[ustruct(pod)]` structs of these can be lent"
)]
pub unsafe trait Plain: Value {}

/// No literal: a property of this kind has no `default = …`.
#[derive(Debug)]
pub enum NoDefault {}

macro_rules! in_the_slot {
    ($value:ident => $slot_value:expr, $from:expr) => {
        type Way = InSlot;
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
        // SAFETY: the host's number of this kind is the same number; any bytes are valid.
        unsafe impl Value for $rust {
            const KIND: PropertyKind = PropertyKind::$kind;
            const TYPE_PATH: &'static str = "";
            const NAMES_OBJECTS: bool = false;
            type Literal = Self;
            in_memory!(value: Self => *value, |raw| raw);
            in_the_slot!(value => *value, |value| value);
        }

        // SAFETY: it is its own raw form; any bytes are a number.
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

// SAFETY: the host's reference is the handle that `Obj` wraps; that its object is of the class is checked when the
// handle is used.
unsafe impl<C: Class> Value for Obj<C> {
    const KIND: PropertyKind = PropertyKind::OBJECT;
    const TYPE_PATH: &'static str = C::PATH;
    type Literal = NoDefault;
    in_memory!(value: ObjectHandle => value.handle(), Self::from_handle);
    in_the_slot!(value => value.handle(), Self::from_handle);
}

// SAFETY: the reference is transparent over its raw form, a handle; any bytes are one, be it a stale one.
unsafe impl<C: Class> Plain for Obj<C> {}

/// A result text on the caller's stack.
#[doc(hidden)]
#[derive(Default)]
pub struct TextOut {
    text: String,
    sink: Option<TextSink>,
}

impl TextOut {
    /// The slot that waits for it.
    pub(crate) fn slot(&mut self) -> Slot {
        let context = (&raw mut self.text).cast();
        pointer_slot(self.sink.insert(TextSink { context, put: put_text }))
    }

    /// What the callee has put there.
    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

// SAFETY: the host's text is a `TextRaw`, of which any bytes are valid as long as it is not followed; an argument
// travels as a view, a result comes through a sink.
unsafe impl Value for String {
    const KIND: PropertyKind = PropertyKind::STRING;
    const TYPE_PATH: &'static str = "";
    const NAMES_OBJECTS: bool = false;
    const OWNS_MEMORY: bool = true;
    type Raw = TextRaw;
    type Literal = &'static str;
    type Seen<'f> = Self;
    type Way = AsText;
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

/// Declares a type of std that is copied in and out whole.
macro_rules! copied {
    (
        $name:ty, [$($params:tt)*], raw: $raw:ty, kind: $kind:ident, path: $path:expr,
        load: |$from:ident| $load:expr, store: |$value:ident, $to:ident| $store:expr
    ) => {
        #[expect(unsafe_code, reason = "says how the host keeps this kind, and follows pointer slots")]
        // SAFETY: the host keeps this kind in just this form, of which any bytes are valid until they are followed; values
        // travel in slots behind a pointer to it, as the border prescribes.
        unsafe impl<$($params)*> Value for $name {
            const KIND: alcedo_abi::kinds::PropertyKind = alcedo_abi::kinds::PropertyKind::$kind;
            const TYPE_PATH: &'static str = $path;
            const OWNS_MEMORY: bool = true;
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

/// A slot with a plain value.
#[inline]
pub(crate) fn plain_slot<T: SlotValue>(value: T) -> Slot {
    Slot::from_bits(T::SLOT, value.into_bits())
}

#[inline]
pub(crate) fn plain_value<T: SlotValue>(slot: Slot) -> Result<T, CallError> {
    if slot.is(T::SLOT) { Ok(T::from_bits(slot.bits())) } else { Err(wrong_slot(slot, T::SLOT)) }
}

fn wrong_slot(slot: Slot, wanted: SlotType) -> CallError {
    let found = slot.kind().map_or("unknown", SlotType::text);
    CallError::new(FailureKind::BUFFER, format!("a slot holds {found} where the signature says {}", wanted.text()))
}

/// A slot that points to something on the caller's stack.
#[doc(hidden)]
pub(crate) fn pointer_slot<T>(target: &T) -> Slot {
    Slot::from_bits(SlotType::POINTER, core::ptr::from_ref(target).expose_provenance() as u64)
}

/// A slot that points to a value in host memory, or in host form.
#[doc(hidden)]
pub fn address_slot<T>(target: *const T) -> Slot {
    Slot::from_bits(SlotType::POINTER, target.expose_provenance() as u64)
}

/// Where a pointer slot points.
pub(crate) fn pointer_of<T>(slot: Slot) -> Result<*mut T, CallError> {
    if !slot.is(SlotType::POINTER) || slot.bits() == 0 {
        return Err(wrong_slot(slot, SlotType::POINTER));
    }
    let address = usize::try_from(slot.bits()).map_err(|_too_wide| wrong_slot(slot, SlotType::POINTER))?;
    Ok(core::ptr::with_exposed_provenance_mut(address))
}
