//! Tests functions that return errors. A returned error crosses the ABI boundary with its own error kind, message and call site. The tests
//! cover calls in every direction and by every protocol. A panic is still reported as a panic.

use crate::support;

use alcedo_runtime::{CallError, Error, ObjectHandle, Runtime, Value};

const LAMP: &str = "/Script/Game.Lamp";
const TWIN: &str = "/Script/Game.TwinLamp";

fn lamp_host() -> Runtime {
    let host = support::host(&[support::plugin("lamps", &[]), support::plugin("lamps-plus", &[])]);
    let even = |_: &Runtime, values: &[Value]| match values {
        [Value::U32(number)] if number % 2 == 0 => Ok(Some(Value::U32(*number))),
        [Value::U32(number)] => Err(CallError::returned(format_args!("{number} is not even"))),
        _ => Ok(None),
    };
    host.calls().register("host.even", "u32 -> u32".parse().expect("a signature"), even).expect("the name is free");
    host
}

fn spawn(host: &Runtime, class: &str) -> ObjectHandle {
    host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the message of an error that a function returned. Also returns the end of the error's location, without the column.
fn returned(result: Result<Option<Value>, Error>) -> (String, String) {
    match result {
        Err(Error::Call(CallError::Returned { message, place: Some(place) })) => {
            (message, format!("{}:{}", place.file, place.line))
        }
        other => panic!("{other:?}"),
    }
}

fn text(host: &Runtime, object: ObjectHandle, function: &str, arguments: &[Value]) -> String {
    match host.objects().call(object, function, arguments) {
        Ok(Some(Value::Text(text))) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_host_receives_a_returned_error_with_the_functions_location() {
    let host = lamp_host();
    let lamp = spawn(&host, LAMP);
    let flicker = |times| host.objects().call(lamp, "flicker", &[Value::U32(times)]);
    assert_eq!(flicker(4).expect("permitted"), Some(Value::U32(4)));
    let (message, location) = returned(flicker(11));
    assert_eq!(message, "11 times are too often");
    assert!(location.ends_with(&support::line_of("lamps", "fn flicker(&self")), "{location}");
    // The failed call has not changed the lamp, and the next call works.
    assert_eq!(flicker(1).expect("permitted"), Some(Value::U32(5)));

    assert_eq!(host.objects().call(lamp, "dim", &[Value::F64(0.5)]).expect("permitted"), None);
    let (message, location) = returned(host.objects().call(lamp, "dim", &[Value::F64(-1.0)]));
    assert_eq!(message, "a lamp gets darker by a positive number");
    assert!(location.ends_with(&support::line_of("lamps", "fn dim(")), "{location}");
    let (message, _) = returned(host.objects().call(lamp, "label", &[Value::Text(String::new())]));
    assert_eq!(message, std::fmt::Error.to_string());
    let (_, location) = returned(host.objects().call(lamp, "exact", &[]));
    assert!(location.ends_with(&support::line_of("lamps", "// the exact line")), "{location}");
    let error = host.objects().call(lamp, "flicker", &[Value::U32(12)]).expect_err("it is too often").to_string();
    assert!(error.starts_with("returned the error \"12 times are too often\" at "), "{error}");
}

#[test]
fn a_panic_differs_from_a_returned_error() {
    let host = lamp_host();
    let lamp = spawn(&host, LAMP);
    let crashed = host.objects().call(lamp, "crash", &[]).expect_err("it panics");
    assert!(matches!(crashed, Error::Call(CallError::Panicked { .. })), "{crashed}");
    assert!(text(&host, lamp, "judge", &[Value::Text("crash".into())]).starts_with("went wrong: panicked"));
    assert_eq!(text(&host, lamp, "judge", &[Value::Text("exact".into())]), "an error: here");
    // If the `Display` of a returned error panics, the call reports the panic instead of the error.
    let mute = host.objects().call(lamp, "mute", &[]).expect_err("it panics");
    assert!(matches!(&mute, Error::Call(CallError::Panicked { message, .. }) if message == "no words"), "{mute}");
    assert_eq!(host.objects().call(lamp, "flickers", &[]).expect("it is whole"), Some(Value::U32(0)));
}

#[test]
fn named_delegate_and_host_calls_return_equal_errors() {
    let host = lamp_host();
    let lamp = spawn(&host, LAMP);
    assert_eq!(host.calls().call("ex:/lamps.half", &[Value::U32(8)]).expect("it is even"), Some(Value::U32(4)));
    let (message, location) = returned(host.calls().call("ex:/lamps.half", &[Value::U32(7)]));
    assert_eq!(message, "7 is odd");
    assert!(location.ends_with(&support::line_of("lamps", "fn half(")), "{location}");
    for protocol in ["uf:", "uf!:"] {
        let name = format!("{protocol}/Script/Game.Lamp:flicker");
        let called = host.calls().call(&name, &[Value::Object(lamp), Value::U32(20)]);
        assert_eq!(returned(called).0, "20 times are too often");
    }
    host.objects().call(lamp, "bind_own", &[]).expect("permitted");
    assert_eq!(text(&host, lamp, "call_before", &[Value::U32(2)]), "2");
    assert_eq!(text(&host, lamp, "call_before", &[Value::U32(30)]), "an error: 30 times are too often");

    let even = |number| text(&host, lamp, "call_host", &[Value::Text("ex:/host.even".into()), Value::U32(number)]);
    assert_eq!(even(6), "6");
    assert_eq!(even(5), "an error: 5 is not even");
}

#[test]
fn an_override_in_another_module_returns_its_own_errors() {
    let host = lamp_host();
    let (lamp, twin) = (spawn(&host, LAMP), spawn(&host, TWIN));
    assert_eq!(host.objects().call(twin, "flicker", &[Value::U32(3)]).expect("permitted"), Some(Value::U32(6)));
    // The override converts an error of the base function into a value.
    assert_eq!(host.objects().call(twin, "flicker", &[Value::U32(9)]).expect("permitted"), Some(Value::U32(0)));
    let (message, location) = returned(host.objects().call(twin, "flicker", &[Value::U32(1000)]));
    assert!(message.contains("out of range"), "{message}");
    assert!(location.contains("lamps-plus"), "{location}");

    let dim = |by| text(&host, twin, "dim_other", &[Value::Object(lamp), Value::F64(by)]);
    assert_eq!([dim(0.25), dim(-1.0)], ["darker", "an error: a lamp gets darker by a positive number"]);
    host.objects().destroy(lamp);
    assert_eq!(dim(1.0), "gone");
}

#[test]
fn an_error_passes_through_calls_that_call_back() {
    let host = lamp_host();
    let (one, other) = (spawn(&host, LAMP), spawn(&host, TWIN));
    let pass_on = |to, times| host.objects().call(one, "pass_on", &[Value::Object(to), Value::U32(times)]);
    assert_eq!(returned(pass_on(one, 11)).0, "11 times are too often");
    assert_eq!(pass_on(one, 1).expect("permitted"), Some(Value::U32(1)));
    let back = |times| host.objects().call(one, "there_and_back", &[Value::Object(other), Value::U32(times)]);
    assert_eq!(back(2).expect("permitted"), Some(Value::U32(3)));
    let (message, location) = returned(back(99));
    assert_eq!(message, "99 times are too often");
    assert!(location.ends_with(&support::line_of("lamps", "fn flicker(&self")), "{location}");
    // The borrow of the plugin part ends before the error message is formatted, so the error's `Display` may call the object.
    assert_eq!(returned(host.objects().call(one, "curious", &[])).0, "curious: 4");
    assert_eq!(host.objects().call(one, "flickers", &[]).expect("it is whole"), Some(Value::U32(4)));
}

#[test]
fn an_error_is_reported_alike_in_every_generation() {
    let host = lamp_host();
    let lamp = spawn(&host, TWIN);
    for _ in 0..2 {
        host.reload(&[support::plugin("lamps", &[]), support::plugin("lamps-plus", &[])])
            .unwrap_or_else(|error| panic!("{error}"));
        let (_, location) = returned(host.objects().call(lamp, "flicker", &[Value::U32(500)]));
        assert!(location.contains("lamps-plus"), "{location}");
    }
}
