//! A lent ZCall buffer, read and written by slot. The buffer arrives as an address and a length, and texts and
//! structs arrive as addresses in its slots: this file turns them into borrows and copies, so that no other file of
//! this floor follows an address.
#![expect(unsafe_code, reason = "follows the addresses that a ZCall buffer is made of")]

use std::ptr;
use std::slice;

use alcedo_abi::value::{TextSink, TextView};
use alcedo_abi::zcall::{Slot, SlotType, SlotValue, ZCallBuffer};

use crate::border::CallError;

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

    #[inline]
    pub(super) fn over(slots: &'a mut [Slot]) -> Self {
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
mod tests {
    use super::BufferMut;
    use crate::border::CallError;
    use crate::handles::{Name, ObjectHandle};
    use crate::owned::{DynBuffer, SlotBuffer};
    use alcedo_abi::value::TextView;
    use alcedo_abi::zcall::{Slot, SlotValue, ZCallBuffer};

    fn check_value<T: SlotValue + PartialEq + std::fmt::Debug>(value: T) {
        let mut slots = [Slot::EMPTY];
        let mut buffer = BufferMut::over(&mut slots);
        assert_eq!(buffer.set(0, value), Ok(()));
        assert_eq!(buffer.get::<T>(0), Ok(value));
        assert!(buffer.slot(0).expect("it exists").is(T::SLOT));
    }

    fn check_error<T: std::fmt::Debug>(result: Result<T, CallError>, message: &str) {
        match result {
            Err(CallError::Buffer { message: found }) => assert_eq!(found, message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_plain_type_comes_back_as_it_went() {
        check_value(u8::MAX);
        check_value(u16::MAX);
        check_value(u32::MAX);
        check_value(u64::MAX);
        check_value(i8::MIN);
        check_value(i16::MIN);
        check_value(i32::MIN);
        check_value(i64::MIN);
        check_value(f32::MIN_POSITIVE);
        check_value(-0.5_f64);
        check_value(true);
        check_value(Name(7));
        check_value(ObjectHandle::new(3, 9));
    }

    #[test]
    fn a_missing_slot_is_named() {
        let mut slots = [Slot::EMPTY; 2];
        let mut buffer = BufferMut::over(&mut slots);
        check_error(buffer.get::<i32>(2), "slot 2 does not exist, the buffer has 2");
        check_error(buffer.set(5, 1_u8), "slot 5 does not exist, the buffer has 2");
        check_error(buffer.expect_len(3), "the buffer has 2 slots, the call wants 3");
        assert_eq!(buffer.expect_len(2), Ok(()));
    }

    #[cfg(feature = "slot-types")]
    #[test]
    fn a_slot_of_another_type_is_named_and_untouched() {
        let mut slots = [Slot::EMPTY; 2];
        let mut buffer = BufferMut::over(&mut slots);
        buffer.set(0, 1.5_f64).expect("an empty slot takes any type");
        check_error(buffer.get::<i32>(0), "slot 0 holds f64, the call wants i32");
        check_error(buffer.set(0, 1_i32), "slot 0 holds f64, the call wants i32");
        check_error(buffer.pointer(0), "slot 0 holds f64, the call wants pointer");
        check_error(buffer.get::<u8>(1), "slot 1 holds empty, the call wants u8");
        assert_eq!(buffer.get::<f64>(0), Ok(1.5));
    }

    #[test]
    fn a_raw_buffer_without_slots_is_empty() {
        let mut raw = ZCallBuffer { slots: std::ptr::null_mut(), len: 0 };
        // SAFETY: the length is zero.
        let buffer = unsafe { BufferMut::from_raw(&mut raw) };
        assert!(buffer.is_empty());
    }

    #[test]
    fn a_lent_buffer_goes_over_the_border_and_back() {
        let mut owner = SlotBuffer::<2>::new();
        owner.set(0, 41_i32).expect("slot 0");
        let mut lent = owner.lend();
        // SAFETY: `lent` lends its slots and is not used meanwhile; the call has no pointers.
        let mut callee = unsafe { BufferMut::from_raw(lent.raw()) };
        let value = callee.get::<i32>(0).expect("slot 0");
        callee.set(1, value + 1).expect("slot 1");
        assert_eq!(owner.get::<i32>(1), Ok(42));
    }

    /// A callee of `(String, 20 bytes) -> (String, 20 bytes)`.
    fn shout(buffer: &mut BufferMut<'_>) -> Result<(), CallError> {
        buffer.expect_len(4)?;
        // SAFETY: the test's buffers have a text in slot 0.
        let text = unsafe { buffer.text(0) }?.to_uppercase();
        // SAFETY: they have a sink in slot 2.
        unsafe { buffer.give_text(2, &text) }?;
        // SAFETY: they have 20 bytes in slot 1.
        let mut bytes = unsafe { buffer.pointer(1)?.cast::<[u8; 20]>().read() };
        bytes.reverse();
        // SAFETY: and 20 in slot 3.
        unsafe { buffer.pointer(3)?.cast::<[u8; 20]>().write(bytes) };
        Ok(())
    }

    #[test]
    fn texts_and_values_cross_by_address_even_when_the_owner_moved() {
        let (mut bytes, mut reversed) = ([0_u8; 20], [0_u8; 20]);
        bytes.iter_mut().zip(0..).for_each(|(byte, at)| *byte = at);
        let mut owner = Box::new(SlotBuffer::<4>::new());
        owner.text_in(0, "grüße").expect("slot 0");
        // SAFETY: the callee wants 20 bytes there, and they outlive the buffer.
        unsafe { owner.value_at(1, (&raw mut bytes).cast()) }.expect("slot 1");
        owner.text_out(2).expect("slot 2");
        // SAFETY: the callee writes 20 bytes there, and they outlive the buffer.
        unsafe { owner.value_at(3, (&raw mut reversed).cast()) }.expect("slot 3");
        assert_eq!(shout(&mut owner.lend()), Ok(()));
        let mut moved = *owner;
        assert_eq!(shout(&mut moved.lend()), Ok(()));
        assert_eq!(moved.take_text(2), Ok("GRÜSSE".to_owned()));
        assert!(reversed.iter().rev().eq(&bytes));
    }

    #[test]
    fn a_dynamic_buffer_does_the_same() {
        let (mut bytes, mut reversed) = ([7_u8; 20], [0_u8; 20]);
        let mut owner = DynBuffer::with_len(4);
        owner.text_in(0, "").expect("slot 0");
        // SAFETY: the callee wants 20 bytes there, and they outlive the buffer.
        unsafe { owner.value_at(1, (&raw mut bytes).cast()) }.expect("slot 1");
        owner.text_out(2).expect("slot 2");
        // SAFETY: the callee writes 20 bytes there, and they outlive the buffer.
        unsafe { owner.value_at(3, (&raw mut reversed).cast()) }.expect("slot 3");
        assert_eq!(shout(&mut owner.lend()), Ok(()));
        assert_eq!(owner.take_text(2), Ok(String::new()));
        assert_eq!(reversed, [7; 20]);
    }

    #[test]
    fn a_text_that_is_no_text_is_refused() {
        let bytes = [0xff_u8, 0xfe];
        let mut view = TextView { data: bytes.as_ptr(), len: bytes.len() };
        let mut slots = [super::pointer_slot(&raw mut view), super::pointer_slot(std::ptr::null_mut::<u8>())];
        let buffer = BufferMut::over(&mut slots);
        // SAFETY: slot 0 points to a live view of two live bytes.
        let text = unsafe { buffer.text(0) };
        assert!(matches!(text, Err(CallError::Buffer { .. })), "{text:?}");
        check_error(buffer.pointer(1), "slot 1 holds a null pointer, the call wants an address");
    }
}
