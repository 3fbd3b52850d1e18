//! Buffers that a host caller owns. Strings are passed by address. The buffer stores references to input strings, and owns the result
//! strings. The addresses of these strings are written to the slots only when the buffer is borrowed for a call and can no longer move.
//! Safe code that fills slots therefore handles no addresses. Callers are responsible for the addresses of values that the buffer does not
//! store.
#![expect(unsafe_code, reason = "declares the verb by which a caller vouches for an address")]

use std::marker::PhantomData;

use alcedo_abi::value::{TextSink, TextView};
use alcedo_abi::zcall::{Slot, SlotType, SlotValue};

use super::buffer::{BufferMut, buffer_error, pointer_slot, read_slot, sink_into, slot_at, slot_mut, wrong_type};
use crate::boundary::CallError;

/// Slots, together with the strings and values to which the slots point. Borrows input strings for `'a`.
///
/// A callee receives a string or struct as an address without a type. Caller and callee use equal types if the caller passes the
/// fingerprint of its signature to [`super::table::ZCallTable::resolve`]. A caller without a fingerprint must compare its slots with the
/// callee's signature.
///
/// # Examples
/// ```
/// use alcedo_zcall::owned::DynBuffer;
///
/// let mut buffer = DynBuffer::with_len(2);
/// buffer.set(0, 5_u32)?;
/// // The callee writes its result to the last slot.
/// buffer.as_buffer_mut().set(1, 10_u32)?;
/// assert_eq!(buffer.get::<u32>(1)?, 10);
/// # Ok::<(), alcedo_base::boundary::CallError>(())
/// ```
#[derive(Debug)]
pub struct DynBuffer<'a> {
    slots: Vec<Slot>,
    backing: Vec<Backing<'a>>,
}

/// String or value to which the address in one slot points.
enum Backing<'a> {
    Nothing,
    TextIn(TextView, PhantomData<&'a str>),
    TextOut(String, Option<TextSink>),
    Value(*mut u8),
}

/// Access to the slots. All methods fail with [`CallError::Buffer`] if the slot does not exist.
impl<'a> DynBuffer<'a> {
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
        let backing = std::iter::repeat_with(|| Backing::Nothing).take(len).collect();
        Self { slots: vec![Slot::EMPTY; len], backing }
    }

    /// Writes a value that fits in a slot. The previous content of the slot may have any type.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the slot does not exist.
    #[inline]
    pub fn set<T: SlotValue>(&mut self, index: usize, value: T) -> Result<(), CallError> {
        self.put(index, Slot::from_bits(T::SLOT, value.into_bits()), Backing::Nothing)
    }

    /// Sets the string that is passed to the callee in a slot.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the slot does not exist.
    #[inline]
    pub fn text_in(&mut self, index: usize, text: &'a str) -> Result<(), CallError> {
        self.put(index, UNLENT, Backing::TextIn(TextView::of(text), PhantomData))
    }

    /// Prepares the slot for a string result, which [`Self::take_text`] returns after the call.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the slot does not exist.
    #[inline]
    pub fn text_out(&mut self, index: usize) -> Result<(), CallError> {
        self.put(index, UNLENT, Backing::TextOut(String::new(), None))
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
        self.put(index, UNLENT, Backing::Value(at))
    }

    /// Returns the value in a slot that contains no address.
    ///
    /// Returns [`CallError::Buffer`] if the slot does not exist or holds a different type.
    #[inline]
    pub fn get<T: SlotValue>(&self, index: usize) -> Result<T, CallError> {
        read_slot(&self.slots, index)
    }

    /// Removes and returns the string result. Returns an empty string if the callee has written no string.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the slot does not exist or is not prepared for a string result.
    #[inline]
    pub fn take_text(&mut self, index: usize) -> Result<String, CallError> {
        let slot = slot_at(&self.slots, index)?;
        match self.backing.get_mut(index) {
            Some(Backing::TextOut(text, _)) => Ok(std::mem::take(text)),
            Some(Backing::TextIn(..) | Backing::Value(_)) => {
                Err(buffer_error(format!("slot {index} lends a text or another value, it waits for no text")))
            }
            _ => Err(wrong_type(index, slot, SlotType::POINTER)),
        }
    }

    /// Borrows the buffer for one call. The buffer cannot move during the borrow.
    #[inline]
    pub fn as_buffer_mut(&mut self) -> BufferMut<'_> {
        for (slot, backing) in self.slots.iter_mut().zip(&mut self.backing) {
            match backing {
                Backing::Nothing => {}
                Backing::TextIn(view, _) => *slot = pointer_slot(view),
                Backing::TextOut(text, sink) => *slot = pointer_slot(sink.insert(sink_into(text))),
                Backing::Value(at) => *slot = pointer_slot(*at),
            }
        }
        BufferMut::over(&mut self.slots)
    }

    #[inline]
    fn put(&mut self, index: usize, slot: Slot, backing: Backing<'a>) -> Result<(), CallError> {
        *slot_mut(&mut self.slots, index)? = slot;
        // `slots` and `backing` have equal lengths.
        self.backing[index] = backing;
        Ok(())
    }
}

/// Pointer slot without an address. The address is written when the buffer is borrowed for a call.
const UNLENT: Slot = Slot::from_bits(SlotType::POINTER, 0);

impl std::fmt::Debug for Backing<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Backing::Nothing => f.write_str("nothing"),
            Backing::TextIn(view, _) => write!(f, "text of {} bytes", view.len),
            Backing::TextOut(text, _) => write!(f, "waits for text, has {text:?}"),
            Backing::Value(at) => write!(f, "value at {at:p}"),
        }
    }
}

#[cfg(test)]
mod tests;
