//! Tests the recipes of `docs/recipes.md` as plugins. The plugins' threads deliver results to the game thread. If the plugin is reloaded or
//! unloaded before a delivery, no trace of the delivery may remain.

use crate::support;

use std::time::{Duration, Instant};

use alcedo_runtime::{Budget, ContextState, LeaseKind, ObjectHandle, Runtime, Value, process};

fn call(host: &Runtime, object: ObjectHandle, function: &str, arguments: &[Value]) -> Option<Value> {
    host.objects().call(object, function, arguments).unwrap_or_else(|error| panic!("{function}: {error}"))
}

fn number(host: &Runtime, object: ObjectHandle, property: &str) -> i32 {
    match host.objects().get(object, property) {
        Ok(Value::I32(number)) => number,
        other => panic!("{property} is a number: {other:?}"),
    }
}

/// Ticks until the condition is true, for at most a minute.
fn wait(host: &Runtime, what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < until, "not within a minute: {what}\n{:?}", host.unloads().generations());
        host.tick(Budget::frame());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Checks that only the current generation remains, and that the process has no traces of old generations.
fn assert_clean(host: &Runtime) {
    let living = host.generation();
    wait(host, "every older generation is dead", || {
        host.unloads().generations().iter().all(|context| *context == (living, ContextState::Alive))
    });
    assert_eq!(host.unloads().parked(), Vec::<String>::new());
    let mapped = process::stale_mappings(&host.stage_dir()).expect("the process map");
    assert_eq!(mapped.len(), host.modules().len(), "only living modules are mapped: {mapped:?}");
}

#[test]
fn a_plugins_tokio_runtime_serves_the_game_thread_until_unload() {
    let host = support::host(&[support::plugin("async-tasks", &[])]);
    let courier = host.objects().spawn("/Script/Game.Courier").expect("spawned");
    call(&host, courier, "fetch", &[Value::U32(200), Value::U32(1)]);
    wait(&host, "all parcels are there", || number(&host, courier, "parcels") == 200);
    call(&host, courier, "query", &[Value::Text("where".to_owned())]);
    wait(&host, "there is an answer", || {
        host.objects().get(courier, "answer").expect("a text") == Value::Text("where? on tokio-worker".to_owned())
    });

    for tag in 2..5 {
        // Short fetches may arrive before the reload. Long fetches never arrive, because the reload ends their generation.
        call(&host, courier, "fetch", &[Value::U32(50), Value::U32(1)]);
        call(&host, courier, "fetch", &[Value::U32(50), Value::U32(60_000)]);
        let next = support::tagged("async-tasks", &[], tag);
        host.reload(&[next]).expect("a Master").into_result().expect("it is committed");
        assert_clean(&host);
    }
    let before = number(&host, courier, "parcels");
    call(&host, courier, "fetch", &[Value::U32(10), Value::U32(1)]);
    wait(&host, "the new runtime works", || number(&host, courier, "parcels") == before + 10);
    let _ended = host.unload_master().expect("there is one");
    assert_clean(&host);
}

#[test]
fn a_c_thread_calls_back_and_the_exit_hook_stops_it() {
    let host = support::host(&[support::plugin("c-thread", &[])]);
    let clock = host.objects().spawn("/Script/Game.Clock").expect("spawned");
    for tag in 2..5 {
        let before = number(&host, clock, "beats");
        assert_eq!(call(&host, clock, "listen", &[Value::U32(100)]), Some(Value::Bool(true)));
        assert_eq!(
            call(&host, clock, "listen", &[Value::U32(100)]),
            Some(Value::Bool(false)),
            "there is one metronome"
        );
        wait(&host, "the clock receives ten beats", || number(&host, clock, "beats") >= before + 10);
        // The thread is still running when the reload begins.
        let next = support::tagged("c-thread", &[], tag);
        host.reload(&[next]).expect("a Master").into_result().expect("it is committed");
        assert_clean(&host);
        let after = number(&host, clock, "beats");
        host.tick(Budget::frame());
        assert_eq!(number(&host, clock, "beats"), after, "the beats have stopped");
    }
    assert_eq!(call(&host, clock, "listen", &[Value::U32(100)]), Some(Value::Bool(true)));
    let _ended = host.unload_master().expect("there is one");
    assert_clean(&host);
}

#[test]
fn a_running_c_thread_keeps_the_image_mapped_and_is_named() {
    let host = support::hasty_builder().park_after(Duration::from_millis(500)).build().expect("a host");
    host.create_master(&[support::plugin("c-thread", &["forgets-to-stop"])]).expect("it loads");
    let clock = host.objects().spawn("/Script/Game.Clock").expect("spawned");
    call(&host, clock, "listen", &[Value::U32(100)]);
    wait(&host, "it beats", || number(&host, clock, "beats") > 0);
    let unload = host.unload_master().expect("there is one");
    wait(&host, "it is blocked", || unload.ticket.state() == ContextState::Blocked);
    let report = unload.ticket.report();
    assert!(report.blockers.iter().any(|blocker| blocker.kind == LeaseKind::Thread), "{report}");
    wait(&host, "the host parks it", || unload.ticket.state() == ContextState::Parked);
    assert_eq!(
        host.unloads().parked().len(),
        1,
        "the image stays mapped, so its thread may continue: {:?}",
        host.unloads().parked()
    );
}
