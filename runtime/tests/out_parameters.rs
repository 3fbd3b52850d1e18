//! Tests out parameters in calls by type and by name, in overrides of another module, and in calls from the host. A failed call must leave
//! the values unchanged.

use crate::support;

use alcedo_runtime::{CallError, Error, ObjectHandle, Runtime, Value};

const SPLITTER: &str = "/Script/Game.Splitter";
const MISER: &str = "/Script/Game.Miser";

fn host() -> Runtime {
    support::host(&[support::plugin("lamps", &[]), support::plugin("lamps-plus", &[])])
}

fn spawn(host: &Runtime, class: &str) -> ObjectHandle {
    host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"))
}

fn text(host: &Runtime, object: ObjectHandle, function: &str, arguments: &[Value]) -> String {
    match host.objects().call(object, function, arguments) {
        Ok(Some(Value::Text(text))) => text,
        other => panic!("{other:?}"),
    }
}

fn lines(values: &[&str]) -> Value {
    Value::Array(values.iter().map(|value| Value::Text((*value).to_owned())).collect())
}

#[test]
fn typed_and_named_calls_return_out_parameters() {
    let host = host();
    let splitter = spawn(&host, SPLITTER);
    assert_eq!(
        text(&host, splitter, "all", &[]),
        "3 1 0 [\"first\", \"17 among 5\", \"2 among 2\"] true true text! Some(2.5) true 3 true 3 me 0"
    );
    assert_eq!(text(&host, splitter, "wrong", &[]), "[true, true]");
}

#[test]
fn a_host_receives_out_parameters_only_from_successful_calls() {
    let host = host();
    let splitter = spawn(&host, SPLITTER);
    let split = |among| {
        let arguments = [Value::U32(17), Value::U32(among), lines(&["a"])];
        host.objects().call_with_out_parameters(splitter, "split", &arguments)
    };
    let (result, out_parameters) = split(5).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((result, out_parameters), (Some(Value::U32(3)), vec![Value::U32(2), lines(&["a", "17 among 5"])]));
    let failed = split(0).expect_err("among none");
    assert!(matches!(failed, Error::Call(CallError::Returned { .. })), "{failed}");
    let crashed = host.objects().call_with_out_parameters(splitter, "crash", &[Value::U32(1)]).expect_err("it panics");
    assert!(matches!(crashed, Error::Call(CallError::Panicked { .. })), "{crashed}");
    // A call by name returns only the result. The call must also drop the values in the out parameters.
    let name = "uf:/Script/Game.Splitter:split";
    let arguments = [Value::Object(splitter), Value::U32(9), Value::U32(2), lines(&["a"])];
    assert_eq!(host.calls().call(name, &arguments).unwrap_or_else(|error| panic!("{error}")), Some(Value::U32(4)));
    assert_eq!(host.calls().call("uf:/Script/Game.Splitter:twice", &[Value::F64(2.0)]).expect("permitted"), None);
}

#[test]
fn an_override_in_another_module_reads_and_writes_out_parameters() {
    let host = host();
    let (splitter, miser) = (spawn(&host, SPLITTER), spawn(&host, MISER));
    for turn in 0..3 {
        let query = |other| text(&host, miser, "query", &[Value::Object(other), Value::U32(11)]);
        assert_eq!(query(splitter), "3 2 [\"11 among 3\"]");
        assert_eq!(query(miser), "2 3 [\"11 among 4\", \"kept 2\"]");
        let modules = [support::plugin("lamps", &[]), support::plugin("lamps-plus", &[])];
        host.reload(&modules).unwrap_or_else(|error| panic!("{error}"));
        let later = host.objects().get(splitter, "splits").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(later, Value::U32(turn + 1));
    }
}

#[test]
fn a_host_function_registered_by_name_has_no_out_parameters() {
    let host = host();
    let signature = "u32, out f64 -> u32".parse().expect("a signature");
    let refused = host.calls().register("host.out", signature, |_: &Runtime, _: &[Value]| Ok(None));
    let message = refused.expect_err("it is refused").to_string();
    assert!(message.contains("(u32, out f64 -> u32): such a function returns all values as its result"), "{message}");
}
