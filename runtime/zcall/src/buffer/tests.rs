//! Passes values in slots across the ABI, and checks that wrong accesses are rejected.
#![expect(unsafe_code, reason = "vouches for the slots of the tests")]

use super::BufferMut;
use crate::boundary::CallError;
use crate::handles::{Name, ObjectHandle};
use crate::owned::DynBuffer;
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

#[cfg(feature = "slot-types")]
#[test]
fn an_address_is_neither_put_nor_overwritten_by_a_plain_slot() {
    use alcedo_abi::zcall::SlotType;

    let (plain, address) = (Slot::from_bits(SlotType::I32, 1), Slot::from_bits(SlotType::POINTER, 8));
    for (before, new) in [(address, plain), (plain, address), (address, address)] {
        let mut slots = [before];
        assert!(BufferMut::over(&mut slots).put(0, new).is_err());
        assert_eq!(slots[0].bits(), before.bits());
    }
}

#[test]
fn every_plain_type_round_trips() {
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
    check_error(buffer.expect_len(3), "the buffer has 2 slots, the call expects 3");
    assert_eq!(buffer.expect_len(2), Ok(()));
}

#[cfg(feature = "slot-types")]
#[test]
fn a_slot_of_another_type_is_named_and_untouched() {
    let mut slots = [Slot::EMPTY; 2];
    let mut buffer = BufferMut::over(&mut slots);
    buffer.set(0, 1.5_f64).expect("an empty slot takes any type");
    check_error(buffer.get::<i32>(0), "slot 0 holds f64, the call expects i32");
    check_error(buffer.set(0, 1_i32), "slot 0 holds f64, the call expects i32");
    check_error(buffer.pointer(0), "slot 0 holds f64, the call expects pointer");
    check_error(buffer.get::<u8>(1), "slot 1 holds empty, the call expects u8");
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
fn a_borrowed_buffer_crosses_the_abi_and_back() {
    let mut owner = DynBuffer::with_len(2);
    owner.set(0, 41_i32).expect("slot 0");
    let mut borrowed = owner.as_buffer_mut();
    // SAFETY: `borrowed` owns its slots and is not used during this borrow; the call has no pointers.
    let mut callee = unsafe { BufferMut::from_raw(borrowed.raw()) };
    let value = callee.get::<i32>(0).expect("slot 0");
    callee.set(1, value + 1).expect("slot 1");
    assert_eq!(owner.get::<i32>(1), Ok(42));
}

/// Body of a function `(String, 20 bytes) -> (String, 20 bytes)`. Returns the string in upper case, and the bytes in reverse order.
fn shout(buffer: &mut BufferMut<'_>) -> Result<(), CallError> {
    buffer.expect_len(4)?;
    // SAFETY: the buffers of the test have a string in slot 0.
    let text = unsafe { buffer.text(0) }?.to_uppercase();
    // SAFETY: the buffers of the test have a sink in slot 2.
    unsafe { buffer.set_text(2, &text) }?;
    // SAFETY: the buffers of the test have 20 bytes in slot 1.
    let mut bytes = unsafe { buffer.pointer(1)?.cast::<[u8; 20]>().read() };
    bytes.reverse();
    // SAFETY: the buffers of the test have 20 bytes in slot 3.
    unsafe { buffer.pointer(3)?.cast::<[u8; 20]>().write(bytes) };
    Ok(())
}

#[test]
fn strings_and_values_pass_by_address_even_after_a_move() {
    let (mut bytes, mut reversed) = ([0_u8; 20], [0_u8; 20]);
    bytes.iter_mut().zip(0..).for_each(|(byte, at)| *byte = at);
    let mut owner = Box::new(DynBuffer::with_len(4));
    owner.text_in(0, "grüße").expect("slot 0");
    // SAFETY: the callee reads the 20 bytes of `bytes`, which outlives the buffer.
    unsafe { owner.value_at(1, (&raw mut bytes).cast()) }.expect("slot 1");
    owner.text_out(2).expect("slot 2");
    // SAFETY: the callee writes the 20 bytes of `reversed`, which outlives the buffer.
    unsafe { owner.value_at(3, (&raw mut reversed).cast()) }.expect("slot 3");
    assert_eq!(shout(&mut owner.as_buffer_mut()), Ok(()));
    let mut moved = *owner;
    assert_eq!(shout(&mut moved.as_buffer_mut()), Ok(()));
    assert_eq!(moved.take_text(2), Ok("GRÜSSE".to_owned()));
    assert!(reversed.iter().rev().eq(&bytes));
}

#[test]
fn an_empty_string_passes_by_address_next_to_a_value() {
    let (mut bytes, mut reversed) = ([7_u8; 20], [0_u8; 20]);
    let mut owner = DynBuffer::with_len(4);
    owner.text_in(0, "").expect("slot 0");
    // SAFETY: the callee reads the 20 bytes of `bytes`, which outlives the buffer.
    unsafe { owner.value_at(1, (&raw mut bytes).cast()) }.expect("slot 1");
    owner.text_out(2).expect("slot 2");
    // SAFETY: the callee writes the 20 bytes of `reversed`, which outlives the buffer.
    unsafe { owner.value_at(3, (&raw mut reversed).cast()) }.expect("slot 3");
    assert_eq!(shout(&mut owner.as_buffer_mut()), Ok(()));
    assert_eq!(owner.take_text(2), Ok(String::new()));
    assert_eq!(reversed, [7; 20]);
}

#[test]
fn a_string_with_invalid_utf_8_is_refused() {
    let bytes = [0xff_u8, 0xfe];
    let mut view = TextView { data: bytes.as_ptr(), len: bytes.len() };
    let mut slots = [super::pointer_slot(&raw mut view), super::pointer_slot(std::ptr::null_mut::<u8>())];
    let buffer = BufferMut::over(&mut slots);
    // SAFETY: slot 0 points to a live view of two live bytes.
    let text = unsafe { buffer.text(0) };
    assert!(matches!(text, Err(CallError::Buffer { .. })), "{text:?}");
    check_error(buffer.pointer(1), "slot 1 holds a null pointer, the call expects an address");
}
