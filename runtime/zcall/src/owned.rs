//! Buffers that a host caller owns: on the stack where the number of slots is known, in a vector where it is not.
//! Texts go by address, so they live in the owner, and their addresses are written at the moment of
//! lending, when the owner can no longer move. So safe code fills slots without ever naming an address; values that lie
//! elsewhere are vouched for by who keeps them.
#![expect(unsafe_code, reason = "declares the verb by which a caller vouches for an address")]

use std::marker::PhantomData;

use alcedo_abi::value::{TextSink, TextView};
use alcedo_abi::zcall::{Slot, SlotType, SlotValue};

use super::buffer::{BufferMut, buffer_error, pointer_slot, read_slot, sink_into, slot_at, slot_mut, wrong_type};
use crate::border::CallError;

/// `N` slots on the stack; texts that go in are lent for `'a`.
pub type SlotBuffer<'a, const N: usize> = OwnedBuffer<'a, [Slot; N], [Lent<'a>; N]>;

/// Any number of slots; texts that go in are lent for `'a`.
pub type DynBuffer<'a> = OwnedBuffer<'a, Vec<Slot>, Vec<Lent<'a>>>;

/// Slots and what lives behind their addresses. Made as [`SlotBuffer`] or [`DynBuffer`].
///
/// A text or struct reaches a callee as a bare address: that the callee wants one of that kind there is what the
/// signature fingerprint given to [`super::table::ZCallTable::resolve`] proves. A caller that resolved without one checks
/// the slots against the callee's description itself.
#[derive(Debug)]
pub struct OwnedBuffer<'a, S, L> {
    slots: S,
    lent: L,
    texts: PhantomData<&'a str>,
}

/// What lives behind the address of one slot.
pub struct Lent<'a>(Behind<'a>);

enum Behind<'a> {
    Nothing,
    TextIn(TextView, PhantomData<&'a str>),
    TextOut(String, Option<TextSink>),
    Value(*mut u8),
}

impl<const N: usize> SlotBuffer<'_, N> {
    /// `N` empty slots.
    #[must_use]
    #[inline]
    pub fn new() -> Self {
        Self { slots: [Slot::EMPTY; N], lent: [const { Lent(Behind::Nothing) }; N], texts: PhantomData }
    }
}

impl<const N: usize> Default for SlotBuffer<'_, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl DynBuffer<'_> {
    /// `len` empty slots.
    #[must_use]
    #[inline]
    pub fn with_len(len: usize) -> Self {
        let lent = std::iter::repeat_with(|| Lent(Behind::Nothing)).take(len).collect();
        Self { slots: vec![Slot::EMPTY; len], lent, texts: PhantomData }
    }
}

/// All verbs fail with [`CallError::Buffer`] when the slot does not exist.
impl<'a, S, L> OwnedBuffer<'a, S, L>
where
    S: AsRef<[Slot]> + AsMut<[Slot]>,
    L: AsRef<[Lent<'a>]> + AsMut<[Lent<'a>]>,
{
    /// Puts a plain value, whatever the slot held.
    ///
    /// # Errors
    /// [`CallError::Buffer`].
    #[inline]
    pub fn set<T: SlotValue>(&mut self, index: usize, value: T) -> Result<(), CallError> {
        self.put(index, Slot::from_bits(T::SLOT, value.into_bits()), Behind::Nothing)
    }

    /// Lends a text to the callee.
    ///
    /// # Errors
    /// [`CallError::Buffer`].
    #[inline]
    pub fn text_in(&mut self, index: usize, text: &'a str) -> Result<(), CallError> {
        self.put(index, UNLENT, Behind::TextIn(TextView::of(text), PhantomData))
    }

    /// Makes the slot wait for a text, to be taken with [`Self::take_text`] after the call.
    ///
    /// # Errors
    /// [`CallError::Buffer`].
    #[inline]
    pub fn text_out(&mut self, index: usize) -> Result<(), CallError> {
        self.put(index, UNLENT, Behind::TextOut(String::new(), None))
    }

    /// Lends the value at `at` to the callee, or has it wait there for one.
    ///
    /// # Safety
    /// Until this buffer has been lent for the last time, `at` holds a value of the type that the signature of the call has
    /// in this slot, which nobody else reads or writes.
    ///
    /// # Errors
    /// [`CallError::Buffer`].
    #[inline]
    pub unsafe fn value_at(&mut self, index: usize, at: *mut u8) -> Result<(), CallError> {
        self.put(index, UNLENT, Behind::Value(at))
    }

    /// The plain value in a slot.
    ///
    /// # Errors
    /// [`CallError::Buffer`], also when the slot holds another type.
    #[inline]
    pub fn get<T: SlotValue>(&self, index: usize) -> Result<T, CallError> {
        read_slot(self.slots.as_ref(), index)
    }

    /// The text that the callee gave; the empty one when it gave none.
    ///
    /// # Errors
    /// [`CallError::Buffer`], also when the slot waits for no text.
    #[inline]
    pub fn take_text(&mut self, index: usize) -> Result<String, CallError> {
        let slot = slot_at(self.slots.as_ref(), index)?;
        match self.lent.as_mut().get_mut(index) {
            Some(Lent(Behind::TextOut(text, _))) => Ok(std::mem::take(text)),
            Some(Lent(Behind::TextIn(..) | Behind::Value(_))) => {
                Err(buffer_error(format!("slot {index} lends a text or another value, it waits for no text")))
            }
            _ => Err(wrong_type(index, slot, SlotType::POINTER)),
        }
    }

    /// The buffer for one call. The owner stays where it is until the call is over.
    #[inline]
    pub fn lend(&mut self) -> BufferMut<'_> {
        let slots = self.slots.as_mut();
        for (slot, lent) in slots.iter_mut().zip(self.lent.as_mut()) {
            match &mut lent.0 {
                Behind::Nothing => {}
                Behind::TextIn(view, _) => *slot = pointer_slot(view),
                Behind::TextOut(text, sink) => *slot = pointer_slot(sink.insert(sink_into(text))),
                Behind::Value(at) => *slot = pointer_slot(*at),
            }
        }
        BufferMut::over(slots)
    }

    #[inline]
    fn put(&mut self, index: usize, slot: Slot, behind: Behind<'a>) -> Result<(), CallError> {
        *slot_mut(self.slots.as_mut(), index)? = slot;
        // Both rows have the same length: the two constructors see to it.
        if let Some(lent) = self.lent.as_mut().get_mut(index) {
            lent.0 = behind;
        }
        Ok(())
    }
}

/// A pointer slot whose address is written when the buffer is lent.
const UNLENT: Slot = Slot::from_bits(SlotType::POINTER, 0);

impl std::fmt::Debug for Lent<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Behind::Nothing => f.write_str("nothing"),
            Behind::TextIn(view, _) => write!(f, "text of {} bytes", view.len),
            Behind::TextOut(text, _) => write!(f, "waits for text, has {text:?}"),
            Behind::Value(at) => write!(f, "value at {at:p}"),
        }
    }
}

#[cfg(test)]
mod tests;
