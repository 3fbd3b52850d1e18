//! Tests unloads that do not end immediately. Reports name the holders of the generation. The generation ends when its last holder is
//! released. If a holder is never released, the generation is parked and the host continues. The holders of the plugin `lingering` end when
//! a file is created.
#![expect(unsafe_code, reason = "one host evicts sleeping threads by force")]

use crate::support;

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use alcedo_runtime::{
    BlockerReport, Builder, ContextState, Error, LeaseKind, LoadError, ObjectHandle, Runtime, UnloadTicket, Value,
    process,
};
use support::Record;
use tempfile::TempDir;

const LONG: Duration = Duration::from_secs(60);

const SLEEPER: &str = "/Script/Game.Sleeper";

fn lingering() -> PathBuf {
    support::plugin("lingering", &[])
}

/// Returns a builder of hosts whose unloads neither wait nor park automatically. The grace period is zero. A pending finalizer may
/// therefore be reported as a blocker, in particular on a busy machine.
fn patient() -> Builder {
    support::builder().unloads(|policy| {
        policy.grace = Duration::ZERO;
        policy.park_after = None;
        policy.shutdown = LONG;
    })
}

/// Log record, host and events of a test. The record is bound first, and is therefore dropped last.
type Stage = (Record, Runtime, Rc<RefCell<Vec<String>>>);

/// Returns a host with `lingering`, the log record of this host, and the events of its Master.
fn stage(builder: Builder) -> Stage {
    let record = support::record("lingering");
    let events = Rc::new(RefCell::new(Vec::new()));
    let inner = Rc::clone(&events);
    let host = builder.on_event(move |event| inner.borrow_mut().push(event.to_string())).build().expect("a host");
    host.create_master(&[lingering()]).unwrap_or_else(|error| panic!("{error}"));
    events.borrow_mut().clear();
    (record, host, events)
}

fn unblocked(events: &RefCell<Vec<String>>) -> Vec<String> {
    events.borrow().iter().filter(|event| !event.starts_with("Blocked")).cloned().collect()
}

/// Returns the path of a file that does not exist yet, and this path as a `Value`. Also returns a guard that deletes the folder of the
/// file.
fn file() -> (TempDir, PathBuf, Value) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("now");
    let value = Value::Text(path.to_str().expect("a plain path").to_owned());
    (dir, path, value)
}

fn query(host: &Runtime, name: &str, arguments: &[Value]) {
    host.calls().call(&format!("ex:/lingering.{name}"), arguments).unwrap_or_else(|error| panic!("{error}"));
}

/// Polls until the blockers of the unload have exactly these kinds. Calls `step` between polls.
fn until_blocked_by(ticket: &UnloadTicket, kinds: &[LeaseKind], step: impl Fn()) -> BlockerReport {
    let begun = Instant::now();
    loop {
        let report = ticket.report();
        let mut found: Vec<_> = report.blockers.iter().map(|blocker| blocker.kind).collect();
        found.sort();
        let is_named = owners(&report, LeaseKind::Finalizer).iter().all(|owner| owner.starts_with("Drop of "));
        if report.state == ContextState::Blocked && found == kinds && is_named {
            return report;
        }
        assert!(begun.elapsed() < LONG, "{report}");
        std::thread::sleep(Duration::from_millis(1));
        step();
    }
}

fn owners(report: &BlockerReport, kind: LeaseKind) -> Vec<&str> {
    report.blockers.iter().filter(|blocker| blocker.kind == kind).map(|blocker| blocker.owner.as_str()).collect()
}

fn assert_gone(host: &Runtime, ticket: &UnloadTicket) {
    assert_eq!(host.unloads().wait(LONG).ok(), Some(true), "{}", ticket.report());
    assert_eq!(ticket.state(), ContextState::Dead, "{}", ticket.report());
    assert_eq!(host.unloads().parked(), Vec::<String>::new());
}

fn assert_nothing_mapped(host: &Runtime) {
    let mapped = process::stale_mappings(&host.stage_dir()).expect("the process map");
    assert_eq!(mapped, Vec::<PathBuf>::new());
}

fn sleeper(host: &Runtime, alarm: &Value) -> ObjectHandle {
    query(host, "set_alarm", std::slice::from_ref(alarm));
    let sleeper = host.objects().spawn(SLEEPER).expect("spawned");
    host.objects().call(sleeper, "sleep", &[]).expect("it sleeps");
    sleeper
}

#[test]
fn a_host_lease_blocks_the_unload_and_is_named() {
    let (_record, host, events) = stage(patient());
    let lease = host.unloads().lease("lingering", "the inspector").expect("alive");
    let ticket = host.unload_master().expect("a Master").ticket;
    let report = until_blocked_by(&ticket, &[LeaseKind::Borrow], || host.safe_point());
    assert_eq!(owners(&report, LeaseKind::Borrow), ["the inspector"]);
    assert!(report.to_string().contains("1 borrowed data   the inspector   thread"), "{report}");
    assert!(report.to_string().contains("runtime/tests/unload.rs:"), "{report}");
    assert_eq!(host.unloads().generations(), [(1, ContextState::Blocked)]);
    assert_eq!(host.unloads().tickets(), std::slice::from_ref(&ticket));
    host.safe_point();
    assert_eq!(ticket.state(), ContextState::Blocked, "the unload is polled again");
    drop(lease);
    host.safe_point();
    assert_eq!(ticket.state(), ContextState::Dead, "{}", ticket.report());
    assert_eq!((host.unloads().generations(), host.unloads().tickets()), (vec![], vec![]));
    assert_nothing_mapped(&host);
    let blocked =
        events.borrow().iter().find(|event| event.starts_with("Blocked Master 1: ")).cloned().expect("reported");
    assert!(blocked.contains("borrowed data    the inspector   thread "), "{blocked}");
    assert_eq!(unblocked(&events), ["Unloading Master 1", "Unloaded Master 1", "Dead Master 1"]);
}

#[test]
fn a_blocked_unload_is_logged_once_and_not_before_a_second() {
    let second = Duration::from_secs(1);
    let record = support::record("alcedo_runtime::load::master::in_progress");
    let builder = support::builder().unloads(|policy| policy.grace = Duration::ZERO);
    let host = builder.build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[support::plugin("magic-cube", &[])]).unwrap_or_else(|error| panic!("{error}"));
    let lease = host.unloads().lease("magic_cube", "a test that takes its time").expect("it is alive");
    let ticket = host.unload_master().expect("a Master").ticket;
    let mut logged = String::new();
    while ticket.report().since < 2 * second {
        let lines = record.take();
        assert!(lines.is_empty() || ticket.report().since >= second, "{:?}: {lines}", ticket.report().since);
        logged += &lines;
        std::thread::sleep(Duration::from_millis(5));
        host.safe_point();
    }
    assert_eq!(logged.matches("is blocked").count(), 1, "{logged}");
    assert!(logged.contains("a test that takes its time"), "{logged}");
    drop(lease);
    assert_gone(&host, &ticket);
}

#[test]
fn a_panicking_log_subscriber_loses_no_event_of_an_unload() {
    let (record, host, events) = stage(patient());
    drop(record);
    let record = support::record("alcedo_runtime::load::master::in_progress");
    record.fail();
    let ticket = host.unload_master().expect("a Master").ticket;
    assert_gone(&host, &ticket);
    assert_eq!(unblocked(&events), ["Unloading Master 1", "Unloaded Master 1", "Dead Master 1"]);
    drop(host);
}

#[test]
fn no_new_lease_starts_after_the_unload_began() {
    let (_record, host, _) = stage(patient());
    let refused = Rc::new(RefCell::new(None));
    let inner = Rc::clone(&refused);
    host.unloads()
        .on_unloading(0, move |host, _| *inner.borrow_mut() = host.unloads().lease("lingering", "late").err());
    host.reload(&[lingering()]).expect("a Master").into_result().expect("a reload");
    let error = refused.take().expect("it was asked");
    assert!(matches!(error, Error::Sealed(_)), "{error}");
    assert!(error.to_string().starts_with("lingering of generation 1 has been unloading for "), "{error}");
    assert!(host.unloads().lease("lingering", "of the next").is_ok());
    let error = host.unloads().lease("absent", "a test").expect_err("no such module");
    assert!(matches!(error, Error::Load(LoadError::NoModule { .. })), "{error}");
}

#[test]
fn a_running_thread_blocks_the_unload_and_is_named() {
    let (record, host, _) = stage(patient());
    let (_dir, path, until) = file();
    query(&host, "export", &[until]);
    let ticket = host.unload_master().expect("a Master").ticket;
    let report = until_blocked_by(&ticket, &[LeaseKind::Thread], || host.safe_point());
    let threads = owners(&report, LeaseKind::Thread);
    assert!(threads.len() == 1 && threads[0].contains("exporter"), "{report}");
    fs::write(path, "").expect("the folder is ours");
    assert_gone(&host, &ticket);
    assert_nothing_mapped(&host);
    assert_eq!(record.take(), "exit\nexported\n", "what it logs while it is waited for arrives");
}

#[test]
fn threads_that_stop_on_request_end_with_their_module() {
    let (record, host, _) = stage(patient());
    query(&host, "obey", &[]);
    query(&host, "obey_joined", &[]);
    let ticket = host.unload_master().expect("a Master").ticket;
    assert_gone(&host, &ticket);
    assert_nothing_mapped(&host);
    assert_eq!(record.take(), "exit\njoined\n", "the exit hook may wait for a thread that was requested to stop");
}

#[test]
fn a_thread_that_never_stops_is_parked_by_name_and_budgeted() {
    let impatient = patient().park_after(Duration::ZERO).parked_budget(0);
    let (_record, host, events) = stage(impatient);
    let (_dir, _never, until) = file();
    query(&host, "export", &[until]);
    let ticket = host.unload_master().expect("a Master").ticket;
    until_blocked_by(&ticket, &[LeaseKind::Thread], || assert_ne!(ticket.poll(), ContextState::Dead));
    host.safe_point();
    assert_eq!(ticket.state(), ContextState::Parked);
    let parked = host.unloads().parked();
    assert!(
        parked.len() == 1 && parked[0].starts_with("lingering of generation 1 stays mapped (lingering"),
        "{parked:?}"
    );
    assert!(parked[0].contains("kept by thread \"exporter\""), "{parked:?}");
    assert!(parked[0].ends_with(')'), "the number of the thread, and no duration that would age: {parked:?}");
    assert_eq!(host.unloads().generations(), [(1, ContextState::Parked)], "the parked generation stays listed");
    assert!(events.borrow().last().is_some_and(|last| last.starts_with("Parked Master 1: lingering")), "{events:?}");
    let mapped = process::stale_mappings(&host.stage_dir()).expect("the process map");
    assert_eq!(mapped.len(), 1, "its code is still there: {mapped:?}");

    let error = host.create_master(&[lingering()]).expect_err("the budget is spent");
    assert!(matches!(error, Error::Load(LoadError::ParkedBudget { budget: 0, .. })), "{error}");
    assert!(error.to_string().contains("raise `parked_budget`") && error.to_string().contains("exporter"), "{error}");
    let left = host.shutdown().left;
    assert_eq!(left, parked);
}

#[test]
fn a_sleeping_thread_is_evicted_if_the_host_allows_it() {
    // SAFETY: the threads of that plugin have shared no memory of their stacks.
    let forceful = patient().unloads(|policy| unsafe { policy.evict_after(Some(Duration::ZERO)) });
    let (_record, host, _) = stage(forceful);
    let (_dir, _never, until) = file();
    query(&host, "export", &[until]);
    let ticket = host.unload_master().expect("a Master").ticket;
    assert_gone(&host, &ticket);
    assert_nothing_mapped(&host);
    let report = ticket.end_report().expect("it is gone");
    assert_eq!(report.modules[0].threads_evicted, 1, "{report}");
    assert!(report.to_string().contains("1 thread evicted"), "{report}");
}

#[test]
fn a_host_may_park_a_blocked_generation_immediately() {
    let (_record, host, _) = stage(patient());
    let lease = host.unloads().lease("lingering", "the inspector").expect("alive");
    let ticket = host.unload_master().expect("a Master").ticket;
    until_blocked_by(&ticket, &[LeaseKind::Borrow], || host.safe_point());
    host.unloads().park(1).expect("it is unloading");
    let report = ticket.wait(LONG).expect_err("it is parked");
    assert_eq!((report.state, report.parked.len()), (ContextState::Parked, 1));
    assert!(report.parked[0].reason.starts_with("kept by borrowed data the inspector"), "{report}");
    let error = host.unloads().park(1).expect_err("it is parked already");
    assert!(matches!(error, Error::Load(LoadError::NotUnloading { generation: 1 })), "{error}");
    drop(lease);
}

#[test]
fn callbacks_run_by_priority_and_panics_are_on_the_ticket() {
    let (_record, host, events) = stage(patient());
    for (priority, name) in [(5, "last"), (-1, "first"), (0, "panics"), (0, "after it")] {
        let inner = Rc::clone(&events);
        host.unloads().on_unloading(priority, move |_host, generation| {
            inner.borrow_mut().push(format!("{name} {generation}"));
            assert!(name != "panics", "not today");
        });
    }
    let ticket = host.unload_master().expect("a Master").ticket;
    assert_gone(&host, &ticket);
    let expected =
        ["Unloading Master 1", "first 1", "panics 1", "after it 1", "last 1", "Unloaded Master 1", "Dead Master 1"];
    assert_eq!(unblocked(&events), expected);
    let problems = ticket.end_report().expect("it is gone").problems;
    assert_eq!(problems, ["the unloading callback of priority 0 panicked: \"not today\""]);
}

#[test]
fn a_callback_failure_in_a_reload_is_reported_there_once() {
    let (_record, host, _) = stage(patient());
    host.unloads().on_unloading(7, |_host, generation| assert!(generation != 1, "not today"));
    let broken = support::plugin("broken", &["panic-in-main"]);
    let failed = host.reload(&[lingering(), broken]).expect("a Master");
    assert!(!failed.is_committed());
    let expected = "the unloading callback of priority 7 panicked: \"not today\"";
    assert!(failed.warnings.iter().any(|warning| warning == expected), "{failed}");
    let report = host.reload(&[lingering()]).expect("a Master").into_result().expect("a reload");
    assert!(report.to_string().matches(expected).count() <= 1, "{report}");
    let ticket = host.unload_master().expect("a Master").ticket;
    assert_gone(&host, &ticket);
    assert_eq!(ticket.end_report().expect("it is gone").problems, Vec::<String>::new());
}

#[test]
fn any_thread_waits_on_a_ticket_and_events_follow_later() {
    let (_record, host, events) = stage(patient());
    let lease = host.unloads().lease("lingering", "a worker").expect("alive");
    let ticket = host.unload_master().expect("a Master").ticket;
    until_blocked_by(&ticket, &[LeaseKind::Borrow], || assert_ne!(ticket.poll(), ContextState::Dead));
    let early = ticket.wait(Duration::from_millis(5)).expect_err("it is held");
    assert_eq!(owners(&early, LeaseKind::Borrow), ["a worker"]);
    let other = ticket.clone();
    let waiting = std::thread::spawn(move || other.wait(LONG));
    // If all finalizers had run when the unload began, `Unloaded` is already listed.
    let before = unblocked(&events);
    assert_eq!(before, ["Unloading Master 1", "Unloaded Master 1"][..before.len().max(1)]);
    drop(lease);
    // The game thread is idle during the wait.
    let report = waiting.join().expect("it waits").expect("it is gone");
    assert_eq!(report.modules.len(), 1, "{report}");
    assert_nothing_mapped(&host);
    assert_eq!(unblocked(&events), before, "no event while the game thread does nothing");
    host.safe_point();
    assert_eq!(unblocked(&events), ["Unloading Master 1", "Unloaded Master 1", "Dead Master 1"]);
}

#[test]
fn an_unload_requested_inside_a_call_waits_for_the_safe_point() {
    let _alone = support::record("lingering");
    let host = support::builder().build().expect("a host");
    host.create_master(&[support::plugin("broken", &[])]).expect("a Master");
    let later = |host: &Runtime, _: &[Value]| {
        host.request_reload(vec![PathBuf::from("/nowhere")]);
        host.request_unload();
        host.safe_point();
        Ok(Some(Value::Text(format!("generation {} still", host.generation()))))
    };
    host.calls().register("host.unload_later", " -> String".parse().expect("a signature"), later).expect("a free name");
    let fragile = host.objects().spawn("/Script/Game.Fragile").expect("spawned");
    let answer =
        host.objects().call(fragile, "relay", &[Value::Text("ex:/host.unload_later".to_owned())]).expect("it answers");
    assert_eq!(answer, Some(Value::Text("generation 1 still".to_owned())));
    assert!(host.objects().is_alive(fragile));
    host.safe_point();
    let unloads = host.take_unloads();
    assert_eq!((host.generation(), unloads.len(), unloads[0].objects_ended), (0, 1, 1));
    assert!(!host.objects().is_alive(fragile));
    assert_gone(&host, &unloads[0].ticket);
    assert_eq!(host.take_reloads(), vec![], "the unload wins");
}

#[test]
fn auto_disposed_resources_drop_after_the_exit_hook_with_their_successors() {
    let (record, host, _) = stage(patient());
    let text = |text: &str| Value::Text(text.to_owned());
    query(&host, "leave", &[text("first")]);
    query(&host, "leave_two", &[text("second"), text("left by it")]);
    query(&host, "leave", &[text("stubborn")]);
    assert_eq!(record.take(), "");
    let ticket = host.unload_master().expect("a Master").ticket;
    assert_gone(&host, &ticket);
    assert_eq!(record.take(), "exit\ndrop stubborn\ndrop second\ndrop first\ndrop left by it\n");
    let problems = ticket.end_report().expect("it is gone").problems;
    let expected = "the exit hook of lingering panicked: \"dropping an auto-disposed resource: it would not go\"";
    assert!(problems.len() == 1 && problems[0].starts_with(expected), "{problems:?}");
}

#[test]
fn a_resource_that_recreates_itself_on_drop_is_reported() {
    let (_record, host, _) = stage(patient());
    query(&host, "leave_endless", &[]);
    let ticket = host.unload_master().expect("a Master").ticket;
    assert_gone(&host, &ticket);
    let expected = format!(
        "the exit hook of lingering leaked a resource: each drop of `lingering::Endless`, passed to `auto_dispose` at {}, \
         registers another",
        support::line_of("lingering", "auto_dispose(Endless)")
    );
    assert_eq!(ticket.end_report().expect("it is gone").problems, [expected]);
}

#[test]
fn a_hanging_finalizer_blocks_by_name_while_the_host_runs() {
    let (_record, host, _) = stage(patient());
    let (_dir, path, alarm) = file();
    let sleeper = sleeper(&host, &alarm);
    let report = host.reload(&[lingering()]).expect("a Master").into_result().expect("a reload");
    assert_eq!((report.generation, report.parked.len()), (2, 0));
    assert!(report.blocked.is_some(), "{report}");
    let ticket = host.unloads().tickets().remove(0);
    let blocked = until_blocked_by(&ticket, &[LeaseKind::Finalizer], || host.safe_point());
    let finalizers = owners(&blocked, LeaseKind::Finalizer);
    assert!(
        finalizers.len() == 1 && finalizers[0].starts_with("Drop of Game.Sleeper (lingering, generation 1)"),
        "{blocked}"
    );
    // The new generation has started, and its code runs.
    host.objects().call(sleeper, "sleep", &[]).expect("the new code answers");
    let again =
        host.reload(&[lingering()]).expect("a Master").into_result().expect("the older generation blocks nothing");
    assert_eq!((again.generation, host.unloads().generations().len()), (3, 3));
    fs::write(path, "").expect("the folder is ours");
    assert_gone(&host, &ticket);
    assert_eq!(host.unloads().generations(), [(3, ContextState::Alive)]);
}

#[test]
fn another_thread_takes_over_from_a_finalizer_that_never_returns() {
    let (_record, host, _) = stage(patient());
    let (_dir, path, alarm) = file();
    let hanging = sleeper(&host, &alarm);
    host.reload(&[lingering()]).expect("a Master").into_result().expect("a reload");
    let first = host.unloads().tickets().remove(0);
    until_blocked_by(&first, &[LeaseKind::Finalizer], || host.safe_point());
    host.reload(&[lingering()]).expect("a Master").into_result().expect("a reload");
    let second = host.unloads().tickets().remove(1);
    let behind = until_blocked_by(&second, &[LeaseKind::Finalizer], || host.safe_point());
    let finalizers = owners(&behind, LeaseKind::Finalizer);
    assert!(finalizers.len() == 1 && finalizers[0].contains("generation 1"), "the report names the blocker: {behind}");
    host.unloads().park(1).expect("it is unloading");
    assert!(host.unloads().parked()[0].contains("kept by finalizer Drop of Game.Sleeper (lingering, generation 1)"));
    host.unloads().wait(LONG).expect("a safe point");
    assert_eq!((first.state(), second.state()), (ContextState::Parked, ContextState::Dead), "{}", second.report());
    assert!(host.objects().is_alive(hanging));
    // Creates the file, so that the hanging code in the parked image returns.
    fs::write(path, "").expect("the folder is ours");
    assert_eq!(host.shutdown().left.len(), 1);
}

/// Number of objects that is large enough for a reload to return before all finalizers have run.
const MANY: usize = 5_000;

/// Reloads generation 1, which has many sleepers and the resource `first`. The finalizers wait for the file at the returned path.
fn reload_many(host: &Runtime) -> (UnloadTicket, TempDir, PathBuf) {
    let (dir, path, alarm) = file();
    query(host, "leave", &[Value::Text("first".to_owned())]);
    for _ in 0..MANY {
        host.objects().call(sleeper(host, &alarm), "report", &[]).expect("it reports");
    }
    host.reload(&[lingering()]).expect("a Master").into_result().expect("a reload");
    (host.unloads().tickets().remove(0), dir, path)
}

#[test]
fn exit_hooks_follow_the_last_of_many_finalizers() {
    let (record, host, events) = stage(support::builder());
    let (ticket, _dir, path) = reload_many(&host);
    assert_eq!(ticket.state(), ContextState::Unloading, "the reload does not wait");
    assert_eq!(owners(&ticket.report(), LeaseKind::ExitHook), ["lingering, after the finalizers"]);
    (0..3).for_each(|_| host.safe_point());
    assert_eq!(record.take(), "");
    fs::write(path, "").expect("the folder is ours");
    let other = ticket.clone();
    let have_run = move || {
        let _state = other.poll();
        owners(&other.report(), LeaseKind::Finalizer).is_empty()
    };
    std::thread::spawn(move || support::until("the finalizers have run", have_run)).join().expect("it polls");
    assert_eq!(record.take(), "woken\n".repeat(MANY), "other threads do not run the exit hook");
    assert_gone(&host, &ticket);
    assert_eq!(record.take(), "exit\ndrop first\n");
    assert!(events.borrow().ends_with(&["Unloaded Master 1".to_owned(), "Dead Master 1".to_owned()]), "{events:?}");
}

#[test]
fn delayed_exit_hooks_run_once_and_before_those_of_newer_generations() {
    let (record, host, _) = stage(support::builder());
    let (_ticket, _dir, path) = reload_many(&host);
    query(&host, "leave", &[Value::Text("second".to_owned())]);
    host.reload(&[lingering()]).expect("a Master").into_result().expect("a reload");
    query(&host, "leave", &[Value::Text("third".to_owned())]);
    let writer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        fs::write(path, "").expect("the folder is ours");
    });
    assert_eq!(host.shutdown().left, Vec::<String>::new());
    writer.join().expect("it writes");
    let exits = ["first", "second", "third"].map(|name| format!("exit\ndrop {name}\n")).concat();
    assert_eq!(record.take(), "woken\n".repeat(MANY) + &exits);
}

#[test]
fn a_hanging_finalizer_delays_exit_hooks_for_the_grace_period() {
    let (record, host, _) = stage(patient());
    let (ticket, _dir, path) = reload_many(&host);
    support::until("the exit hook has run", || {
        host.safe_point();
        record.take() == "exit\ndrop first\n"
    });
    assert_eq!(ticket.state(), ContextState::Blocked);
    fs::write(path, "").expect("the folder is ours");
    assert_gone(&host, &ticket);
    assert_eq!(record.take(), "woken\n".repeat(MANY));
}

/// Grace period of hosts with many short finalizers. Together, these finalizers take longer than this period.
const GRACE: Duration = Duration::from_millis(300);

/// Number of objects whose finalizers together take longer than [`GRACE`].
const NAPS: usize = 500;

/// Returns a host with many sleepers, whose finalizers sleep, and the resource `first`. If `reports` is set, each finalizer logs its end.
fn napping(reports: bool, shutdown: Duration) -> Stage {
    let (record, host, events) = stage(support::builder().unloads(|policy| {
        policy.grace = GRACE;
        policy.shutdown = shutdown;
    }));
    query(&host, "leave", &[Value::Text("first".to_owned())]);
    for _ in 0..NAPS {
        let sleeper = host.objects().spawn(SLEEPER).expect("spawned");
        host.objects().call(sleeper, "nap", &[]).expect("it naps");
        if reports {
            host.objects().call(sleeper, "report", &[]).expect("it reports");
        }
    }
    (record, host, events)
}

/// Returns the expected log of a generation whose exit hook runs once, after the last finalizer.
fn woken_then_exit() -> String {
    "woken\n".repeat(NAPS) + "exit\ndrop first\n"
}

#[test]
fn exit_hooks_follow_slow_finalizers_of_a_reload() {
    let (record, host, _) = napping(true, LONG);
    host.reload(&[lingering()]).expect("a Master").into_result().expect("a reload");
    let ticket = host.unloads().tickets().remove(0);
    assert_eq!(owners(&ticket.report(), LeaseKind::ExitHook), ["lingering, after the finalizers"]);
    assert_gone(&host, &ticket);
    assert_eq!(record.take(), woken_then_exit());
    assert_eq!(ticket.end_report().expect("it is gone").problems, Vec::<String>::new());
}

#[test]
fn exit_hooks_follow_slow_finalizers_of_an_unload() {
    let (record, host, _) = napping(true, LONG);
    let ticket = host.unload_master().expect("a Master").ticket;
    assert_eq!(record.take(), woken_then_exit());
    assert_gone(&host, &ticket);
    assert_eq!(record.take(), "");
}

#[test]
fn exit_hooks_follow_slow_finalizers_of_a_shutdown() {
    let (record, host, _) = napping(true, LONG);
    let report = host.shutdown();
    assert_eq!(record.take(), woken_then_exit());
    assert_eq!((report.plugin_parts, report.left.len(), report.problems.len()), (0, 0, 0), "{report}");
}

#[test]
fn a_shutdown_reports_exit_hooks_that_ran_before_finalizers() {
    let (record, host, _) = napping(false, Duration::ZERO);
    let report = host.shutdown();
    assert_eq!(record.take(), "exit\ndrop first\n");
    let [problem] = &*report.problems else { panic!("{report}") };
    assert!(problem.starts_with("the exit hooks ran before the finalizers of "), "{problem}");
    assert!(problem.ends_with(" plugin parts, after a wait of 300ms"), "{problem}");
    assert!(report.to_string().contains(problem), "{report}");
}

#[test]
fn an_unload_does_not_wait_for_a_hanging_finalizer() {
    let (record, host, _) = stage(support::builder().unloads(|policy| policy.grace = GRACE));
    let (_dir, path, alarm) = file();
    host.objects().call(sleeper(&host, &alarm), "report", &[]).expect("it reports");
    let ticket = host.unload_master().expect("a Master").ticket;
    assert_eq!(record.take(), "exit\n");
    fs::write(path, "").expect("the folder is ours");
    assert_gone(&host, &ticket);
    assert_eq!(record.take(), "woken\n");
    assert_eq!(ticket.end_report().expect("it is gone").problems, Vec::<String>::new());
}

/// Each finalizer is short. Together, the finalizers take longer than the grace period.
#[test]
fn a_generation_whose_finalizers_make_progress_is_not_blocked() {
    let (_record, host, events) = stage(support::builder().unloads(|policy| policy.grace = GRACE));
    for _ in 0..1_000 {
        let sleeper = host.objects().spawn(SLEEPER).expect("spawned");
        host.objects().call(sleeper, "nap", &[]).expect("it naps");
    }
    let report = host.reload(&[lingering()]).expect("a Master").into_result().expect("a reload");
    assert_eq!(report.blocked.as_ref().map(|waits| waits.state), Some(ContextState::Unloading), "{report}");
    assert!(report.to_string().contains("\n  generation 1 is unloading"), "{report}");
    let ticket = host.unloads().tickets().remove(0);
    assert_gone(&host, &ticket);
    assert!(ticket.end_report().expect("it is gone").duration >= GRACE, "{ticket:?}");
    let is_blocked = |event: &String| event.starts_with("Blocked") && event.contains("finalizer");
    assert!(!events.borrow().iter().any(is_blocked), "{events:?}");
}

#[test]
fn a_reload_works_while_an_older_generation_is_kept_by_a_thread() {
    let (_record, host, events) = stage(patient());
    let (_dir, path, until) = file();
    query(&host, "export", &[until]);
    for generation in 2..5 {
        let report = host.reload(&[lingering()]).expect("a Master").into_result().expect("a reload");
        assert_eq!(report.generation, generation);
    }
    let ticket = host.unloads().tickets().remove(0);
    until_blocked_by(&ticket, &[LeaseKind::Thread], || host.safe_point());
    fs::write(path, "").expect("the folder is ours");
    assert_gone(&host, &ticket);
    assert_eq!(host.unloads().generations(), [(4, ContextState::Alive)]);
    let events = events.take();
    for generation in 1..4 {
        let at = |event: &str| events.iter().position(|seen| *seen == format!("{event} Master {generation}"));
        assert!(at("Unloading") < at("Unloaded") && at("Unloaded") < at("Dead"), "{events:#?}");
    }
}

#[test]
fn a_shutdown_waits_and_then_names_remaining_blockers() {
    let hasty = patient().unloads(|policy| policy.shutdown = Duration::ZERO);
    let (_record, host, _) = stage(hasty);
    let (_dir, _never, until) = file();
    query(&host, "export", &[until]);
    let left = host.shutdown().left;
    assert!(left.len() == 1 && left[0].contains("thread \"exporter\""), "{left:?}");
}

#[test]
fn a_shutdown_omits_the_leases_of_generations_parked_before() {
    let (_record, host, _) = stage(patient().unloads(|policy| policy.shutdown = Duration::ZERO));
    let first = host.unloads().lease("lingering", "the first").expect("alive");
    host.reload(&[lingering()]).expect("a Master").into_result().expect("a reload");
    host.unloads().park(1).expect("it is unloading");
    drop(first);
    let _second = host.unloads().lease("lingering", "the second").expect("alive");
    let leases = host.shutdown().leases;
    let borrowed = leases.iter().filter(|lease| lease.kind == LeaseKind::Borrow);
    assert_eq!(borrowed.map(|lease| lease.owner.as_str()).collect::<Vec<_>>(), ["the second"]);
}

#[test]
fn a_module_unloads_after_its_dependents() {
    let _alone = support::record("lingering");
    let libraries = [support::plugin("glue-base", &[]), support::plugin("glue-derived", &[])];
    let host = patient().build().expect("a host");
    host.create_master(&libraries).expect("a Master");
    let lease = host.unloads().lease("glue_derived", "the inspector").expect("alive");
    let ticket = host.unload_master().expect("a Master").ticket;
    let both = [LeaseKind::Borrow, LeaseKind::Dependent];
    let report = until_blocked_by(&ticket, &both, || host.safe_point());
    assert_eq!(owners(&report, LeaseKind::Borrow), ["the inspector"]);
    assert_eq!(owners(&report, LeaseKind::Dependent), ["glue_derived"]);
    let mapped = process::stale_mappings(&host.stage_dir()).expect("the process map");
    assert_eq!(mapped.len(), 2, "the one it depends on has to wait: {mapped:?}");
    drop(lease);
    assert_gone(&host, &ticket);
    let modules = ticket.end_report().expect("it is gone").modules;
    assert_eq!(modules.iter().map(|end| end.module.as_str()).collect::<Vec<_>>(), ["glue_derived", "glue_base"]);
    assert_nothing_mapped(&host);
}
