//! Tests callbacks that own a handle of their own host. Such a handle is a reference cycle. A callback can instead own a weak handle, or
//! use the handle that it receives as an argument. When a callback is unregistered, the host breaks and reports an existing cycle.

use crate::support;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alcedo_runtime::host::Listener;
use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{
    Budget, CallError, Contexts, FoundModule, HealthWatch, LoadContext, Runtime, Signature, UnloadTicket, VersionReq,
    WeakLoadContext,
};

const LONG: Duration = Duration::from_secs(60);

/// Target of log lines about reference cycles.
const TARGET: &str = "alcedo_runtime::callback";

fn runtime() -> Runtime {
    support::builder().build().unwrap_or_else(|error| panic!("{error}"))
}

fn reports() -> PathBuf {
    support::tagged("reports", &[], 1)
}

fn gone(ticket: &UnloadTicket) {
    ticket.wait(LONG).unwrap_or_else(|report| panic!("{report}"));
}

/// Uses a value, so that a callback captures the handles in it.
fn used<T>(_with: T) {}

fn folder_exists(folder: &Path) -> bool {
    folder.exists()
}

/// Returns the reference cycles in the log, in order. Each item contains the kind of the callback and the number of its handles. Checks
/// that each callback was registered in this file.
fn named(log: &str) -> Vec<String> {
    let named = log.lines().filter(|line| line.starts_with("a callback owned a handle")).map(|line| {
        let (_, rest) = line.split_once("  callback=").unwrap_or_else(|| panic!("{line}"));
        let (callback, handles) = rest.split_once("  handles=").unwrap_or_else(|| panic!("{line}"));
        let (kind, location) = callback.split_once(" from ").unwrap_or_else(|| panic!("{line}"));
        assert!(location.starts_with("runtime/tests/callback_cycles.rs:"), "{line}");
        format!("{kind}: {handles}")
    });
    named.collect()
}

#[test]
fn weak_handles_upgrade_while_alive_and_keep_nothing() {
    let runtime = runtime();
    let contexts = runtime.contexts();
    let slim = contexts.create_slim("weak").expect("the name is free");
    let weak = (runtime.downgrade(), contexts.downgrade(), slim.downgrade(), contexts.default_context().downgrade());
    assert_eq!(weak.0.upgrade().expect("it is there").stage_dir(), runtime.stage_dir());
    assert!(weak.1.upgrade().expect("they are there").slim("weak").is_some());
    assert_eq!(weak.2.upgrade().expect("it is there").id(), slim.id());
    assert_eq!(weak.3.upgrade().expect("it is always there").name(), "Default", "even without another handle");
    let ticket = slim.begin_unload().expect("it is collectible");
    gone(&ticket);
    assert!(weak.2.upgrade().is_some(), "a strong handle exists");
    drop(slim);
    assert!(weak.2.upgrade().is_none());
    let folder = runtime.stage_dir();
    drop(runtime);
    assert!(weak.0.upgrade().is_none());
    assert!(weak.1.upgrade().is_some() && weak.3.upgrade().is_some(), "contexts outlive their runtime");
    drop(contexts);
    assert!(weak.1.upgrade().is_none() && weak.3.upgrade().is_none() && !folder_exists(&folder));
}

#[test]
fn the_last_strong_handle_ends_a_slim_despite_weak_handles_in_callbacks() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("weakly held").expect("the name is free");
    let weak: WeakLoadContext = slim.downgrade();
    let own = weak.clone();
    slim.set_resolver(move |_| Ok(own.upgrade().map(|_| FoundModule::File(reports()))));
    slim.load_name("reports", &VersionReq::STAR).expect("its resolver finds it");
    drop(slim);
    assert!(weak.upgrade().is_none() && contexts.slim("weakly held").is_none());
}

#[test]
fn callbacks_receive_a_handle_to_their_owner() {
    let runtime = runtime();
    let contexts = runtime.contexts();
    let log = Arc::new(Mutex::new(Vec::new()));
    let logging = |log: &Arc<Mutex<Vec<String>>>| {
        let log = Arc::clone(log);
        move |callback: &str, context: Option<LoadContext>, contexts: Option<Contexts>| {
            let context = context.map_or_else(|| "none".to_owned(), |context| context.name().to_owned());
            let count = contexts.map_or(0, |contexts| contexts.all().len());
            log.lock().expect("not poisoned").push(format!("{callback} {context} {count}"));
        }
    };
    let slim = contexts.create_slim("given").expect("the name is free");
    let (resolver, handler, unloading, notice) = (logging(&log), logging(&log), logging(&log), logging(&log));
    slim.set_resolver(move |request| {
        resolver("resolver", request.load_context(), request.contexts());
        Ok(None)
    });
    slim.on_resolving(move |request| {
        handler("handler", request.load_context(), request.contexts());
        Ok(Some(FoundModule::File(reports())))
    });
    slim.on_unloading(0, move |event| unloading("unloading", event.load_context(), event.contexts()));
    contexts.on_event(move |event| notice(&event.to_string(), event.load_context(), event.contexts()));
    slim.load_name("reports", &VersionReq::STAR).expect("its handler finds it");
    // Dropping this last handle begins the unload, so the following callbacks receive no handle to the Slim.
    drop(slim);
    let expected = [
        "resolver given 2",
        "handler given 2",
        "Loaded Slim \"given\" 1 reports given 2",
        "Unloading Slim \"given\" 1 none 2",
        "unloading none 2",
    ];
    assert_eq!(log.lock().expect("not poisoned")[..5], expected);

    let calls = Rc::new(RefCell::new(Vec::new()));
    let inner = Rc::clone(&calls);
    let host = support::host(&[support::plugin("lingering", &[])]);
    host.unloads().on_unloading(0, move |host, generation| {
        inner.borrow_mut().push((generation, folder_exists(&host.stage_dir())));
    });
    host.unload_master().expect("a Master");
    host.create_master(&[support::plugin("lingering", &[])]).expect("it starts");
    drop(host);
    assert_eq!(*calls.borrow(), [(1, true), (2, true)], "also after dropping the last handle of a live Master");
}

#[test]
fn a_shutdown_breaks_every_cycle_and_names_the_callbacks_causing_one() {
    let record = support::record(TARGET);
    let host_slot: Rc<RefCell<Option<Runtime>>> = Rc::default();
    let (ticks, listens) = (Rc::clone(&host_slot), Rc::clone(&host_slot));
    let builder = support::builder()
        .ticker(move |_, _| used(ticks.borrow().is_some()))
        .on_event(move |_| used(listens.borrow().is_some()));
    let host = builder.build().unwrap_or_else(|error| panic!("{error}"));
    *host_slot.borrow_mut() = Some(host.clone());
    drop(host_slot);
    let (one, other) = (host.clone(), host.clone());
    host.unloads().on_unloading(0, move |_, _| used((one.generation(), other.generation())));
    host.unloads().on_unloading(1, |host, _| used(host.generation()));
    let inner = host.clone();
    let signature: Signature = "-> u64".parse().expect("a signature");
    host.calls()
        .register("circle", signature, move |_, _| Ok(Some(alcedo_runtime::Value::U64(inner.generation()))))
        .expect("the name is free");
    let contexts = host.contexts();
    let (all, default) = (contexts.clone(), contexts.default_context());
    contexts.on_event(move |_| used(all.all()));
    let own = default.clone();
    default.set_native_resolver(move |_| Ok(own.modules().pop().and_then(|module| module.origin)));
    // The callback owns a handle to another host, which is not a cycle.
    let elsewhere = runtime();
    host.unloads().on_unloading(2, move |_, _| used(elsewhere.generation()));
    let (folder, weak) = (host.stage_dir(), host.downgrade());
    drop((contexts, default));
    record.take();

    host.shutdown().into_result().expect("a clean shutdown");
    let log = record.take();
    let expected = [
        "listener for events: 1",
        "unloading callback: 2",
        "registered function: 1",
        "resolver of native libraries: 1",
        "listener for context events: 1",
    ];
    assert_eq!(named(&log), expected, "{log}");
    assert!(weak.upgrade().is_none() && !folder_exists(&folder), "nothing is left");
}

#[test]
fn dropping_the_last_runtime_handle_breaks_and_names_cycles_of_contexts() {
    let record = support::record(TARGET);
    let runtime = runtime();
    let contexts = runtime.contexts();
    let (all, default) = (contexts.clone(), contexts.default_context());
    contexts.on_event(move |_| used(all.all()));
    default.clone().on_unloading(0, move |_| used(default.state()));
    let (folder, weak) = (runtime.stage_dir(), contexts.downgrade());
    drop(contexts);
    record.take();
    drop(runtime);
    assert_eq!(named(&record.take()), ["unloading callback: 1", "listener for context events: 1"]);
    assert!(weak.upgrade().is_none() && !folder_exists(&folder), "nothing is left");
}

#[test]
fn a_runtime_owned_by_its_own_callback_is_named_at_thread_end() {
    let record = support::record("alcedo_runtime::runtime::unended");
    let thread = std::thread::spawn(|| {
        let gone = runtime();
        gone.unloads().on_unloading(0, move |_, _| ());
        drop(gone);
        let host = runtime();
        let inner = host.clone();
        host.unloads().on_unloading(0, |_, _| ());
        host.unloads().on_unloading(1, move |_, _| used(inner.generation()));
        host.stage_dir()
    });
    let folder = thread.join().expect("it does not panic");
    let log = RefCell::new(String::new());
    support::until("the log names the callbacks", || {
        *log.borrow_mut() += &record.take();
        !log.borrow().is_empty()
    });
    let log = log.into_inner();
    assert_eq!(log.lines().count(), 1, "{log}");
    let (_, callbacks) = log.split_once("callbacks=\"").unwrap_or_else(|| panic!("{log}"));
    let (callbacks, _) = callbacks.split_once('"').unwrap_or_else(|| panic!("{log}"));
    // Excludes the callbacks of the sample engine. These callbacks own no handle to the host.
    let others: Vec<_> = callbacks.split(", ").filter(|from| !from.contains(" from runtime/engine/")).collect();
    assert!(
        others.len() == 1 && others[0].starts_with("unloading callback from runtime/tests/callback_cycles.rs:"),
        "{log}"
    );
    assert!(log.contains(&folder.display().to_string()), "{log}");
    std::fs::remove_dir_all(folder).expect("it was left behind");
}

#[test]
fn an_ended_slim_drops_its_callbacks_and_names_those_owning_it() {
    let record = support::record(TARGET);
    let runtime = runtime();
    let contexts = runtime.contexts();
    let slim = contexts.create_slim("kept").expect("the name is free");
    slim.load_path(reports()).expect("it is loaded");
    let (own, again, all) = (slim.clone(), slim.clone(), contexts.clone());
    slim.set_resolver(move |_| Ok(own.id().and(None)));
    slim.on_unloading(0, move |_| used(again.state()));
    slim.on_resolving(move |_| Ok(all.slim("absent").and(None)));
    slim.on_resolving(|_| Ok(None));
    let weak = (slim.downgrade(), contexts.downgrade());
    drop(slim);
    assert!(weak.0.upgrade().is_some(), "its own callbacks keep it");
    record.take();
    let ticket = weak.0.upgrade().expect("it is there").begin_unload().expect("it is collectible");
    gone(&ticket);
    support::until("the callbacks are dropped", || weak.0.upgrade().is_none());
    assert_eq!(named(&record.take()), ["unloading callback: 1", "resolver: 1", "handler for modules: 1"]);
    let folder = runtime.stage_dir();
    drop((contexts, runtime));
    support::until("the runtime has ended", || weak.1.upgrade().is_none() && !folder_exists(&folder));
}

#[test]
fn a_host_shut_down_by_a_ticker_has_no_tickers() {
    let record = support::record(TARGET);
    let host_slot: Rc<RefCell<Option<Runtime>>> = Rc::default();
    let ticked = Rc::clone(&host_slot);
    let builder = support::builder().ticker(move |_, _| {
        if let Some(host) = ticked.borrow_mut().take() {
            host.shutdown().into_result().expect("a ticker runs at a safe point");
        }
    });
    let (host, owner) = (builder.build().unwrap_or_else(|error| panic!("{error}")), Rc::downgrade(&host_slot));
    *host_slot.borrow_mut() = Some(host.clone());
    drop(host_slot);
    host.tick(Budget::frame());
    assert!(owner.upgrade().is_none(), "the ticker is dropped");
    assert_eq!(named(&record.take()), Vec::<String>::new(), "the ticker has dropped its own handle");
    host.tick(Budget::frame());
}

#[test]
fn a_health_function_that_owns_its_host_is_dropped_and_named() {
    let record = support::record(TARGET);
    let host = support::host(&[support::tagged("magic-cube", &[], 1)]);
    let (own, weak) = (host.clone(), host.downgrade());
    let watch = HealthWatch::new(LONG, move |_| {
        used(&own);
        Ok(())
    });
    host.watch_health(watch).expect("a folder to watch");
    host.shutdown().into_result().expect("it ends");
    assert!(weak.upgrade().is_none(), "the health function was the last owner");
    assert_eq!(named(&record.take()), ["health function: 1"]);
}

/// Value whose drop panics.
struct Panics;

impl Drop for Panics {
    fn drop(&mut self) {
        panic!("on purpose");
    }
}

#[test]
fn a_panic_of_a_captured_value_does_not_leave_a_dropped_host() {
    let host = support::host(&[support::tagged("magic-cube", &[], 1)]);
    let value = Panics;
    let watch = HealthWatch::new(LONG, move |_| {
        used(&value);
        Ok(())
    });
    host.watch_health(watch).expect("a folder to watch");
    drop(host);
}

#[test]
fn a_panic_of_a_value_in_a_native_body_or_a_listener_does_not_leave_its_drop() {
    let (of_body, of_listener) = (Panics, Panics);
    let mut lamp = NativeClass::new("Test", "Lamp", "/Script/Core.Object");
    let _light = lamp.add_function("light", &[], 0, move |_, _, ()| -> Result<(), CallError> {
        used(&of_body);
        Ok(())
    });
    let natives = Natives::in_package("Test").class(lamp);
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    let listener = Listener::of(&host, move |_, ()| -> Result<(), CallError> {
        used(&of_listener);
        Ok(())
    });
    drop(listener.expect("a listener"));
    drop(host);
}

#[test]
fn a_panic_of_a_replaced_resolver_does_not_leave_its_drop() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("replaced").expect("the name is free");
    let (of_modules, of_natives) = (Panics, Panics);
    slim.set_resolver(move |_| {
        used(&of_modules);
        Ok(None)
    });
    slim.set_native_resolver(move |_| {
        used(&of_natives);
        Ok(None)
    });
    slim.set_resolver(|_| Ok(None));
    slim.set_native_resolver(|_| Ok(None));
}

#[test]
fn a_replaced_resolver_may_use_its_context_while_dropped() {
    struct Uses(WeakLoadContext, Arc<Mutex<Vec<usize>>>);
    impl Drop for Uses {
        fn drop(&mut self) {
            let context = self.0.upgrade().expect("it is there");
            context.set_resolver(|_| Ok(None));
            self.1.lock().expect("not poisoned").push(context.modules().len());
        }
    }
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("replaced").expect("the name is free");
    let seen = Arc::default();
    let uses = Uses(slim.downgrade(), Arc::clone(&seen));
    slim.set_resolver(move |_| Ok(uses.0.upgrade().and(None)));
    // This call would deadlock if the host dropped the old resolver while it holds the lock of the resolvers.
    let (done, is_done) = std::sync::mpsc::channel();
    let own = slim.clone();
    std::thread::spawn(move || {
        own.set_resolver(|_| Ok(None));
        done.send(()).expect("it is waited for");
    });
    is_done.recv_timeout(LONG).expect("it does not wait for itself");
    assert_eq!(*seen.lock().expect("not poisoned"), [0]);
}
