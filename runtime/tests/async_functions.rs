//! Tests `async` functions of a real plugin. Each call starts a task that belongs to the called object. The task passes its result or error
//! to the delegate `done`, if `done` is bound. The destruction of the object, a panic or a reload ends the task.

use crate::support;
use crate::tasks::{ROBOT, assert_log, chores, playing, tick};

use alcedo_runtime::{Binding, ObjectHandle, Runtime, Value};
use expect_test::expect;

fn begin(host: &Runtime, robot: ObjectHandle, function: &str, arguments: &[Value]) {
    let returned =
        host.objects().call(robot, function, arguments).unwrap_or_else(|error| panic!("{function}: {error}"));
    assert_eq!(returned, None, "{function}: the result comes later");
}

fn bound(host: &Runtime, object: ObjectHandle, function: &str) -> Value {
    Value::Delegate(Binding { object, function: host.intern(function) })
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn a_borrowing_method_starts_async_calls_and_their_delegates_receive_the_results() {
    let (record, host, robot) = playing("chores");
    begin(&host, robot, "begin_all", &[]);
    assert_log(
        &record,
        &expect![[r#"
        all have begun (build 0)
    "#]],
    );
    for _ in 0..4 {
        tick(&host, 50);
    }
    assert_log(
        &record,
        &expect![[r#"
        Robot_1 has slept (build 0)
        rested (build 0)
        unlocked, error "" (build 0)
        unlocked, error "key 8 does not fit" (build 0)
        Robot_1 has slept (build 0)
        counted 2 (build 0)
        brought "Robot_1 brought tea to the roof", error "" (build 0)
        brought "", error "no way to nowhere" (build 0)
        Robot_1 has slept (build 0)
    "#]],
    );
    assert_eq!(host.jobs(), [], "none is left");
}

#[test]
fn a_host_starts_async_calls_with_and_without_a_delegate() {
    let (record, host, robot) = playing("chores");
    let other = host.objects().spawn(ROBOT).expect("spawned");
    begin(&host, robot, "count", &[Value::U32(2), bound(&host, other, "counted")]);
    begin(&host, robot, "bring", &[text("tea"), text("the roof"), bound(&host, other, "brought")]);
    let none = bound(&host, ObjectHandle::NONE, "");
    begin(&host, robot, "bring", &[text("tea"), text("nowhere"), none.clone()]);
    begin(&host, robot, "nap", &[none]);
    for _ in 0..4 {
        tick(&host, 50);
    }
    assert_log(
        &record,
        &expect![[r#"
        Robot_1 has slept (build 0)
        counted 2 (build 0)
        brought "Robot_1 brought tea to the roof", error "" (build 0)
    "#]],
    );
    assert_eq!(host.objects().get(robot, "beats").expect("it has it"), Value::I32(2));
    assert_eq!(host.jobs(), []);
}

#[test]
fn the_class_declares_the_parameter_that_receives_the_result() {
    let (_record, host, _robot) = playing("chores");
    let declared = host.types().declared_by("chores").expect("it is loaded");
    let robot = declared.classes.iter().find(|class| class.path == ROBOT).expect("it is emitted");
    let described = |name: &str| {
        let function = robot.functions.iter().find(|function| function.name == name).expect("it is there");
        let params: Vec<_> = function.params.iter().map(|param| format!("{}: {}", param.name, param.ty)).collect();
        let latent = host.types().member_meta(&format!("{ROBOT}:{name}"), "latent");
        format!("{name}({}) latent {latent:?}\n", params.join(", "))
    };
    let all = ["count", "bring", "nap", "unlock", "counted"].map(described).concat();
    expect![[r#"
        count(beats: u32, done: Delegate(i32)) latent Some("done")
        bring(what: String, to: String, done: Delegate(String, String)) latent Some("done")
        nap(done: Delegate()) latent Some("done")
        unlock(key: u32, done: Delegate(String)) latent Some("done")
        counted(value: i32) latent None
    "#]]
    .assert_eq(&all);
}

#[test]
fn destroying_the_object_ends_async_calls_without_calling_listeners() {
    let (record, host, robot) = playing("chores");
    let other = host.objects().spawn(ROBOT).expect("spawned");
    begin(&host, robot, "count", &[Value::U32(5), bound(&host, other, "counted")]);
    tick(&host, 10);
    host.objects().destroy(robot);
    for _ in 0..6 {
        tick(&host, 10);
    }
    assert_log(&record, &expect![[""]]);
    assert_eq!(host.jobs(), []);
}

#[test]
fn a_destroyed_listener_is_only_logged_as_an_error() {
    let (record, host, robot) = playing("chores");
    let other = host.objects().spawn(ROBOT).expect("spawned");
    begin(&host, robot, "count", &[Value::U32(1), bound(&host, other, "counted")]);
    host.objects().destroy(other);
    for _ in 0..3 {
        tick(&host, 10);
    }
    assert_log(&record, &expect![[""]]);
    assert_eq!(host.objects().get(robot, "beats").expect("it has it"), Value::I32(1));
}

#[test]
fn a_failure_whose_listener_is_destroyed_is_logged() {
    let (record, host, robot) = playing("alcedo_runtime::bridge::tasks");
    let other = host.objects().spawn(ROBOT).expect("spawned");
    begin(&host, robot, "bring", &[text("tea"), text("nowhere"), bound(&host, other, "brought")]);
    host.objects().destroy(other);
    tick(&host, 10);
    tick(&host, 200);
    let lines = record.take();
    assert!(lines.contains("returned the error \"no way to nowhere\""), "{lines}");
    assert_eq!(host.jobs(), []);
}

#[test]
fn a_task_that_destroys_its_object_fails_only_with_its_own_error() {
    let (record, host, robot) = playing("alcedo_runtime::bridge::tasks");
    let other = host.objects().spawn(ROBOT).expect("spawned");
    let listener = host.objects().spawn(ROBOT).expect("spawned");
    for (robot, what) in [(robot, "tea"), (other, "")] {
        begin(&host, robot, "bring", &[text(what), text("the void"), bound(&host, listener, "brought")]);
    }
    tick(&host, 10);
    tick(&host, 200);
    expect![[r#"
        a task of chores from chores/src/lib.rs:353 failed and ends  error=returned the error "tea is lost" at chores/src/lib.rs:353:14
    "#]]
    .assert_eq(&record.take());
    assert_eq!(host.jobs(), []);
}

#[test]
fn a_failure_without_a_listener_is_logged() {
    let (record, host, robot) = playing("alcedo_runtime::bridge::tasks");
    let other = host.objects().spawn(ROBOT).expect("spawned");
    let none = bound(&host, ObjectHandle::NONE, "");
    begin(&host, robot, "bring", &[text("tea"), text("nowhere"), none.clone()]);
    begin(&host, robot, "bring", &[text("tea"), text("the edge"), none]);
    // A delegate value has no signature. A call through the delegate therefore checks the parameters of the bound function.
    begin(&host, robot, "count", &[Value::U32(1), bound(&host, other, "brought")]);
    begin(&host, robot, "count", &[Value::U32(1), bound(&host, other, "sleepwalk")]);
    begin(&host, robot, "count", &[Value::U32(2), bound(&host, other, "counted")]);
    tick(&host, 10);
    tick(&host, 10);
    host.objects().destroy(other);
    tick(&host, 10);
    tick(&host, 200);
    expect![[r#"
        a task of chores from chores/src/lib.rs:337 failed and ends  error=a delegate (i32) does not resolve: Game.Robot:brought is (String, String) now, not (i32): bind it first
        a task of chores from chores/src/lib.rs:337 failed and ends  error=a delegate (i32) does not resolve: Game.Robot no longer has a function sleepwalk: bind it first
        a task of chores from chores/src/lib.rs:337 failed and ends  error=a delegate (i32) is bound to a destroyed object: bind it first
        a task of chores from chores/src/lib.rs:353 failed and ends  error=returned the error "no way to nowhere" at chores/src/lib.rs:353:14
        a task of chores from chores/src/lib.rs:353 failed and ends  error=panicked: "broken on purpose: async function" at chores/src/lib.rs:357:27
    "#]].assert_eq(&record.take());
    assert_eq!(host.jobs(), []);
}

#[test]
fn a_successful_reload_ends_async_calls_and_a_failed_one_does_not() {
    let (record, host, robot) = playing("chores");
    begin(&host, robot, "count", &[Value::U32(3), bound(&host, robot, "counted")]);
    tick(&host, 10);
    let report = host.reload(&[chores(&["panic-in-main"])]).expect("a Master");
    assert!(!report.is_committed(), "{report}");
    record.take();
    for _ in 0..3 {
        tick(&host, 10);
    }
    assert_log(
        &record,
        &expect![[r#"
        counted 3 (build 0)
    "#]],
    );

    begin(&host, robot, "count", &[Value::U32(3), bound(&host, robot, "counted")]);
    tick(&host, 10);
    host.reload(&[support::tagged("chores", &[], 2)]).expect("a Master").into_result().expect("it is committed");
    record.take();
    for _ in 0..6 {
        tick(&host, 10);
    }
    assert_log(&record, &expect![[""]]);
    assert_eq!((host.jobs(), host.unloads().parked()), (vec![], vec![]));
}
