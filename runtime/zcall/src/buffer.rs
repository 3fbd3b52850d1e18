//! A lent ZCall buffer, read and written by slot. The buffer arrives as an address and a length, and texts and
//! structs arrive as addresses in its slots: this file turns them into borrows and copies, so that no other file of
//! this floor follows an address.
#![expect(unsafe_code, reason = "follows the addresses that a ZCall buffer is made of")]

use std::ptr;
use std::slice;

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::{TextSink, TextView};
use alcedo_abi::zcall::{Slot, SlotType, SlotValue, ZCallBuffer};

use crate::border::CallError;
use crate::signature::{CallSignature, Kinds};

/// The slots of one call, lent until it returns: parameters first, the result (if any) last.
///
/// Slots count from zero. The type byte is checked where it is compiled in; a slot that waits for a result is empty
/// and takes any type.
#[derive(Debug)]
pub struct BufferMut<'a> {
    slots: &'a mut [Slot],
    /// The shape in which [`BufferMut::raw`] lends the slots on.
    raw: ZCallBuffer,
}

impl<'a> BufferMut<'a> {
    /// Borrows what `raw` lends.
    ///
    /// # Safety
    /// Unless its length is zero, `raw` lends that many initialized slots, live and unshared for `'a`. Its pointer
    /// slots are what the signature of the call says they are, and stay so for `'a`.
    #[inline]
    pub unsafe fn from_raw(raw: &'a mut ZCallBuffer) -> Self {
        if raw.len == 0 || raw.slots.is_null() {
            return Self::over(&mut []);
        }
        // SAFETY: our caller promises that this many slots are initialized, live and unshared for `'a`.
        Self::over(unsafe { slice::from_raw_parts_mut(raw.slots, raw.len) })
    }

    /// Lends slots of the caller's own. For an address in one of them vouches whoever put it there.
    #[inline]
    pub fn over(slots: &'a mut [Slot]) -> Self {
        Self { slots, raw: ZCallBuffer { slots: ptr::null_mut(), len: 0 } }
    }

    /// The buffer as it goes over the border.
    #[inline]
    pub fn raw(&mut self) -> &mut ZCallBuffer {
        self.raw = ZCallBuffer { slots: self.slots.as_mut_ptr(), len: self.slots.len() };
        &mut self.raw
    }

    /// Number of slots.
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no slot at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Passes when there are exactly `wanted` slots.
    ///
    /// # Errors
    /// [`CallError::Buffer`] with both numbers.
    #[inline]
    pub fn expect_len(&self, wanted: usize) -> Result<(), CallError> {
        match self.len() {
            len if len == wanted => Ok(()),
            len => Err(buffer_error(format!("the buffer has {len} slots, the call wants {wanted}"))),
        }
    }

    /// The value in a slot.
    ///
    /// # Errors
    /// [`CallError::Buffer`] when there is no such slot or it holds another type.
    #[inline]
    pub fn get<T: SlotValue>(&self, index: usize) -> Result<T, CallError> {
        read_slot(self.slots, index)
    }

    /// Puts a value into a slot that is empty or holds a value of the same type.
    ///
    /// # Errors
    /// [`CallError::Buffer`] when there is no such slot or it holds another type; nothing is written then.
    #[inline]
    pub fn set<T: SlotValue>(&mut self, index: usize, value: T) -> Result<(), CallError> {
        let slot = slot_mut(self.slots, index)?;
        if !slot.is(T::SLOT) && !slot.is(SlotType::EMPTY) {
            return Err(wrong_type(index, *slot, T::SLOT));
        }
        *slot = Slot::from_bits(T::SLOT, value.into_bits());
        Ok(())
    }

    /// All slots as they are.
    #[must_use]
    #[inline]
    pub fn slots(&self) -> &[Slot] {
        self.slots
    }

    /// Overwrites a slot that holds no address, and with none. Slots without types (no feature `slot-types`) take any.
    ///
    /// # Errors
    /// [`CallError::Buffer`] when there is no such slot, or one of the two is an address.
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

    /// A slot as it is.
    ///
    /// # Errors
    /// [`CallError::Buffer`] when there is no such slot.
    #[inline]
    pub fn slot(&self, index: usize) -> Result<Slot, CallError> {
        slot_at(self.slots, index)
    }

    /// The address in a pointer slot, never null.
    ///
    /// # Errors
    /// [`CallError::Buffer`] when there is no such slot, it holds another type, or its address is null.
    #[inline]
    pub fn pointer(&self, index: usize) -> Result<*mut u8, CallError> {
        let slot = self.slot(index)?;
        if !slot.is(SlotType::POINTER) {
            return Err(wrong_type(index, slot, SlotType::POINTER));
        }
        match slot.bits() {
            0 => Err(buffer_error(format!("slot {index} holds a null pointer, the call wants an address"))),
            bits => Ok(ptr::with_exposed_provenance_mut(bits as usize)),
        }
    }

    /// The text that the caller lends in a slot.
    ///
    /// # Safety
    /// The call's signature has a text parameter in this slot: its address is that of a [`TextView`], and the view
    /// and the bytes it names are live and unchanged for `'a`.
    ///
    /// # Errors
    /// As [`Self::pointer`], and when the bytes are not UTF-8.
    #[inline]
    pub unsafe fn text(&self, index: usize) -> Result<&'a str, CallError> {
        let view = self.pointer(index)?.cast::<TextView>();
        // SAFETY: our caller promises that the address is that of a live view, and the view's bytes live and unchanged for `'a`.
        let bytes = unsafe {
            let view = view.read();
            if view.len == 0 { &[] } else { slice::from_raw_parts(view.data, view.len) }
        };
        str::from_utf8(bytes)
            .map_err(|error| buffer_error(format!("slot {index} lends a text that is not UTF-8: {error}")))
    }

    /// Gives `text` to the sink that the caller put into a slot.
    ///
    /// # Safety
    /// The call's signature has a text result in this slot: its address is that of a live [`TextSink`].
    ///
    /// # Errors
    /// As [`Self::pointer`].
    #[inline]
    pub unsafe fn give_text(&mut self, index: usize, text: &str) -> Result<(), CallError> {
        let sink = self.pointer(index)?.cast::<TextSink>();
        // SAFETY: our caller promises that the address is that of a live sink, whose `put` copies what it is given; `text` is live
        // UTF-8 of this length.
        unsafe {
            let sink = sink.read();
            (sink.put)(sink.context, text.as_ptr(), text.len());
        }
        Ok(())
    }
}

/// What a [`Call`](crate::call::Call) reads by the signature of its callee.
impl BufferMut<'_> {
    /// The kinds of a call with as many slots as there should be.
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
        is_wanted: impl Fn(PropertyKind) -> bool,
    ) -> Result<(), CallError> {
        match self.kinds_of(signature)?.arguments.get(at) {
            Some(kind) if is_wanted(*kind) => Ok(()),
            Some(kind) => Err(other_kind(signature, "argument", at, *kind)),
            None => Err(buffer_error(format!("there is no argument {at}: the signature is ({})", signature.words()))),
        }
    }

    pub(crate) fn check_result(
        &self,
        signature: &CallSignature,
        is_wanted: impl Fn(PropertyKind) -> bool,
    ) -> Result<usize, CallError> {
        let kinds = self.kinds_of(signature)?;
        let at = kinds.arguments.len();
        match kinds.result {
            Some(kind) if is_wanted(kind) => Ok(at),
            Some(kind) => Err(other_kind(signature, "result", at, kind)),
            None => Err(buffer_error(format!("there is no result: the signature is ({})", signature.words()))),
        }
    }

    /// An argument that is a text.
    pub(crate) fn text_argument(&self, signature: &CallSignature, at: usize) -> Result<&str, CallError> {
        self.check_argument(signature, at, is_text)?;
        // SAFETY: whoever gave the kinds promised in `with_kinds` that the caller lends a view of a text in this slot, which
        // was not written to since, because a `Call` writes to the slot of the result only.
        unsafe { self.text(at) }
    }

    /// Gives the result, which is a text.
    pub(crate) fn give_text_result(&mut self, signature: &CallSignature, text: &str) -> Result<(), CallError> {
        let at = self.check_result(signature, is_text)?;
        // SAFETY: whoever gave the kinds promised in `with_kinds` that the caller waits with a sink in this slot, which a
        // `Call` does not write to where the result is a text.
        unsafe { self.give_text(at, text) }
    }
}

/// Whether a value of that kind goes as a text.
fn is_text(kind: PropertyKind) -> bool {
    kind == PropertyKind::STRING
}

fn other_kind(signature: &CallSignature, what: &str, at: usize, found: PropertyKind) -> CallError {
    let found = found.text().unwrap_or("?");
    buffer_error(format!(
        "the {what} in slot {at} is of {found}, and another type was requested: the signature is ({})",
        signature.words()
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

/// A pointer slot for memory that the caller keeps in place until the call returns.
#[inline]
pub(super) fn pointer_slot<T>(target: *mut T) -> Slot {
    Slot::from_bits(SlotType::POINTER, target.expose_provenance() as u64)
}

/// A sink that overwrites `text`, which must stay in place and untouched for as long as the sink may be used.
#[inline]
pub(super) fn sink_into(text: &mut String) -> TextSink {
    TextSink { context: ptr::from_mut(text).cast(), put: put_text }
}

/// Lends a sink for a call: what `give` gives, and the text that was put into the sink; the empty one when none was.
pub fn collect_text<R>(give: impl FnOnce(&TextSink) -> R) -> (R, String) {
    let mut text = String::new();
    let given = give(&sink_into(&mut text));
    (given, text)
}

/// # Safety
/// `context` is the live, unshared `String` of [`sink_into`]; `data` lends `len` bytes for the call.
unsafe extern "C" fn put_text(context: *mut (), data: *const u8, len: usize) {
    // SAFETY: `sink_into` made the context of a `String` that its caller keeps in place and untouched; the callee that uses a
    // sink lends `len` bytes for the call.
    let (text, bytes) = unsafe {
        let bytes = if len == 0 { &[] } else { slice::from_raw_parts(data, len) };
        (&mut *context.cast::<String>(), bytes)
    };
    text.clear();
    // Nothing may panic here, and a garbled text is better than none.
    text.push_str(&String::from_utf8_lossy(bytes));
}

pub(super) fn buffer_error(message: String) -> CallError {
    CallError::Buffer { message }
}

pub(super) fn wrong_type(index: usize, found: Slot, wanted: SlotType) -> CallError {
    let found = found.kind().map_or("untyped", SlotType::text);
    buffer_error(format!("slot {index} holds {found}, the call wants {}", wanted.text()))
}

fn no_slot(index: usize, len: usize) -> CallError {
    buffer_error(format!("slot {index} does not exist, the buffer has {len}"))
}

#[cfg(test)]
mod tests;
