//! Where the values of a call lie: in a parameter block, one after the other as C lays them out, or in the slots of a caller.
#![expect(unsafe_code, reason = "reads parameter blocks and slots, as the signature prescribes")]

use core::marker::PhantomData;

use alcedo_abi::value::{TextSink, TextView};
use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use crate::Value;
use crate::host::lent_text;
use crate::kinds::{Ptr, PtrMut, ValidityToken, Viewable};
use crate::value::{AsText, ByPointer, pointer_of};

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

/// A parameter block, from here on: the values of `L`, a list of pairs, as C lays them out, in the running call `'f`.
pub struct Block<'f, L> {
    at: *mut u8,
    before: BlockLayout,
    of: PhantomData<&'f fn() -> L>,
}

impl<'f, L> Block<'f, L> {
    /// What lies behind `before` in the block at `at`.
    ///
    /// # Safety
    /// The block is live for the call `'f`, which this thread, the game thread, is in; behind `before` it has the values of `L`,
    /// laid out as C does.
    #[inline]
    pub(crate) unsafe fn new(at: *mut u8, before: BlockLayout) -> Self {
        Self { at, before, of: PhantomData }
    }
}

impl<'f, T: Value, L> Block<'f, (T, L)> {
    /// The next value, and what lies behind it.
    #[inline]
    pub(crate) fn next(self) -> (Viewable<'f, T, impl FnOnce() -> ValidityToken<'f>>, Block<'f, L>) {
        let (offset, before) = self.before.place_value::<T>();
        // SAFETY: `new` was promised a live block, which has this value at this offset, and stays for the frame.
        let value = unsafe { Viewable::new(PtrMut::new(self.at.add(offset).cast()), ValidityToken::<'f>::of_frame) };
        (value, Block { at: self.at, before, of: PhantomData })
    }
}

/// The slots of a caller's arguments: of the values of `L`, a list of pairs.
pub struct ArgumentSlots<'a, L> {
    slots: &'a [Slot],
    of: PhantomData<fn() -> L>,
}

impl<'a, L> ArgumentSlots<'a, L> {
    /// Those, in order.
    ///
    /// # Safety
    /// Pointer slots point to what the border prescribes for arguments of the types, live for `'a`.
    #[inline]
    pub(crate) unsafe fn new(slots: &'a [Slot]) -> Self {
        Self { slots, of: PhantomData }
    }
}

impl<'a, T, L> ArgumentSlots<'a, (T, L)> {
    /// The next, and those behind it.
    #[inline]
    pub(crate) fn next(self) -> (ArgumentSlot<'a, T>, ArgumentSlots<'a, L>) {
        let (slot, slots) = self.slots.split_first().unwrap_or((&Slot::EMPTY, &[]));
        (ArgumentSlot { slot: *slot, of: PhantomData }, ArgumentSlots { slots, of: PhantomData })
    }
}

/// The slot of a caller's argument of type `T`. Only `ArgumentSlots` has one, so a pointer slot is right.
pub struct ArgumentSlot<'a, T> {
    slot: Slot,
    of: PhantomData<&'a fn() -> T>,
}

impl<'a, T> ArgumentSlot<'a, T> {
    /// The slot, to read what lies in it.
    #[inline]
    pub(crate) fn bare(&self) -> Slot {
        self.slot
    }

    /// The value that the slot points to.
    ///
    /// # Errors
    /// `BUFFER` when it is no pointer slot.
    pub fn ptr(self) -> Result<Ptr<'a, T>, CallError>
    where
        T: Value<Way = ByPointer>,
    {
        let at = pointer_of::<T::Raw>(self.slot)?;
        // SAFETY: `ArgumentSlots::new` was promised what the border prescribes, which is a live value for types that travel by
        // pointer.
        Ok(unsafe { Ptr::new(at) })
    }

    /// A copy of the text that the slot points to.
    pub(crate) fn text(self) -> Result<String, CallError>
    where
        T: Value<Way = AsText>,
    {
        let view = pointer_of::<TextView>(self.slot)?;
        // SAFETY: `ArgumentSlots::new` was promised what the border prescribes, which is a live view for texts, whose bytes are lent
        // for the call.
        Ok(unsafe { lent_text(view.read()) })
    }
}

/// The slot of a caller that waits for a result of type `T`.
pub struct ResultSlot<'a, T> {
    slot: &'a mut Slot,
    of: PhantomData<fn(T)>,
}

impl<'a, T> ResultSlot<'a, T> {
    /// That slot.
    ///
    /// # Safety
    /// A pointer slot points to what the border prescribes for a result of the type, live for `'a`.
    #[inline]
    pub(crate) unsafe fn new(slot: &'a mut Slot) -> Self {
        Self { slot, of: PhantomData }
    }

    /// Overwrites the slot.
    #[inline]
    pub(crate) fn put(self, slot: Slot) {
        *self.slot = slot;
    }

    /// The value that the slot points to, which is to be overwritten.
    ///
    /// # Errors
    /// `BUFFER` when it is no pointer slot.
    pub fn ptr_mut(self) -> Result<PtrMut<'a, T>, CallError>
    where
        T: Value<Way = ByPointer>,
    {
        let at = pointer_of::<T::Raw>(*self.slot)?;
        // SAFETY: `new` was promised what the border prescribes, which is zero bytes or a live value for types that travel by
        // pointer; zero bytes are a live value.
        Ok(unsafe { PtrMut::new(at) })
    }

    /// Gives a text to the caller.
    pub(crate) fn put_text(self, text: &str) -> Result<(), CallError>
    where
        T: Value<Way = AsText>,
    {
        let sink = pointer_of::<TextSink>(*self.slot)?;
        // SAFETY: `new` was promised what the border prescribes, which is a live sink for texts, whose `put` copies what it is lent.
        unsafe {
            let sink = sink.read();
            (sink.put)(sink.context, text.as_ptr(), text.len());
        }
        Ok(())
    }
}
