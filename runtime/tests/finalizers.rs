//! Tests drops of plugin parts on the finalizer thread. The log is recorded for the whole process, so no other test of this file may drop
//! plugin parts of the tested classes.

use crate::support;

use std::fs::write;
use std::time::Duration;

use alcedo_runtime::{Budget, ObjectHandle, Runtime, Value};

const CAVE: &str = "/Script/Game.Cave";
const LAIR: &str = "/Script/Game.Lair";

const LONG: Duration = Duration::from_secs(60);

fn host() -> Runtime {
    support::host(&[support::plugin("hoard", &[])])
}

fn spawn(host: &Runtime, class: &str) -> ObjectHandle {
    host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"))
}

fn query(host: &Runtime, object: ObjectHandle, function: &str, arguments: &[Value]) -> Option<Value> {
    host.objects().call(object, function, arguments).unwrap_or_else(|error| panic!("{function}: {error}"))
}

#[test]
fn plugin_parts_end_on_the_finalizer_thread_derived_before_base() {
    let record = support::record("hoard");
    let host = host();
    for _ in 0..3 {
        let lair = spawn(&host, LAIR);
        query(&host, lair, "gather", &[Value::U32(2)]);
        query(&host, lair, "inhabit", &[Value::Text("Fafnir".into())]);
        host.objects().destroy(lair);
        let drained = host.drain_finalizers(LONG).expect("a safe point");
        // The finalizer thread may run finalizers before the drain. The number of drained finalizers is therefore unspecified.
        assert_eq!((drained.is_complete, drained.pending, drained.failures.len()), (true, 0, 0));
        assert_eq!(record.take(), "the lair ends\nthe cave ends\n");
        assert_eq!(host.conjugates().owned_values().count(), 0, "with the half its treasures have ended");
    }
}

#[test]
fn plugin_parts_of_objects_collected_in_slices_end_derived_before_base() {
    let record = support::record("hoard");
    let host = host();
    let lairs: Vec<_> = (0..50).map(|_| spawn(&host, LAIR)).collect();
    lairs.iter().for_each(|lair| assert!(host.objects().remove_root(*lair)));
    host.collection().begin_in_slices();
    support::until("the collection is done", || {
        host.tick(Budget::frame().with_collection(Duration::ZERO));
        host.collection().take_done().iter().any(|collected| collected.objects == 50)
    });
    assert!(host.drain_finalizers(LONG).expect("a safe point").is_complete);
    assert_eq!(record.take(), "the lair ends\nthe cave ends\n".repeat(50));
}

#[test]
fn a_finalizer_that_panics_is_reported_and_ends_its_plugin_part() {
    let record = support::record("hoard");
    let host = host();
    let lair = spawn(&host, LAIR);
    query(&host, lair, "gather", &[Value::U32(2)]);
    query(&host, lair, "will_panic", &[]);
    host.objects().destroy(lair);
    let drained = host.drain_finalizers(LONG).expect("a safe point");
    assert_eq!((drained.is_complete, drained.pending), (true, 0));
    let line = support::line_of("hoard", "panic!(\"the cave collapses\")");
    assert_eq!(drained.failures.len(), 1, "{drained}");
    let failure = &drained.failures[0];
    assert!(failure.contains("the cave collapses") && failure.contains(&line), "{failure}");
    assert_eq!((record.take().as_str(), host.conjugates().owned_values().count()), ("the lair ends\n", 0));
}

#[test]
fn finalizers_of_a_class_that_fail_are_logged_at_powers_of_ten() {
    let record = support::record("alcedo_runtime::conjugate::finalizer::worker");
    let host = host();
    for turn in 1..=11 {
        let lair = spawn(&host, LAIR);
        query(&host, lair, "will_panic", &[]);
        host.objects().destroy(lair);
        let drained = host.drain_finalizers(LONG).expect("a safe point");
        assert_eq!((drained.is_complete, drained.failures.len()), (true, 1), "each is reported: {drained}");
        let lines = record.take();
        let failed = lines.lines().filter(|line| line.starts_with("a finalizer failed")).count();
        assert_eq!(failed, usize::from(turn == 1 || turn == 10), "{turn}: {lines}");
        assert_eq!(lines.contains("(10 times by now)"), turn == 10, "{lines}");
    }
}

#[test]
fn a_log_subscriber_that_panics_does_not_end_the_finalizer_thread() {
    let record = support::record("alcedo_runtime::conjugate::finalizer::worker");
    record.fail();
    let host = host();
    let lair = spawn(&host, LAIR);
    query(&host, lair, "will_panic", &[]);
    host.objects().destroy(lair);
    let drained = host.drain_finalizers(Duration::from_secs(5)).expect("a safe point");
    assert_eq!((drained.is_complete, drained.pending, drained.failures.len()), (true, 0, 1), "{drained}");
}

#[test]
fn a_finalizer_and_the_game_thread_may_wait_for_each_other() {
    let record = support::record("hoard");
    let host = host();
    let cave = spawn(&host, CAVE);
    query(&host, cave, "will_query", &[]);
    host.objects().destroy(cave);
    let drained = host.drain_finalizers(LONG).expect("a safe point");
    assert!(drained.is_complete, "{drained}");
    assert_eq!(record.take(), "the game thread answers\n");
}

#[test]
fn a_drain_that_runs_out_of_time_names_the_finalizer_that_runs() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("alarm");
    let host = support::host(&[support::plugin("lingering", &[])]);
    host.calls()
        .call("ex:/lingering.set_alarm", &[Value::Text(file.display().to_string())])
        .unwrap_or_else(|error| panic!("{error}"));
    let sleeper = spawn(&host, "/Script/Game.Sleeper");
    query(&host, sleeper, "sleep", &[]);
    host.objects().destroy(sleeper);
    support::until("the finalizer runs", || {
        let drained = host.drain_finalizers(Duration::from_millis(1)).expect("a safe point");
        !drained.is_complete && drained.running.is_some_and(|running| running.owner.contains("Sleeper"))
    });
    write(&file, "").expect("a writable folder");
    let drained = host.drain_finalizers(LONG).expect("a safe point");
    assert!(drained.is_complete && drained.pending == 0, "{drained}");
}
