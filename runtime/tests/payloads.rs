//! Tests panics whose payload panics again when it is dropped. If a host callback raises such a panic, the runtime catches both panics. The
//! runtime then completes its operation and runs the other callbacks.

use crate::support;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alcedo_runtime::{Budget, ContextError, ContextState, FoundModule, Runtime, SlimWatch, Value, VersionReq};

const LONG: Duration = Duration::from_secs(60);

/// Message that the runtime reports for a payload that is not a string.
const MESSAGE: &str = "a panic without a message";

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any(Bomb);
    }
}

fn throw() -> ! {
    panic_any(Bomb)
}

fn runtime() -> Runtime {
    support::builder().build().unwrap_or_else(|error| panic!("{error}"))
}

fn reports() -> PathBuf {
    support::tagged("reports", &[], 1)
}

/// Runs the code, and fails if a panic escapes from it.
fn without_panic<T>(what: &str, code: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(code)).unwrap_or_else(|payload| {
        std::mem::forget(payload);
        panic!("a payload of {what} got out")
    })
}

#[test]
fn resolvers_and_handlers_that_throw_fail_their_load_and_no_other() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("thrown at").expect("the name is free");
    let throws = || -> ! { throw() };
    let refused = |name: &str| {
        let outcome = without_panic(name, || slim.load_name("reports", &VersionReq::STAR));
        let Err(ContextError::ResolverError { resolver: named, source, .. }) = outcome else { panic!("{outcome:?}") };
        assert_eq!((named.as_str(), source.to_string()), (name, format!("it panicked: \"{MESSAGE}\"")));
    };
    slim.set_resolver(move |_| throws());
    refused("the resolver");
    slim.set_resolver(|_| Ok(None));
    slim.on_resolving(move |_| throws());
    refused("handler 1");
    slim.set_native_resolver(move |_| throws());
    let native = without_panic("a native resolver", || slim.native_library("nothing", None).map(drop));
    assert!(matches!(native, Err(ContextError::ResolverError { .. })), "{native:?}");
    slim.set_resolver(|_| Ok(Some(FoundModule::File(reports()))));
    slim.load_name("reports", &VersionReq::STAR).expect("nothing is left of the failures");
}

#[test]
fn notices_and_unloading_callbacks_that_throw_leave_no_unload_half_done() {
    let contexts = runtime().contexts();
    let log = Arc::new(Mutex::new(Vec::new()));
    let inner = Arc::clone(&log);
    contexts.on_event(|_| throw());
    contexts.on_event(move |notice| inner.lock().expect("not poisoned").push(notice.to_string()));
    let slim = contexts.create_slim("thrown at").expect("the name is free");
    without_panic("a notice", || slim.load_path(reports())).expect("it is loaded");
    slim.on_unloading(0, |_| throw());
    let inner = Arc::clone(&log);
    slim.on_unloading(1, move |_| inner.lock().expect("not poisoned").push("the other".to_owned()));
    let ticket = without_panic("an unloading callback", || slim.begin_unload()).expect("it is collectible");
    let report = ticket.wait(LONG).unwrap_or_else(|report| panic!("{report}"));
    let once = |line: &str| report.problems.iter().filter(|problem| *problem == line).count();
    // The event callback panics at each of three events. If the last event is raised after the wait, the report contains only two panics.
    assert_eq!(once(&format!("a callback of priority 0 panicked: \"{MESSAGE}\"")).min(2), 2, "{report}");
    assert_eq!(slim.state(), ContextState::Dead);
    let expected = ["Loaded Slim \"thrown at\" 1 reports", "Unloading Slim \"thrown at\" 1", "the other"];
    assert_eq!(log.lock().expect("not poisoned")[..3], expected);
}

#[test]
fn a_throwing_listener_does_not_end_a_slim_watch() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("watched").expect("the name is free");
    let dir = tempfile::tempdir().expect("a folder");
    let library = dir.path().join("libreports.so");
    std::fs::copy(reports(), &library).expect("it can be copied");
    slim.load_path(&library).expect("it is loaded");
    let (sender, receiver) = channel();
    let watch = SlimWatch::start(&slim, &library, move |_| {
        sender.send(()).expect("it is waited for");
        throw()
    });
    for _ in 0..2 {
        std::fs::copy(support::tagged("reports", &[], 2), &library).expect("it can be copied");
        receiver.recv_timeout(LONG).expect("the watch continues");
    }
    drop(watch.expect("it can be watched"));
}

#[test]
fn throwing_runtime_callbacks_stop_neither_each_other_nor_reloads() {
    let lingering = || [support::plugin("lingering", &[])];
    let (events, calls) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let (counts, called) = (Rc::clone(&events), Rc::clone(&calls));
    let builder = support::builder().on_event(|_| throw()).on_event(move |_| counts.set(counts.get() + 1));
    let host = builder.build().unwrap_or_else(|error| panic!("{error}"));
    without_panic("a listener", || host.create_master(&lingering())).expect("it starts");
    assert_eq!(events.get(), 4);
    host.unloads().on_unloading(0, |_, _| throw());
    host.unloads().on_unloading(1, move |_, _| called.set(called.get() + 1));
    let reload = without_panic("an unloading callback", || host.reload(&lingering())).expect("a Master");
    assert!(reload.is_committed(), "{reload}");
    let ticket = without_panic("an unloading callback", || host.unload_master()).expect("a Master").ticket;
    let problem = format!("the unloading callback of priority 0 panicked: \"{MESSAGE}\"");
    assert!(ticket.report().problems.contains(&problem), "{}", ticket.report());
    assert_eq!(calls.get(), 2);
}

#[test]
fn throwing_functions_and_posts_are_one_error_for_any_caller() {
    let host = support::host(&[support::plugin("broken", &[])]);
    host.calls()
        .register("host.bomb", " -> String".parse().expect("a signature"), |_, _| throw())
        .expect("a free name");
    let error = without_panic("a function", || host.calls().call("ex:/host.bomb", &[])).expect_err("it panics");
    assert_eq!(error.to_string(), format!("panicked: \"{MESSAGE}\""));
    let fragile = host.objects().spawn("/Script/Game.Fragile").expect("spawned");
    let relayed = [Value::Text("ex:/host.bomb".to_owned())];
    let answer =
        without_panic("a function", || host.objects().call(fragile, "relay", &relayed)).expect("the plugin catches it");
    assert_eq!(answer, Some(Value::Text(format!("refused: panicked: \"{MESSAGE}\""))));
    let (sender, ran) = channel();
    assert!(host.post_handle().post(|_| throw()));
    assert!(host.post_handle().post(move |_| sender.send(()).expect("it is waited for")));
    without_panic("a post", || host.tick(Budget::frame()));
    assert_eq!(ran.try_recv(), Ok(()));
}

#[test]
fn a_throwing_ticker_reaches_the_host_which_keeps_working() {
    let (ticked, is_first) = (Rc::new(Cell::new(0)), Cell::new(true));
    let counts = Rc::clone(&ticked);
    let throws = move |_: &Runtime, _: f32| {
        if is_first.replace(false) {
            throw();
        }
    };
    let host = Runtime::builder().ticker(throws).ticker(move |_, _| counts.set(counts.get() + 1)).build();
    let host = host.expect("a host");
    let thrown = catch_unwind(AssertUnwindSafe(|| host.tick(Budget::frame()))).expect_err("the panic leaves the tick");
    assert!(thrown.is::<Bomb>(), "the original payload");
    std::mem::forget(thrown);
    host.tick(Budget::frame());
    assert_eq!(ticked.get(), 1);
}
