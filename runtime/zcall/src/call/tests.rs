//! Tests how safe host code accesses the slots of a call.
#![expect(unsafe_code, reason = "vouches for the slots of the tests")]

use alcedo_abi::kinds::PropertyKind;

use super::{Call, Callee, Resolved};
use crate::boundary::CallError;
use crate::explicit::Ex;
use crate::name::ZCallName;
use crate::owned::DynBuffer;
use crate::signature::{CallSignature, Kinds};

/// Runs `body` with a call of the signature `(String, i32) -> result`. The call has three slots.
fn check(
    result: Option<PropertyKind>,
    buffer: &mut DynBuffer<'_>,
    body: impl Fn(Call<'_>) -> Result<(), CallError> + 'static,
) -> Result<(), String> {
    let kinds = Kinds { arguments: Box::new([PropertyKind::STRING, PropertyKind::I32]), result };
    // SAFETY: the tests fill their three slots with these kinds.
    let signature = unsafe { CallSignature::new("String, i32 -> …".to_owned(), 0, ()).with_kinds(kinds) };
    let name = ZCallName::read("ex:/f", &Ex).expect("a name");
    let callee = Callee { name, function: Resolved::new(signature, body) };
    callee.function.dispatcher.call(Call::new(&callee, buffer.as_buffer_mut())).map_err(|error| error.to_string())
}

fn filled() -> DynBuffer<'static> {
    let mut buffer = DynBuffer::with_len(3);
    buffer.text_in(0, "grüße").expect("slot 0");
    buffer.set(1, 2_i32).expect("slot 1");
    buffer
}

#[test]
fn a_dispatcher_reads_arguments_and_writes_results_without_addresses() {
    let mut buffer = filled();
    buffer.text_out(2).expect("slot 2");
    let done = check(Some(PropertyKind::STRING), &mut buffer, |mut call| {
        let text = call.text(0)?.to_uppercase().repeat(call.argument::<i32>(1)?.unsigned_abs() as usize);
        call.set_text_result(&text)
    });
    assert_eq!((done, buffer.take_text(2)), (Ok(()), Ok("GRÜSSEGRÜSSE".to_owned())));
    let mut buffer = filled();
    let done = check(Some(PropertyKind::U64), &mut buffer, |mut call| call.set_result(call.text(0)?.len() as u64));
    assert_eq!((done, buffer.get::<u64>(2)), (Ok(()), Ok(7)));
}

#[test]
fn accesses_outside_the_signature_are_refused() {
    let refused = |result, body: fn(Call<'_>) -> Result<(), CallError>, expected: &str| {
        let mut buffer = filled();
        let error = check(result, &mut buffer, body).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    };
    let number = Some(PropertyKind::U64);
    refused(number, |call| call.text(1).map(drop), "the argument in slot 1 is of i32");
    refused(number, |call| call.argument::<u64>(0).map(drop), "the argument in slot 0 is of String");
    refused(number, |call| call.argument::<u64>(2).map(drop), "argument 2 does not exist");
    refused(number, |mut call| call.set_text_result("x"), "the result in slot 2 is of u64");
    // `set_result` must not overwrite the address of a sink, because the caller may dereference this address.
    refused(Some(PropertyKind::STRING), |mut call| call.set_result(7_u64), "the result in slot 2 is of String");
    // If the caller passes an object first, the buffer has an additional slot, and the string is not in slot 0.
    refused(None, |call| call.text(0).map(drop), "the buffer has 3 slots, the call expects 2");
}
