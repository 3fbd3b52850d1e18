//! Tests how the owner of a buffer accesses its slots.
#![expect(unsafe_code, reason = "vouches for an address")]

use super::DynBuffer;
use crate::boundary::CallError;

#[test]
fn a_slot_can_be_refilled_with_another_kind() {
    let mut buffer = DynBuffer::with_len(1);
    buffer.text_in(0, "text").expect("slot 0");
    assert!(buffer.as_buffer_mut().pointer(0).is_ok());
    buffer.set(0, 5_u16).expect("slot 0");
    assert_eq!(buffer.as_buffer_mut().get::<u16>(0), Ok(5));
}

#[test]
fn a_missing_slot_is_refused_by_every_verb() {
    let mut buffer = DynBuffer::with_len(0);
    let errors = [
        buffer.set(0, 1_u8).err(),
        buffer.text_in(0, "x").err(),
        buffer.text_out(0).err(),
        // SAFETY: the buffer has no slots, so the address is never dereferenced.
        unsafe { buffer.value_at(0, std::ptr::dangling_mut()) }.err(),
        buffer.take_text(0).err(),
        buffer.get::<u8>(0).err(),
    ];
    for error in errors {
        let message = "slot 0 does not exist, the buffer has 0".to_owned();
        assert_eq!(error, Some(CallError::Buffer { message }));
    }
    assert!(buffer.as_buffer_mut().is_empty());
}

#[test]
fn a_string_is_accepted_only_in_a_slot_that_waits_for_it() {
    let mut buffer = DynBuffer::with_len(3);
    buffer.text_in(0, "in").expect("slot 0");
    buffer.text_out(1).expect("slot 1");
    assert!(buffer.take_text(0).is_err());
    assert_eq!(buffer.take_text(1), Ok(String::new()));
    assert!(buffer.take_text(2).is_err());
}
