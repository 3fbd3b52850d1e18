//! Signatures as types: a tuple of parameters and a result know their fingerprint, their place in a parameter block
//! and their slots.
#![expect(unsafe_code, reason = "reads parameter blocks and slots, as the signature prescribes")]

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use crate::Value;
use crate::kinds::PtrMut;
use crate::type_text::TypeText;
use crate::value::plain_slot;

/// Places values one after the other as C does.
#[derive(Clone, Copy, Debug)]
pub struct BlockLayout {
    /// Bytes so far.
    pub size: usize,
    /// Alignment so far.
    pub align: usize,
}

impl BlockLayout {
    /// Nothing placed yet.
    pub const EMPTY: Self = Self { size: 0, align: 1 };

    /// The offset of the next value, and the layout with it.
    #[must_use]
    pub const fn place(self, size: usize, align: usize) -> (usize, Self) {
        let offset = self.size.next_multiple_of(align);
        (offset, Self { size: offset + size, align: if align > self.align { align } else { self.align } })
    }

    const fn place_value<T: Value>(self) -> (usize, Self) {
        self.place(size_of::<T::Raw>(), align_of::<T::Raw>())
    }
}

/// What descriptions say of a value's type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ValueType {
    /// What the host calls it.
    pub kind: PropertyKind,
    /// Path of its struct or class; empty for plain kinds.
    pub path: &'static str,
    /// Bytes in memory.
    pub size: usize,
    /// Alignment in memory.
    pub align: usize,
    /// The whole type as text.
    pub text: &'static str,
}

impl ValueType {
    /// That of `T`.
    #[must_use]
    pub const fn of<T: Value>() -> Self {
        Self {
            kind: T::KIND,
            path: T::TYPE_PATH,
            size: size_of::<T::Raw>(),
            align: align_of::<T::Raw>(),
            text: T::TYPE.as_str(),
        }
    }
}

/// One parameter: a value, or a view of one where the method takes [`Lent`](crate::Lent).
///
/// # Safety
/// The slots made and read are those that the border prescribes for the kind of `Value`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a property, a parameter or a result",
    label = "the host does not know this type",
    note = "known are u8 … u64, i8 … i64, f32, f64, bool, String, UName, Obj<Class>, structs with #[ustruct], UArray, USet, \
            UMap, UOptional and the other kinds of the prelude, Vec, Option, and the sets and maps of std"
)]
pub unsafe trait Param: Sized {
    /// Its type in the host.
    type Value: Value;
    /// See [`Value`].
    #[doc(hidden)]
    type In;
    /// How a method sees it.
    #[doc(hidden)]
    type Seen<'f>;

    /// What a method sees, in the call whose parameter it is.
    ///
    /// # Safety
    /// The call lasts for `'f`.
    #[doc(hidden)]
    unsafe fn open<'f>(self) -> Self::Seen<'f>;

    /// Takes it out of a parameter block, where the value stays for the call.
    #[doc(hidden)]
    fn load(from: PtrMut<'_, Self::Value>) -> Self;

    /// See [`Value`].
    ///
    /// # Safety
    /// As there.
    #[doc(hidden)]
    unsafe fn stage(&self) -> Self::In;

    /// See [`Value`].
    ///
    /// # Safety
    /// As there.
    #[doc(hidden)]
    unsafe fn slot_in(&self, staged: &Self::In) -> Slot;

    /// Takes it out of a caller's slot.
    ///
    /// # Safety
    /// A pointer slot points to what the border prescribes for the kind.
    #[doc(hidden)]
    unsafe fn from_slot(slot: Slot) -> Result<Self, CallError>;
}

// SAFETY: all of it is the value's own.
unsafe impl<T: Value> Param for T {
    type Value = T;
    type In = T::In;
    type Seen<'f> = T;

    unsafe fn open<'f>(self) -> Self::Seen<'f> {
        self
    }

    fn load(from: PtrMut<'_, T>) -> Self {
        <T as Value>::load(from.as_ptr())
    }

    unsafe fn stage(&self) -> T::In {
        // SAFETY: promised by the caller.
        unsafe { Value::stage(self) }
    }

    unsafe fn slot_in(&self, staged: &T::In) -> Slot {
        // SAFETY: promised by the caller.
        unsafe { Value::slot_in(self, staged) }
    }

    unsafe fn from_slot(slot: Slot) -> Result<Self, CallError> {
        // SAFETY: promised by the caller.
        unsafe { <T as Value>::from_slot(slot) }
    }
}

/// The parameters of a function: a tuple of up to eight values.
///
/// # Safety
/// Fingerprint, count and layout are those of the values, and the slots those that the border prescribes for them.
pub unsafe trait Params: Sized {
    /// Their values in the host.
    #[doc(hidden)]
    type Values: Params;
    /// How a method sees them.
    #[doc(hidden)]
    type Seen<'f>;
    /// What descriptions say of them, in order.
    #[doc(hidden)]
    const TYPES: &'static [ValueType];
    /// The fingerprint so far.
    #[doc(hidden)]
    const FINGERPRINT: Fingerprint;
    /// How many there are.
    #[doc(hidden)]
    const COUNT: usize;
    /// Their layout in a parameter block.
    #[doc(hidden)]
    const LAYOUT: BlockLayout;

    /// What a method sees, in the call whose parameters they are.
    ///
    /// # Safety
    /// The call lasts for `'f`.
    #[doc(hidden)]
    unsafe fn open<'f>(self) -> Self::Seen<'f>;

    /// Copies them out of a parameter block.
    ///
    /// # Safety
    /// `block` is a live parameter block that starts with these parameters.
    #[doc(hidden)]
    unsafe fn load(block: *mut u8) -> Self;

    /// Lends a row of slots: the object, the parameters, and `out`.
    ///
    /// # Safety
    /// This is the game thread, or no value is a [`Kind`](crate::Kind). No slot is used after `code` has returned.
    #[doc(hidden)]
    unsafe fn with_slots<R>(&self, object: ObjectHandle, out: Slot, code: impl FnOnce(&mut [Slot]) -> R) -> R;

    /// Copies them out of a caller's slots, of which there are enough.
    ///
    /// # Safety
    /// Pointer slots point to what the border prescribes for their kinds.
    #[doc(hidden)]
    unsafe fn from_slots(slots: &[Slot]) -> Result<Self, CallError>;
}

macro_rules! params {
    ($count:literal $($name:ident $value:ident $staged:ident)*) => {
        // SAFETY: each parameter answers for itself; they stand in order, laid out as C does.
        unsafe impl<$($name: Param),*> Params for ($($name,)*) {
            type Values = ($($name::Value,)*);
            type Seen<'f> = ($($name::Seen<'f>,)*);
            const TYPES: &'static [ValueType] = &[$(ValueType::of::<$name::Value>()),*];
            const FINGERPRINT: Fingerprint =
                Fingerprint::START$(.value(<$name::Value as Value>::KIND, <$name::Value as Value>::TYPE_PATH))*;
            const COUNT: usize = $count;
            const LAYOUT: BlockLayout = BlockLayout::EMPTY$(.place_value::<$name::Value>().1)*;

            #[allow(unused_variables, unused_assignments, unused_mut, clippy::unused_unit, reason = "for no parameters")]
            unsafe fn load(block: *mut u8) -> Self {
                let mut layout = BlockLayout::EMPTY;
                $(
                    let (offset, next) = layout.place_value::<$name::Value>();
                    layout = next;
                    // SAFETY: the caller promises a live block, which has this parameter at this offset, aligned.
                    let $value = $name::load(unsafe { PtrMut::new(block.add(offset).cast()) });
                )*
                ($($value,)*)
            }

            #[allow(unused_unsafe, clippy::unused_unit, reason = "for no parameters")]
            unsafe fn open<'f>(self) -> Self::Seen<'f> {
                let ($($value,)*) = self;
                // SAFETY: the caller promises that the call lasts for `'f`.
                unsafe { ($($value.open(),)*) }
            }

            #[allow(unused_unsafe, clippy::unused_unit, reason = "for no parameters")]
            unsafe fn with_slots<R>(&self, object: ObjectHandle, out: Slot, code: impl FnOnce(&mut [Slot]) -> R) -> R {
                let ($($value,)*) = self;
                // SAFETY: the caller promises the thread.
                let ($($staged,)*) = unsafe { ($($value.stage(),)*) };
                // SAFETY: what was staged stands here until `code` is over, and the caller promises that no slot is used longer.
                let mut slots = unsafe { [plain_slot(object), $($value.slot_in(&$staged),)* out] };
                code(&mut slots)
            }

            #[allow(unused_variables, unused_mut, unused_unsafe, clippy::unused_unit, reason = "for no parameters")]
            unsafe fn from_slots(slots: &[Slot]) -> Result<Self, CallError> {
                let mut slots = slots.iter().copied();
                // SAFETY: the caller promises that pointer slots point to what the border prescribes.
                Ok(unsafe { ($($name::from_slot(slots.next().unwrap_or(Slot::EMPTY))?,)*) })
            }
        }
    };
}

params!(0);
params!(1 A a sa);
params!(2 A a sa B b sb);
params!(3 A a sa B b sb C c sc);
params!(4 A a sa B b sb C c sc D d sd);
params!(5 A a sa B b sb C c sc D d sd E e se);
params!(6 A a sa B b sb C c sc D d sd E e se F f sf);
params!(7 A a sa B b sb C c sc D d sd E e se F f sf G g sg);
params!(8 A a sa B b sb C c sc D d sd E e se F f sf G g sg H h sh);

/// The result of a function: a value or `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a reflected function",
    label = "the host does not know this type",
    note = "known are (), u8 … u64, i8 … i64, f32, f64, bool, String, UName, Obj<Class>, structs with #[ustruct], UArray, \
            USet, UMap, UOptional and the other kinds of the prelude, Vec, Option, and the sets and maps of std"
)]
///
/// # Safety
/// `VALUE` is what the host is to know of the result, and the slots are those that the border prescribes for it.
pub unsafe trait ReturnValue: Sized {
    /// What is known of the value, if there is one.
    #[doc(hidden)]
    const VALUE: Option<ValueType>;
    /// See [`Value`].
    #[doc(hidden)]
    type Out;

    /// Overwrites the result in a parameter block, behind the parameters.
    ///
    /// # Safety
    /// `block` is a live parameter block with parameters of layout `params` and then this result.
    #[doc(hidden)]
    unsafe fn store_result(self, block: *mut u8, params: BlockLayout) -> Result<(), CallError>;
    /// See [`Value`].
    #[doc(hidden)]
    fn out() -> Self::Out;
    /// See [`Value`].
    ///
    /// # Safety
    /// As there.
    #[doc(hidden)]
    unsafe fn slot_out(out: &mut Self::Out) -> Slot;
    /// See [`Value`].
    ///
    /// # Safety
    /// As there.
    #[doc(hidden)]
    unsafe fn take_out(slot: Slot, out: Self::Out) -> Result<Self, CallError>;

    /// Puts it into the last of a caller's slots.
    ///
    /// # Safety
    /// A pointer slot points to what the border prescribes for a result of the kind.
    #[doc(hidden)]
    unsafe fn into_last_slot(self, slots: &mut [Slot]) -> Result<(), CallError>;
}

// SAFETY: there is nothing to know, and no slot.
unsafe impl ReturnValue for () {
    const VALUE: Option<ValueType> = None;
    type Out = ();

    unsafe fn store_result(self, _block: *mut u8, _params: BlockLayout) -> Result<(), CallError> {
        Ok(())
    }

    fn out() {}

    unsafe fn slot_out((): &mut ()) -> Slot {
        Slot::EMPTY
    }

    unsafe fn take_out(_slot: Slot, (): ()) -> Result<(), CallError> {
        Ok(())
    }

    unsafe fn into_last_slot(self, _slots: &mut [Slot]) -> Result<(), CallError> {
        Ok(())
    }
}

// SAFETY: all of it is the value's own.
unsafe impl<T: Value> ReturnValue for T {
    const VALUE: Option<ValueType> = Some(ValueType::of::<T>());
    type Out = T::Out;

    unsafe fn store_result(self, block: *mut u8, params: BlockLayout) -> Result<(), CallError> {
        let (offset, _whole) = params.place_value::<T>();
        // SAFETY: the caller promises a live block, which has the result at this offset, aligned.
        self.store(unsafe { PtrMut::new(block.add(offset).cast()) })
    }

    fn out() -> T::Out {
        T::out()
    }

    unsafe fn slot_out(out: &mut T::Out) -> Slot {
        // SAFETY: promised by the caller.
        unsafe { T::slot_out(out) }
    }

    unsafe fn take_out(slot: Slot, out: T::Out) -> Result<T, CallError> {
        // SAFETY: promised by the caller.
        unsafe { T::take_out(slot, out) }
    }

    unsafe fn into_last_slot(self, slots: &mut [Slot]) -> Result<(), CallError> {
        match slots.last_mut() {
            // SAFETY: the slot is right by contract.
            Some(slot) => unsafe { self.into_slot(slot) },
            None => Ok(()),
        }
    }
}

/// What a delegate takes and gives: a function type of up to eight values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no signature of a delegate",
    label = "write `fn(A, B) -> R`",
    note = "parameters and result are types that the host knows; there are at most eight parameters"
)]
///
/// # Safety
/// `TEXT` is what the host reads `Args` and `Result` as.
pub unsafe trait Signature: 'static {
    /// Its parameters.
    type Args: Params;
    /// Its result.
    type Result: ReturnValue;
    /// As the host prints it: `f32, String -> bool`.
    #[doc(hidden)]
    const TEXT: &'static TypeText;
}

macro_rules! signatures {
    ($([$($name:ident)*])*) => {$(
        // SAFETY: the text is put together from those of the very types.
        unsafe impl<$($name: Value,)* Z: ReturnValue + 'static> Signature for fn($($name),*) -> Z {
            type Args = ($($name,)*);
            type Result = Z;
            const TEXT: &'static TypeText = &delegate_text(&[$($name::TYPE.as_str()),*], match &Z::VALUE {
                Some(value) => Some(value.text),
                None => None,
            });
        }
    )*};
}
signatures!([] [A] [A B] [A B C] [A B C D] [A B C D E] [A B C D E F] [A B C D E F G] [A B C D E F G H]);

const fn delegate_text(params: &[&str], result: Option<&str>) -> TypeText {
    let mut text = TypeText::joined(&[]);
    let mut at = 0;
    while at < params.len() {
        let comma = if at == 0 { "" } else { ", " };
        text = TypeText::joined(&[text.as_str(), comma, params[at]]);
        at += 1;
    }
    match result {
        Some(result) if params.is_empty() => TypeText::joined(&["-> ", result]),
        Some(result) => TypeText::joined(&[text.as_str(), " -> ", result]),
        None => text,
    }
}

/// The fingerprint of a function that takes `A` and gives `R`.
#[doc(hidden)]
#[must_use]
pub(crate) const fn fingerprint<A: Params, R: ReturnValue>() -> u64 {
    match R::VALUE {
        None => A::FINGERPRINT.finish(),
        Some(ValueType { kind, path, .. }) => A::FINGERPRINT.number(0xfeed).value(kind, path).finish(),
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockLayout, Params, fingerprint};
    use alcedo_abi::fingerprint::Fingerprint;
    use alcedo_abi::kinds::PropertyKind;

    #[test]
    fn a_block_lies_as_c_would_lay_it() {
        #[repr(C)]
        struct Block {
            a: u8,
            b: f64,
            c: u16,
        }
        let layout = <(u8, f64, u16) as Params>::LAYOUT;
        assert_eq!((layout.size, layout.align), (std::mem::offset_of!(Block, c) + 2, align_of::<Block>()));
        assert_eq!(BlockLayout::EMPTY.place_value::<u8>().1.place_value::<f64>().0, std::mem::offset_of!(Block, b));
    }

    #[test]
    fn a_fingerprint_is_what_the_host_computes() {
        let host = Fingerprint::START.value(PropertyKind::F32, "").number(0xfeed).value(PropertyKind::BOOL, "");
        assert_eq!(fingerprint::<(f32,), bool>(), host.finish());
        assert_ne!(fingerprint::<(f32,), bool>(), fingerprint::<(f32, bool), ()>());
    }
}
