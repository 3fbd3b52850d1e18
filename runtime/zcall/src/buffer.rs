//! Borrowed ZCall buffer with access by slot. A buffer crosses the ABI as an address and a length, and its slots refer to strings and
//! structs by address. Only this file of the crate dereferences these addresses, and converts them to borrows and copies.
#![expect(unsafe_code, reason = "follows the addresses that a ZCall buffer is made of")]

use std::ptr;
use std::slice;

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::{TextSink, TextView};
use alcedo_abi::zcall::{Slot, SlotType, SlotValue, ZCallBuffer};

use crate::boundary::CallError;
use crate::signature::{CallSignature, Kinds};

/// Slots of one call, borrowed until the call returns. The slots of the parameters are first, followed by the slot of the result, if any.
///
/// Slot indices start at zero. Type bytes are checked if the feature `slot-types` is enabled. Before the result is written, its slot is
/// empty and accepts any type.
///
/// # Examples
/// ```
/// use alcedo_zcall::buffer::BufferMut;
/// use alcedo_zcall::owned::DynBuffer;
///
/// fn double(mut slots: BufferMut<'_>) -> Result<(), alcedo_base::boundary::CallError> {
///     slots.expect_len(2)?;
///     let number = slots.get::<u32>(0)?;
///     slots.set(1, number * 2)
/// }
/// let mut buffer = DynBuffer::with_len(2);
/// buffer.set(0, 21_u32)?;
/// double(buffer.as_buffer_mut())?;
/// assert_eq!(buffer.get::<u32>(1)?, 42);
/// # Ok::<(), alcedo_base::boundary::CallError>(())
/// ```
#[derive(Debug)]
pub struct BufferMut<'a> {
    slots: &'a mut [Slot],
    /// Descriptor returned by [`BufferMut::raw`].
    raw: ZCallBuffer,
}

impl<'a> BufferMut<'a> {
    /// Borrows the slots of `raw`.
    ///
    /// # Safety
    /// If the length of `raw` is not zero, `raw` points to that number of initialized slots. The slots are live and unshared for `'a`. The
    /// pointer slots of `raw` match the signature of the call for `'a`.
    #[inline]
    pub unsafe fn from_raw(raw: &'a mut ZCallBuffer) -> Self {
        if raw.len == 0 || raw.slots.is_null() {
            return Self::over(&mut []);
        }
        // SAFETY: our caller promises that `raw.len` slots are initialized, live and unshared for `'a`.
        Self::over(unsafe { slice::from_raw_parts_mut(raw.slots, raw.len) })
    }

    /// Borrows `slots`. The creator of each pointer slot guarantees that the address in the slot is valid.
    #[inline]
    pub fn over(slots: &'a mut [Slot]) -> Self {
        Self { slots, raw: ZCallBuffer { slots: ptr::null_mut(), len: 0 } }
    }

    /// Returns the buffer in its ABI form: address and length.
    #[inline]
    pub fn raw(&mut self) -> &mut ZCallBuffer {
        self.raw = ZCallBuffer { slots: self.slots.as_mut_ptr(), len: self.slots.len() };
        &mut self.raw
    }

    /// Returns the number of slots.
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns `true` if the buffer is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Checks that the buffer has exactly `expected` slots.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] with the actual and the expected number of slots.
    #[inline]
    pub fn expect_len(&self, expected: usize) -> Result<(), CallError> {
        match self.len() {
            len if len == expected => Ok(()),
            len => Err(buffer_error(format!("the buffer has {len} slots, the call expects {expected}"))),
        }
    }

    /// Returns the value in a slot.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the slot does not exist or holds a different type.
    #[inline]
    pub fn get<T: SlotValue>(&self, index: usize) -> Result<T, CallError> {
        read_slot(self.slots, index)
    }

    /// Writes a value to a slot. The slot must be empty or hold a value of type `T`.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the slot does not exist or holds a different type. In case of an error, the slot is unchanged.
    #[inline]
    pub fn set<T: SlotValue>(&mut self, index: usize, value: T) -> Result<(), CallError> {
        let slot = slot_mut(self.slots, index)?;
        if !slot.is(T::SLOT) && !slot.is(SlotType::EMPTY) {
            return Err(wrong_type(index, *slot, T::SLOT));
        }
        *slot = Slot::from_bits(T::SLOT, value.into_bits());
        Ok(())
    }

    /// Returns all slots.
    #[must_use]
    #[inline]
    pub fn slots(&self) -> &[Slot] {
        self.slots
    }

    /// Overwrites a slot. Neither the old nor the new content of the slot may be an address. Without the feature `slot-types`, slots store
    /// no types, and this function accepts any content.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the slot does not exist, or if its old or new content is an address.
    #[inline]
    pub fn put(&mut self, index: usize, new: Slot) -> Result<(), CallError> {
        let is_address = |slot: Slot| slot.kind() == Some(SlotType::POINTER);
        let slot = slot_mut(self.slots, index)?;
        if is_address(*slot) || is_address(new) {
            return Err(wrong_type(index, *slot, new.kind().unwrap_or(SlotType::EMPTY)));
        }
        *slot = new;
        Ok(())
    }

    /// Returns a slot.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the slot does not exist.
    #[inline]
    pub fn slot(&self, index: usize) -> Result<Slot, CallError> {
        slot_at(self.slots, index)
    }

    /// Returns the address in a pointer slot. The address is never null.
    ///
    /// # Errors
    /// Returns [`CallError::Buffer`] if the slot does not exist, holds a different type, or holds a null address.
    #[inline]
    pub fn pointer(&self, index: usize) -> Result<*mut u8, CallError> {
        let slot = self.slot(index)?;
        if !slot.is(SlotType::POINTER) {
            return Err(wrong_type(index, slot, SlotType::POINTER));
        }
        match slot.bits() {
            0 => Err(buffer_error(format!("slot {index} holds a null pointer, the call expects an address"))),
            bits => Ok(ptr::with_exposed_provenance_mut(bits as usize)),
        }
    }

    /// Returns the string that the caller passes in a slot.
    ///
    /// # Safety
    /// The signature of the call has a string parameter in this slot. The address in the slot points to a [`TextView`], and the view and
    /// its bytes are live and unchanged for `'a`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::pointer`], or an error if the bytes are not UTF-8.
    #[inline]
    pub unsafe fn text(&self, index: usize) -> Result<&'a str, CallError> {
        let view = self.pointer(index)?.cast::<TextView>();
        // SAFETY: our caller promises that the address points to a live view whose bytes are live and unchanged for `'a`.
        let bytes = unsafe { view.read().bytes() };
        str::from_utf8(bytes)
            .map_err(|error| buffer_error(format!("slot {index} lends a text that is not UTF-8: {error}")))
    }

    /// Passes `text` to the sink that the caller of the function has stored in a slot.
    ///
    /// # Safety
    /// The signature of the call has a string result in this slot. The address in the slot points to a live [`TextSink`].
    ///
    /// # Errors
    /// Returns the errors of [`Self::pointer`].
    #[inline]
    pub unsafe fn set_text(&mut self, index: usize, text: &str) -> Result<(), CallError> {
        let sink = self.pointer(index)?.cast::<TextSink>();
        // SAFETY: our caller promises that the address points to a live sink, whose `put` copies its input. `text` is live UTF-8.
        unsafe {
            let sink = sink.read();
            (sink.put)(sink.context, text.as_ptr(), text.len());
        }
        Ok(())
    }
}

/// Access to slots for [`Call`](crate::call::Call), checked against the signature of the callee.
impl BufferMut<'_> {
    /// Returns the slot kinds of the signature, after checking that the buffer has one slot per parameter and result.
    fn kinds_of<'s>(&self, signature: &'s CallSignature) -> Result<&'s Kinds, CallError> {
        let kinds = signature.kinds();
        let kinds = kinds.ok_or_else(|| buffer_error("only its dispatcher knows what its slots hold".into()))?;
        self.expect_len(kinds.arguments.len() + usize::from(kinds.result.is_some()))?;
        Ok(kinds)
    }

    pub(crate) fn check_argument(
        &self,
        signature: &CallSignature,
        at: usize,
        is_expected: impl Fn(PropertyKind) -> bool,
    ) -> Result<(), CallError> {
        match self.kinds_of(signature)?.arguments.get(at) {
            Some(kind) if is_expected(*kind) => Ok(()),
            Some(kind) => Err(other_kind(signature, "argument", at, *kind)),
            None => Err(buffer_error(format!("argument {at} does not exist: the signature is ({})", signature.text()))),
        }
    }

    pub(crate) fn check_result(
        &self,
        signature: &CallSignature,
        is_expected: impl Fn(PropertyKind) -> bool,
    ) -> Result<usize, CallError> {
        let kinds = self.kinds_of(signature)?;
        let at = kinds.arguments.len();
        match kinds.result {
            Some(kind) if is_expected(kind) => Ok(at),
            Some(kind) => Err(other_kind(signature, "result", at, kind)),
            None => Err(buffer_error(format!("the call has no result: the signature is ({})", signature.text()))),
        }
    }

    pub(crate) fn text_argument(&self, signature: &CallSignature, at: usize) -> Result<&str, CallError> {
        self.check_argument(signature, at, is_text)?;
        // SAFETY: the resolver that supplied the kinds promised in `with_kinds` that the caller passes a string view in this slot.
        // A `Call` has not overwritten the slot, because a `Call` writes only to the result slot.
        unsafe { self.text(at) }
    }

    pub(crate) fn set_text_result(&mut self, signature: &CallSignature, text: &str) -> Result<(), CallError> {
        let at = self.check_result(signature, is_text)?;
        // SAFETY: the resolver that supplied the kinds promised in `with_kinds` that the caller passes a sink in this slot.
        // A `Call` never overwrites the slot of a string result.
        unsafe { self.set_text(at, text) }
    }
}

fn is_text(kind: PropertyKind) -> bool {
    kind == PropertyKind::STRING
}

fn other_kind(signature: &CallSignature, what: &str, at: usize, found: PropertyKind) -> CallError {
    let found = found.text().unwrap_or("?");
    buffer_error(format!(
        "the {what} in slot {at} is of {found}, and another type was requested: the signature is ({})",
        signature.text()
    ))
}

#[inline]
pub(super) fn slot_at(slots: &[Slot], index: usize) -> Result<Slot, CallError> {
    slots.get(index).copied().ok_or_else(|| no_slot(index, slots.len()))
}

#[inline]
pub(super) fn slot_mut(slots: &mut [Slot], index: usize) -> Result<&mut Slot, CallError> {
    let len = slots.len();
    slots.get_mut(index).ok_or_else(|| no_slot(index, len))
}

#[inline]
pub(super) fn read_slot<T: SlotValue>(slots: &[Slot], index: usize) -> Result<T, CallError> {
    let slot = slot_at(slots, index)?;
    if slot.is(T::SLOT) { Ok(T::from_bits(slot.bits())) } else { Err(wrong_type(index, slot, T::SLOT)) }
}

/// Creates a pointer slot for memory that the caller must not move until the call returns.
#[inline]
pub(super) fn pointer_slot<T>(target: *mut T) -> Slot {
    Slot::from_bits(SlotType::POINTER, target.expose_provenance() as u64)
}

/// Creates a sink that overwrites `text`. While the sink may be used, the caller must not move or access `text`.
#[inline]
pub(super) fn sink_into(text: &mut String) -> TextSink {
    TextSink { context: ptr::from_mut(text).cast(), put: put_text }
}

/// Calls `write` with a sink. Returns the result of `write` and the string in the sink. The string is empty if `write` wrote nothing.
pub fn collect_text<R>(write: impl FnOnce(&TextSink) -> R) -> (R, String) {
    let mut text = String::new();
    let result = write(&sink_into(&mut text));
    (result, text)
}

/// # Safety
/// `context` is the live, unshared `String` of [`sink_into`]; `data` points to `len` bytes that are live during the call.
unsafe extern "C" fn put_text(context: *mut (), data: *const u8, len: usize) {
    // SAFETY: `sink_into` made the context from a `String` that its caller neither moves nor accesses.
    // The callee that uses a sink passes `len` bytes that are live during the call.
    let (text, bytes) = unsafe { (&mut *context.cast::<String>(), TextView { data, len }.bytes()) };
    text.clear();
    // Converts lossily, because this conversion never panics, and a panic must not cross the ABI.
    text.push_str(&String::from_utf8_lossy(bytes));
}

pub(super) fn buffer_error(message: String) -> CallError {
    CallError::Buffer { message }
}

pub(super) fn wrong_type(index: usize, found: Slot, expected: SlotType) -> CallError {
    let found = found.kind().map_or("untyped", SlotType::text);
    buffer_error(format!("slot {index} holds {found}, the call expects {}", expected.text()))
}

fn no_slot(index: usize, len: usize) -> CallError {
    buffer_error(format!("slot {index} does not exist, the buffer has {len}"))
}

#[cfg(test)]
mod tests;
