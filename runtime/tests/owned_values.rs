//! Tests values that a real plugin owns in host memory. The plugin releases them on the game thread and on other threads. The values
//! survive a rollback. A reload or an unload destroys them.

use crate::support;

use std::fs::write;
use std::path::PathBuf;
use std::time::Duration;

use alcedo_runtime::zcall::{Answer, Call, PlainProtocol, Resolved, ZCallName};
use alcedo_runtime::{AnyConjugate, CallError, LeaseKind, ObjectHandle, Runtime, Signature, Value};
use expect_test::expect;

const CAVE: &str = "/Script/Game.Cave";

type Body = Box<dyn Fn(&Runtime, &[Value]) -> Result<Option<Value>, CallError>>;

const LONG: Duration = Duration::from_secs(60);

fn hoard(features: &[&str]) -> PathBuf {
    support::plugin("hoard", features)
}

fn host() -> Runtime {
    support::host(&[hoard(&[])])
}

fn spawn(host: &Runtime, class: &str) -> ObjectHandle {
    host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"))
}

fn query(host: &Runtime, object: ObjectHandle, function: &str, arguments: &[Value]) -> Option<Value> {
    host.objects().call(object, function, arguments).unwrap_or_else(|error| panic!("{function}: {error}"))
}

/// Spawns a cave that owns `count` values of each of three kinds.
fn cave(host: &Runtime, count: u32) -> ObjectHandle {
    let cave = spawn(host, CAVE);
    query(host, cave, "gather", &[Value::U32(count)]);
    cave
}

fn until_flushed(host: &Runtime) {
    support::until("all that was dropped is released", || {
        host.safe_point();
        host.conjugates().owned_values().queued == 0
    });
}

/// Returns the number of live owned values of each type.
fn counts(host: &Runtime) -> Vec<(String, u64)> {
    host.conjugates().owned_values().live.into_iter().map(|count| (count.ty, count.count)).collect()
}

#[test]
fn owned_values_are_counted_by_type_and_released() {
    let host = host();
    let cave = cave(&host, 10);
    let ten = |ty: &str| (ty.to_owned(), 10);
    assert_eq!(counts(&host), [ten("Array(f64)"), ten("Map(String, u32)"), ten("String")]);
    let leases: Vec<_> = host
        .unloads()
        .leases()
        .into_iter()
        .map(|lease| (lease.module, lease.blocker.kind, lease.blocker.owner))
        .collect();
    assert!(leases.contains(&("hoard".to_owned(), LeaseKind::Black, "Array(f64)".to_owned())), "{leases:?}");
    query(&host, cave, "let_go", &[]);
    assert_eq!(
        (host.conjugates().owned_values().count(), host.conjugates().owned_values().queued, host.unloads().leases()),
        (0, 0, Vec::new())
    );
}

#[test]
fn values_dropped_on_eight_threads_are_released_at_safe_points() {
    let host = host();
    let cave = cave(&host, 400);
    query(&host, cave, "scatter", &[Value::U32(8)]);
    assert_eq!((host.conjugates().owned_values().count(), host.conjugates().owned_values().queued), (1200, 1200));
    until_flushed(&host);
    assert_eq!(host.conjugates().owned_values().count(), 0);
}

#[test]
fn a_rollback_restores_owned_values() {
    let host = host();
    let cave = cave(&host, 10);
    let worth = query(&host, cave, "worth", &[]);
    assert!(matches!(worth, Some(Value::F64(worth)) if worth > 0.0), "{worth:?}");
    for _attempt in 0..3 {
        let report = host.reload(&[hoard(&["failing"])]).unwrap_or_else(|error| panic!("{error}"));
        assert!(!report.is_committed(), "{report}");
        assert_eq!(query(&host, cave, "worth", &[]), worth);
    }
    assert_eq!(host.conjugates().owned_values().count(), 30);
    query(&host, cave, "scatter", &[Value::U32(8)]);
    let report = host.reload(&[hoard(&["failing"])]).unwrap_or_else(|error| panic!("{error}"));
    assert!(!report.is_committed(), "{report}");
    until_flushed(&host);
    assert_eq!(host.conjugates().owned_values().count(), 0, "released values are not restored");
}

#[test]
fn a_reload_frees_only_owned_values_of_the_old_generation() {
    let host = host();
    let cave = cave(&host, 10);
    for (build, features) in [(2, &["second"] as &[_]), (1, &[])] {
        let report = host.reload(&[hoard(features)]).unwrap_or_else(|error| panic!("{error}"));
        assert!(report.is_committed(), "{report}");
        assert_eq!(query(&host, cave, "build", &[]), Some(Value::U32(build)));
        assert_eq!(host.conjugates().owned_values().count(), 0);
        let worth = query(&host, cave, "worth", &[]);
        assert!(matches!(worth, Some(Value::F64(worth)) if worth == 0.0), "{worth:?}");
        query(&host, cave, "gather", &[Value::U32(5)]);
        assert_eq!(host.conjugates().owned_values().count(), 15);
    }
    assert!(host.unloads().wait(LONG).expect("a safe point"));
    assert_eq!(host.conjugates().owned_values().undropped, [], "finalizers drop all values");
    let end = host.shutdown();
    assert_eq!((end.owned_values.len(), end.plugin_parts, end.left), (0, 0, Vec::new()));
}

#[test]
fn an_unload_frees_all_values_and_reports_those_never_dropped() {
    let host = host();
    let cave = cave(&host, 10);
    host.console("blacks sites on");
    query(&host, cave, "gather", &[Value::U32(1)]);
    query(&host, cave, "forget", &[]);
    query(&host, cave, "scatter", &[Value::U32(2)]);
    assert_eq!(host.conjugates().owned_values().count(), 33, "no value was released yet");
    let output = host.console("blacks");
    assert!(output.contains("33 black conjugates · 32 drops wait") && output.contains("src/lib.rs:"), "{output}");
    host.unload_master().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        (host.conjugates().owned_values().count(), host.conjugates().owned_values().queued),
        (0, 0),
        "an unload flushes all"
    );
    assert!(host.unloads().wait(LONG).expect("a safe point"));
    let end = host.shutdown();
    let owned_values: Vec<_> =
        end.owned_values.iter().map(|left| (left.module.as_str(), left.ty.as_str(), left.count)).collect();
    assert_eq!((owned_values, end.left), (vec![("hoard", "String", 1)], Vec::<String>::new()));
}

#[test]
fn a_thread_may_drop_values_after_its_generation_ended() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("now");
    let host = support::builder().unloads(|policy| policy.grace = Duration::ZERO).build().expect("a host");
    host.create_master(&[hoard(&[])]).unwrap_or_else(|error| panic!("{error}"));
    let cave = cave(&host, 10);
    query(&host, cave, "hide", &[Value::Text(file.display().to_string())]);
    host.unload_master().unwrap_or_else(|error| panic!("{error}"));
    let undropped = || host.conjugates().owned_values().undropped.iter().map(|left| left.count).sum::<u64>();
    support::until("the finalizers have run", || {
        host.safe_point();
        host.conjugates().owned_values().count() == 0
    });
    assert_eq!(undropped(), 30, "they have ended with their generation");
    write(&file, "").expect("a writable folder");
    assert!(host.unloads().wait(LONG).expect("a safe point"));
    assert_eq!(
        (host.conjugates().owned_values().count(), undropped()),
        (0, 0),
        "drops of the thread have no further effect"
    );
    assert_eq!(host.shutdown().owned_values, []);
}

#[test]
fn objects_referenced_by_an_owned_value_are_not_collected() {
    let host = host();
    let knowing = spawn(&host, CAVE);
    // An outer object does not keep its inner objects alive.
    let known = host.objects().spawn_in(CAVE, knowing).unwrap_or_else(|error| panic!("{error}"));
    query(&host, knowing, "keep_alive", &[Value::Object(known)]);
    host.collection().collect().expect("a safe point");
    assert!(host.objects().is_alive(known));
    query(&host, knowing, "let_go", &[]);
    host.collection().collect().expect("a safe point");
    assert!(!host.objects().is_alive(known));
}

/// A function of the host writes to the owned string that a plugin has passed, and then returns the argument.
#[test]
fn a_string_argument_is_unchanged_although_its_value_is_written_during_the_call() {
    let host = host();
    let signature: Signature = "String, u64 -> String".parse().expect("a signature");
    let weak = host.downgrade();
    let letters = move |_name: &ZCallName| {
        let weak = weak.clone();
        Ok(Answer::Function(Resolved::new(signature.clone(), move |mut call: Call<'_>| {
            let text = call.text(0)?;
            let value = AnyConjugate::from_number(call.argument(1)?);
            let host = weak.upgrade().expect("it is there");
            host.conjugates().write(value, &Value::Text("later".to_owned())).expect("a string");
            let text = text.to_owned();
            call.set_text_result(&text)
        })))
    };
    host.calls().add_protocol(PlainProtocol::new("post")).expect("it is free");
    host.calls().add_resolver("post", 0, "letters", letters).expect("there is the protocol");
    let fence = spawn(&host, "/Script/Game.Fence");
    assert_eq!(answer_of(&host, fence, "send"), "early");
}

/// Returns a host with functions that borrow and sum values. Also returns a dealer, an object that passes values without their type.
fn fence() -> (Runtime, ObjectHandle) {
    let host = host();
    let numbers = |value: &Value| match value {
        Value::Array(values) => {
            values.iter().map(|value| if let Value::F64(value) = value { *value } else { f64::NAN }).collect()
        }
        other => panic!("an array, not {other:?}"),
    };
    let numbers: fn(&Value) -> Vec<f64> = numbers;
    let register = |name: &str, signature: &str, body: Body| {
        let signature = signature.parse().unwrap_or_else(|error| panic!("{error}"));
        host.calls()
            .register(name, signature, move |host, values| body(host, values))
            .unwrap_or_else(|error| panic!("{error}"));
    };
    let lend = |host: &Runtime, values: &[Value]| {
        let [Value::Object(owner)] = values else { panic!("an object, not {values:?}") };
        let borrowed = host.conjugates().borrow(*owner, "goods").unwrap_or_else(|error| panic!("{error}"));
        Some(Value::U64(borrowed.number()))
    };
    register("lend", "Object(/Script/Core.Object) -> u64", Box::new(move |host, values| Ok(lend(host, values))));
    register(
        "find",
        "Object(/Script/Core.Object) -> Object(/Script/Core.Object)",
        Box::new(|_, values| Ok(values.first().cloned())),
    );
    register(
        "sum",
        "Array(f64) -> f64",
        Box::new(move |_, values| Ok(Some(Value::F64(numbers(&values[0]).iter().sum())))),
    );
    let scale = move |values: &[Value]| {
        let [array, Value::F64(times)] = values else { panic!("an array and a number, not {values:?}") };
        Some(Value::Array(numbers(array).iter().map(|value| Value::F64(value * times)).collect()))
    };
    register("scale", "Array(f64), f64 -> Array(f64)", Box::new(move |_, values| Ok(scale(values))));
    let fence = spawn(&host, "/Script/Game.Fence");
    let goods = Value::Array(vec![Value::F64(1.0), Value::F64(2.0)]);
    host.objects().set(fence, "goods", &goods).unwrap_or_else(|error| panic!("{error}"));
    (host, fence)
}

fn answer_of(host: &Runtime, object: ObjectHandle, function: &str) -> String {
    match query(host, object, function, &[]) {
        Some(Value::Text(text)) => text,
        other => panic!("`{function}` returns a string, not {other:?}"),
    }
}

#[test]
fn a_conjugate_borrowed_by_number_expires_with_the_call_unlike_its_copy() {
    let (host, fence) = fence();
    expect!["red Array false Array(f64) (1, 2); true Array(f64) is no Array(f32); (1, 2, 8)"]
        .assert_eq(&answer_of(&host, fence, "borrow"));
    assert_eq!(host.conjugates().owned_values().count(), 1, "the copy");
    expect!["red Array true gone; black Array false Array(f64) (1, 2, 8)"]
        .assert_eq(&answer_of(&host, fence, "describe"));
    expect!["[true, true, true, true] red Array true"].assert_eq(&answer_of(&host, fence, "misuse"));
    for _ in 0..3 {
        query(&host, fence, "borrow", &[]);
    }
    assert_eq!(host.conjugates().owned_values().count(), 1, "each copy replaced the previous one");
    query(&host, fence, "let_go", &[]);
    assert_eq!(
        (host.conjugates().owned_values().count(), host.conjugates().owned_values().queued),
        (1, 1),
        "it was dropped on another thread"
    );
    until_flushed(&host);
    assert_eq!(host.conjugates().owned_values().count(), 0);
    assert_eq!(answer_of(&host, fence, "describe"), "nothing; nothing");
    drop(host.shutdown());
}

#[test]
fn untyped_calls_accept_conjugates_and_return_values_owned_by_the_caller() {
    let (host, fence) = fence();
    answer_of(&host, fence, "borrow");
    expect![[r#"
        11 11 true (2, 4, 16)
        `ex:/sum`: slot 0 holds a conjugate of String, the call expects Array(f64)
        ex:/sum has the signature (… -> f64), the caller was built for (… -> a value that has a conjugate): rebuild or correct the caller
        ex:/scale has the signature (… -> Array), the caller was built for (… -> f64): rebuild or correct the caller
        ex:/scale has the signature (… -> Array), the caller was built for (… -> nothing): rebuild or correct the caller
        ex:/find has the signature (… -> Object), the caller was built for (… -> a value that has a conjugate): rebuild or correct the caller
        a black String of another module: open a `clone()` of it
        a String that is not a property cannot be lent: pass an owned copy, from `to_owned()`"#]].assert_eq(&answer_of(&host, fence, "trade"));
    assert_eq!(counts(&host), [("Array(f64)".to_owned(), 1)], "values that were not kept are dropped despite failures");
    query(&host, fence, "let_go", &[]);
    until_flushed(&host);
    assert_eq!((host.conjugates().owned_values().count(), host.conjugates().owned_values().queued), (0, 0));
    drop(host.shutdown());
}

#[test]
fn a_shutdown_reports_values_never_dropped() {
    let host = host();
    let cave = cave(&host, 4);
    query(&host, cave, "forget", &[]);
    let kept = host
        .conjugates()
        .make("Array(f64)", &Value::Array(vec![Value::F64(1.0)]))
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(host.conjugates().read(kept).ok(), Some(Value::Array(vec![Value::F64(1.0)])));
    let end = host.shutdown();
    let mut owned_values: Vec<_> =
        end.owned_values.iter().map(|left| (left.module.as_str(), left.ty.as_str(), left.count)).collect();
    owned_values.sort_unstable();
    assert_eq!(owned_values, [("hoard", "String", 1), ("host", "Array(f64)", 1)]);
    assert_eq!((end.plugin_parts, end.leases.len(), end.objects), (0, 0, 0));
    assert!(end.to_string().contains("2 black conjugates never dropped"), "{end}");
    assert_eq!(end.left, Vec::<String>::new());
}
