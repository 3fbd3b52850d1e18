//! Tests all forms of functions: static functions, events that only scripts implement, and defaults for trailing parameters. Also tests the
//! flags and metadata of these functions in the host.

use crate::support;

use alcedo_runtime::kinds::{function_flags as f, property_flags as p};
use alcedo_runtime::{CallError, Error, ObjectHandle, Runtime, Value};

const BULB: &str = "/Script/Game.Bulb";

fn bulb_host() -> (Runtime, ObjectHandle) {
    let host = support::host(&[support::plugin("lamps", &[]), support::plugin("lamps-plus", &[])]);
    let bulb = host.objects().spawn(BULB).unwrap_or_else(|error| panic!("{error}"));
    (host, bulb)
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

#[test]
fn a_static_function_needs_no_object() {
    let (host, bulb) = bulb_host();
    let lumens = |factor| host.calls().call("uf:/Script/Game.Bulb:lumens", &[Value::U32(40), Value::F64(factor)]);
    assert_eq!(lumens(0.5).expect("permitted"), Some(Value::F64(20.0)));
    let error = lumens(-1.0).expect_err("it may not");
    assert!(
        matches!(&error, Error::Call(CallError::Returned { message, .. }) if message.starts_with("light")),
        "{error}"
    );
    let on_object = host.objects().call(bulb, "lumens", &[Value::U32(1), Value::F64(3.0)]);
    assert_eq!(on_object.expect("an object does no harm"), Some(Value::F64(3.0)));
    let all = host.objects().call(bulb, "all", &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(all, Some(text("400 2 6.5 2 0")));
    let twin = host.objects().spawn("/Script/Game.TwinLamp").unwrap_or_else(|error| panic!("{error}"));
    for _ in 0..2 {
        let of = host.objects().call(twin, "lumens_of", &[Value::Object(bulb), Value::U32(4)]);
        assert_eq!(of.unwrap_or_else(|error| panic!("{error}")), Some(Value::F64(10.0)));
        host.reload(&[support::plugin("lamps", &[]), support::plugin("lamps-plus", &[])])
            .unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_static_function_is_called_by_name_with_or_without_an_object() {
    let (host, bulb) = bulb_host();
    let lumens = |objects: usize| {
        let arguments = [vec![Value::Object(bulb); objects], vec![Value::U32(40), Value::F64(0.5)]].concat();
        host.calls().call("uf:/Script/Game.Bulb:lumens", &arguments)
    };
    for objects in [0, 1] {
        assert_eq!(lumens(objects).expect("an object does no harm"), Some(Value::F64(20.0)));
    }
    let error = lumens(2).expect_err("one object at most");
    assert!(matches!(error, Error::Call(CallError::Buffer { .. })), "{error}");
    // A plugin calls the function by its method, and by name with and without static types.
    let twin = host.objects().spawn("/Script/Game.TwinLamp").unwrap_or_else(|error| panic!("{error}"));
    let of = host.objects().call(twin, "lumens_of", &[Value::Object(bulb), Value::U32(4)]);
    assert_eq!(of.unwrap_or_else(|error| panic!("{error}")), Some(Value::F64(10.0)));
}

#[test]
fn the_last_arguments_may_be_left_out_where_they_have_defaults() {
    let (host, bulb) = bulb_host();
    let blink = |arguments: &[Value]| host.objects().call(bulb, "blink", arguments);
    assert_eq!(blink(&[text("red")]).expect("permitted"), Some(text("red 3 softly")));
    assert_eq!(blink(&[text("red"), Value::U32(0)]).expect("permitted"), Some(text("red 0 softly")));
    assert_eq!(blink(&[text("red"), Value::U32(1), text("")]).expect("permitted"), Some(text("red 1 ")));
    for arguments in [&[][..], &[text("a"), Value::U32(1), text("b"), text("c")]] {
        let error = blink(arguments).expect_err("the first has no default, and a fourth there is not");
        assert!(matches!(error, Error::Call(CallError::Signature { .. })), "{error}");
    }
    assert_eq!(host.objects().call(bulb, "warm", &[]).expect("permitted"), Some(Value::F64(1.0)));
    assert_eq!(host.objects().call(bulb, "reported", &[]).expect("permitted"), Some(Value::U32(3)));
}

#[test]
fn an_event_without_a_body_returns_the_zero_value() {
    let (host, bulb) = bulb_host();
    let inspected = host.objects().call(bulb, "inspected", &[text("somebody")]);
    assert_eq!(inspected.expect("it does nothing"), Some(Value::U32(0)));
}

#[test]
fn a_host_has_the_flags_and_the_metadata_that_the_author_wrote() {
    let (host, _) = bulb_host();
    let flags = |member: &str| host.types().member_flags(&format!("{BULB}:{member}"));
    assert_eq!(flags("watts"), Some(p::BLUEPRINT_READ | p::BLUEPRINT_WRITE | p::SAVE_GAME));
    assert_eq!(flags("lumens"), Some(f::PURE | f::STATIC | f::FALLIBLE));
    assert_eq!(flags("sum"), Some(f::STATIC));
    assert_eq!(flags("blink"), Some(f::CALLABLE));
    assert_eq!(flags("warm"), Some(f::NATIVE_EVENT | f::CONST));
    assert_eq!(flags("inspected"), Some(f::IMPLEMENTABLE_EVENT | f::CALLABLE));
    assert_eq!(flags("all"), Some(f::FALLIBLE | f::CONST));
    assert_eq!(flags("nothing"), None);
    let meta = |member: &str, key: &str| host.types().member_meta(&format!("{BULB}:{member}"), key);
    let found = [
        meta("watts", "category"),
        meta("watts", "clamp_min"),
        meta("watts", "units"),
        meta("lumens", "display_name"),
        meta("lumens", "keywords"),
        meta("blink", "category"),
        meta("nothing", "category"),
    ];
    let expected = [Some("Power"), Some("0"), Some("W"), Some("Lumens of watts"), Some("light bright"), None, None];
    assert_eq!(found, expected.map(|value| value.map(str::to_owned)));
}
