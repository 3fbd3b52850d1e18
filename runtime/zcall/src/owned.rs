//! Buffers that a host caller owns. If the number of slots is known at compile time, the slots are on the stack, otherwise in a vector.
//! Strings are passed by address. The buffer stores references to input strings, and owns the result strings. It writes their addresses to
//! its slots only when it is borrowed for a call and can no longer move. Safe code that fills slots therefore handles no addresses. Callers
//! are responsible for the addresses of values that the buffer does not store.
#![expect(unsafe_code, reason = "declares the verb by which a caller vouches for an address")]

use std::marker::PhantomData;

use alcedo_abi::value::{TextSink, TextView};
use alcedo_abi::zcall::{Slot, SlotType, SlotValue};

use super::buffer::{BufferMut, buffer_error, pointer_slot, read_slot, sink_into, slot_at, slot_mut, wrong_type};
use crate::boundary::CallError;

/// Buffer with `N` slots on the stack. Borrows input strings for `'a`.
pub type SlotBuffer<'a, const N: usize> = OwnedBuffer<'a, [Slot; N], [SlotBacking<'a>; N]>;

/// Buffer with any number of slots. Borrows input strings for `'a`.
pub type DynBuffer<'a> = OwnedBuffer<'a, Vec<Slot>, Vec<SlotBacking<'a>>>;

/// Slots, together with the strings and values to which the slots point. Created as a [`SlotBuffer`] or a [`DynBuffer`].
///
/// A callee receives a string or struct as an address without a type. Caller and callee use equal types if the caller passes the
/// fingerprint of its signature to [`super::table::ZCallTable::resolve`]. A caller without a fingerprint must compare its slots with the
/// callee's signature.
///
/// # Examples
/// ```
/// use alcedo_zcall::owned::SlotBuffer;
///
/// let mut buffer = SlotBuffer::<2>::new();
/// buffer.set(0, 5_u32)?;
/// // The callee writes its result to the last slot.
/// buffer.as_buffer_mut().set(1, 10_u32)?;
/// assert_eq!(buffer.get::<u32>(1)?, 10);
/// # Ok::<(), alcedo_base::boundary::CallError>(())
/// ```
#[derive(Debug)]
pub struct OwnedBuffer<'a, S, L> {
    slots: S,
    backing: L,
    texts: PhantomData<&'a str>,
}

/// String or value to which the address in one slot points.
pub struct SlotBacking<'a>(Behind<'a>);

enum Behind<'a> {
    Nothing,
    TextIn(TextView, PhantomData<&'a str>),
    TextOut(String, Option<TextSink>),
    Value(*mut u8),
}

impl<const N: usize> SlotBuffer<'_, N> {
    /// Creates a buffer with `N` empty slots.
    #[must_use]
    #[inline]
    pub fn new() -> Self {
        Self { slots: [Slot::EMPTY; N], backing: [const { SlotBacking(Behind::Nothing) }; N], texts: PhantomData }
    }
}

impl<const N: usize> Default for SlotBuffer<'_, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl DynBuffer<'_> {
    /// Creates a buffer with `len` empty slots.
    ///
    /// # Examples
    /// ```
    /// use alcedo_zcall::owned::DynBuffer;
    ///
    /// let scores = [3_i64, 5, 8];
    /// let mut buffer = DynBuffer::with_len(scores.len());
    /// for (at, score) in scores.into_iter().enumerate() {
    ///     buffer.set(at, score)?;
    /// }
    /// assert_eq!(buffer.get::<i64>(2)?, 8);
    /// # Ok::<(), alcedo_base::boundary::CallError>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn with_len(len: usize) -> Self {
        let backing = std::iter::repeat_with(|| SlotBacking(Behind::Nothing)).take(len).collect();
        Self { slots: vec![Slot::EMPTY; len], backing, texts: PhantomData }
    }
}

/// Access to the slots. All methods fail with [`CallError::Buffer`] if the slot does not exist.
impl<'a, S, L> OwnedBuffer<'a, S, L>
where
    S: AsRef<[Slot]> + AsMut<[Slot]>,
    L: AsRef<[SlotBacking<'a>]> + AsMut<[SlotBacking<'a>]>,
{
    /// Writes a value that fits in a slot. The previous content of the slot may have any type.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the slot does not exist.
    #[inline]
    pub fn set<T: SlotValue>(&mut self, index: usize, value: T) -> Result<(), CallError> {
        self.put(index, Slot::from_bits(T::SLOT, value.into_bits()), Behind::Nothing)
    }

    /// Sets the string that is passed to the callee in a slot.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the slot does not exist.
    #[inline]
    pub fn text_in(&mut self, index: usize, text: &'a str) -> Result<(), CallError> {
        self.put(index, UNLENT, Behind::TextIn(TextView::of(text), PhantomData))
    }

    /// Prepares the slot for a string result, which [`Self::take_text`] returns after the call.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the slot does not exist.
    #[inline]
    pub fn text_out(&mut self, index: usize) -> Result<(), CallError> {
        self.put(index, UNLENT, Behind::TextOut(String::new(), None))
    }

    /// Sets the address that is passed to the callee in a slot. The callee reads an argument from this address or writes a result to it.
    ///
    /// # Safety
    /// Until the last borrow of this buffer ends, `at` points to a value of the slot's type in the signature of the call. No other code
    /// accesses the value.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the slot does not exist.
    #[inline]
    pub unsafe fn value_at(&mut self, index: usize, at: *mut u8) -> Result<(), CallError> {
        self.put(index, UNLENT, Behind::Value(at))
    }

    /// Returns the value in a slot that contains no address.
    ///
    /// Returns [`CallError::Buffer`] if the slot does not exist or holds a different type.
    #[inline]
    pub fn get<T: SlotValue>(&self, index: usize) -> Result<T, CallError> {
        read_slot(self.slots.as_ref(), index)
    }

    /// Removes and returns the string result. Returns an empty string if the callee has written no string.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the slot does not exist or is not prepared for a string result.
    #[inline]
    pub fn take_text(&mut self, index: usize) -> Result<String, CallError> {
        let slot = slot_at(self.slots.as_ref(), index)?;
        match self.backing.as_mut().get_mut(index) {
            Some(SlotBacking(Behind::TextOut(text, _))) => Ok(std::mem::take(text)),
            Some(SlotBacking(Behind::TextIn(..) | Behind::Value(_))) => {
                Err(buffer_error(format!("slot {index} lends a text or another value, it waits for no text")))
            }
            _ => Err(wrong_type(index, slot, SlotType::POINTER)),
        }
    }

    /// Borrows the buffer for one call. The buffer cannot move during the borrow.
    #[inline]
    pub fn as_buffer_mut(&mut self) -> BufferMut<'_> {
        let slots = self.slots.as_mut();
        for (slot, backing) in slots.iter_mut().zip(self.backing.as_mut()) {
            match &mut backing.0 {
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
        // Both constructors create `slots` and `backing` with equal lengths.
        if let Some(backing) = self.backing.as_mut().get_mut(index) {
            backing.0 = behind;
        }
        Ok(())
    }
}

/// Pointer slot without an address. The address is written when the buffer is borrowed for a call.
const UNLENT: Slot = Slot::from_bits(SlotType::POINTER, 0);

impl std::fmt::Debug for SlotBacking<'_> {
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
