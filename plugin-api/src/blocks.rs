//! Access to the parameters and results of a call. The values are stored in a parameter block with the layout of C, or in call slots.
#![expect(unsafe_code, reason = "reads parameter blocks and slots, as the signature prescribes")]

use core::marker::PhantomData;

use alcedo_abi::value::{TextSink, TextView};
use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use crate::Value;
use crate::host::borrowed_text;
use crate::kinds::{Ptr, PtrMut, ValidityToken, Viewable};
use crate::value::{AsText, ByPointer, pointer_of};

/// Layout of the values at the start of a parameter block, computed by the rules of C.
#[derive(Clone, Copy, Debug)]
pub struct BlockLayout {
    /// Size of all values so far, in bytes.
    pub size: usize,
    /// Alignment of all values so far.
    pub align: usize,
}

impl BlockLayout {
    /// Layout without values.
    pub const EMPTY: Self = Self { size: 0, align: 1 };

    /// Returns the offset of the next value, and the layout that includes the value.
    #[must_use]
    #[inline(always)]
    pub const fn place(self, size: usize, align: usize) -> (usize, Self) {
        let offset = self.size.next_multiple_of(align);
        (offset, Self { size: offset + size, align: if align > self.align { align } else { self.align } })
    }

    #[inline(always)]
    pub(crate) const fn place_value<T: Value>(self) -> (usize, Self) {
        self.place(size_of::<T::Raw>(), align_of::<T::Raw>())
    }
}

/// Values of a parameter block that have not been read yet, during the running call `'f`. The block has the layout of C. `L` lists the
/// types of these values as nested pairs.
pub struct Block<'f, L> {
    at: *mut u8,
    before: BlockLayout,
    of: PhantomData<&'f fn() -> L>,
}

impl<'f, L> Block<'f, L> {
    /// Creates a block for the values after `before`; `at` is the start of the whole block.
    ///
    /// # Safety
    /// The block is live during the call `'f`, which runs on this thread, the game thread. After `before`, the block contains
    /// the values of `L` with the layout of C.
    #[inline]
    pub(crate) unsafe fn new(at: *mut u8, before: BlockLayout) -> Self {
        Self { at, before, of: PhantomData }
    }
}

impl<'f, T: Value, L> Block<'f, (T, L)> {
    #[inline]
    pub(crate) fn next(self) -> (Viewable<'f, T, impl FnOnce() -> ValidityToken<'f>>, Block<'f, L>) {
        let (offset, before) = self.before.place_value::<T>();
        // SAFETY: the caller of `new` promised a block that is live for the frame and has this value at this offset.
        let value = unsafe { Viewable::new(PtrMut::new(self.at.add(offset).cast()), ValidityToken::<'f>::of_frame) };
        (value, Block { at: self.at, before, of: PhantomData })
    }
}

/// Call slots that contain the arguments. `L` lists the types of the values as nested pairs.
pub struct ArgumentSlots<'a, L> {
    slots: &'a [Slot],
    of: PhantomData<fn() -> L>,
}

impl<'a, L> ArgumentSlots<'a, L> {
    /// Wraps the slots.
    ///
    /// # Safety
    /// Pointer slots point to data in the form that the ABI prescribes for arguments of these types. The data is live for `'a`.
    #[inline]
    pub(crate) unsafe fn new(slots: &'a [Slot]) -> Self {
        Self { slots, of: PhantomData }
    }
}

impl<'a, T, L> ArgumentSlots<'a, (T, L)> {
    #[inline]
    pub(crate) fn next(self) -> (ArgumentSlot<'a, T>, ArgumentSlots<'a, L>) {
        let (slot, slots) = self.slots.split_first().unwrap_or((&Slot::EMPTY, &[]));
        (ArgumentSlot { slot: *slot, of: PhantomData }, ArgumentSlots { slots, of: PhantomData })
    }
}

/// A caller's argument slot for type `T`. Only `ArgumentSlots` creates this type, so the address in a pointer slot is valid.
pub struct ArgumentSlot<'a, T> {
    slot: Slot,
    of: PhantomData<&'a fn() -> T>,
}

impl<'a, T> ArgumentSlot<'a, T> {
    /// Returns the slot itself, for a plain value.
    #[inline]
    pub(crate) fn bare(&self) -> Slot {
        self.slot
    }

    /// Returns a pointer to the value.
    ///
    /// # Errors
    /// Fails with `BUFFER` if the slot is not a pointer slot.
    pub fn ptr(self) -> Result<Ptr<'a, T>, CallError>
    where
        T: Value<Passing = ByPointer>,
    {
        let at = pointer_of::<T::Raw>(self.slot)?;
        // SAFETY: the caller of `ArgumentSlots::new` promised data in the form of the ABI. For types passed by pointer, the
        // data is a live value.
        Ok(unsafe { Ptr::new(at) })
    }

    /// Copies the string to which the slot points.
    pub(crate) fn text(self) -> Result<String, CallError>
    where
        T: Value<Passing = AsText>,
    {
        let view = pointer_of::<TextView>(self.slot)?;
        // SAFETY: the caller of `ArgumentSlots::new` promised data in the form of the ABI. For strings, the data is a live
        // view, which borrows its bytes for the call.
        Ok(unsafe { borrowed_text(view.read()) })
    }
}

/// A caller's slot for a result of type `T`.
pub struct ResultSlot<'a, T> {
    slot: &'a mut Slot,
    of: PhantomData<fn(T)>,
}

impl<'a, T> ResultSlot<'a, T> {
    /// Wraps the slot.
    ///
    /// # Safety
    /// A pointer slot points to data in the form that the ABI prescribes for a result of this type. The data is live for `'a`.
    #[inline]
    pub(crate) unsafe fn new(slot: &'a mut Slot) -> Self {
        Self { slot, of: PhantomData }
    }

    #[inline]
    pub(crate) fn put(self, slot: Slot) {
        *self.slot = slot;
    }

    /// Returns a pointer to the value that the callee overwrites.
    ///
    /// # Errors
    /// Fails with `BUFFER` if the slot is not a pointer slot.
    pub fn ptr_mut(self) -> Result<PtrMut<'a, T>, CallError>
    where
        T: Value<Passing = ByPointer>,
    {
        let at = pointer_of::<T::Raw>(*self.slot)?;
        // SAFETY: the caller of `new` promised data in the form of the ABI. For types passed by pointer, the data is a live
        // value or zero bytes, which are also a live value.
        Ok(unsafe { PtrMut::new(at) })
    }

    /// Writes a string result into the sink of the caller.
    pub(crate) fn put_text(self, text: &str) -> Result<(), CallError>
    where
        T: Value<Passing = AsText>,
    {
        let sink = pointer_of::<TextSink>(*self.slot)?;
        // SAFETY: the caller of `new` promised data in the form of the ABI. For strings, the data is a live sink, whose `put`
        // copies its argument.
        unsafe {
            let sink = sink.read();
            (sink.put)(sink.context, text.as_ptr(), text.len());
        }
        Ok(())
    }
}
