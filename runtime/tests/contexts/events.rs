//! Tests a single listener that receives the events of all contexts in one format.

use std::sync::{Arc, Mutex};

use alcedo_runtime::{
    ContextError, ContextEvent, ContextEventKind, ContextKind, ContextState, ModuleRequest, Registration,
};

use super::{any, gone, reports, runtime, slim, support};

#[test]
fn a_listener_receives_equal_events_for_the_master_and_slims() {
    let runtime = runtime();
    let contexts = runtime.contexts();
    let log = Arc::new(Mutex::new(Vec::new()));
    let (inner, own) = (Arc::clone(&log), contexts.downgrade());
    contexts.on_event(move |event| {
        let line = event.to_string();
        if event.kind == ContextKind::Master {
            assert!(event.load_context().is_none(), "{line}: the Master has no such handle");
        }
        let contexts = event.contexts().or_else(|| own.upgrade()).expect("the runtime lives");
        let state = contexts.all().into_iter().find(|info| info.id == event.id).map(|info| info.state);
        match event.event {
            ContextEventKind::Loaded(_) | ContextEventKind::PreStartup => {
                assert_eq!(state, Some(ContextState::Alive), "{line}");
            }
            ContextEventKind::Unloading if event.kind != ContextKind::Default => {
                // A reload replaces generation 1 of the Master, and could still fail at this event.
                let is_replaced = event.kind == ContextKind::Master && event.id.generation == 1;
                let expected = if is_replaced { ContextState::Alive } else { ContextState::Unloading };
                assert_eq!(state, Some(expected), "{line}");
            }
            ContextEventKind::Dead => assert_eq!(state, None, "{line}"),
            _ => {}
        }
        inner.lock().expect("not poisoned").push(line);
    });
    let take = || std::mem::take(&mut *log.lock().expect("not poisoned"));
    let starting = |generation: u64| {
        [
            format!("PreStartup Master {generation}"),
            format!("Startup Master {generation} reports"),
            format!("PostStartup Master {generation}"),
            format!("Loaded Master {generation} reports"),
        ]
    };
    let ending = |generation: u64| ["Unloaded", "Dead"].map(|word| format!("{word} Master {generation}"));

    runtime.create_master(&[reports(1)]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(take(), starting(1));
    let other = slim(&contexts, "beside");
    assert_eq!(take(), ["Loaded Slim \"beside\" 1 reports"]);
    runtime.reload(&[reports(2)]).unwrap_or_else(|error| panic!("{error}"));
    let unloading = ["Unloading Master 1".to_owned()];
    assert_eq!(take(), [&unloading[..], &starting(2)[..], &ending(1)[..]].concat());
    runtime.unload_master().unwrap_or_else(|error| panic!("{error}"));
    let unloading = ["Unloading Master 2".to_owned()];
    assert_eq!(take(), [&unloading[..], &ending(2)[..]].concat());
    gone(&other.begin_unload().expect("it is collectible"));
    assert_eq!(take()[0], "Unloading Slim \"beside\" 1");
}

#[test]
fn each_kind_of_callback_can_be_removed_and_drops_its_captures() {
    let runtime = support::host(&[reports(1)]);
    let contexts = runtime.contexts();
    let slim = contexts.create_slim("takes back").expect("the name is free");
    let log = Arc::new(Mutex::new(Vec::new()));
    let record = |name: &'static str| {
        let log = Arc::clone(&log);
        move || log.lock().expect("no panic").push(name)
    };
    let take = || std::mem::take(&mut *log.lock().expect("no panic"));
    let resolver_of = |name| {
        let record = record(name);
        move |_: &ModuleRequest| {
            record();
            Ok(None)
        }
    };
    let native_resolver_of = |name| {
        let record = record(name);
        move |_: &str| {
            record();
            Ok(None)
        }
    };
    let on_event_of = |name| {
        let record = record(name);
        move |_: &ContextEvent| record()
    };
    let registered = [
        contexts.on_event(on_event_of("event")),
        slim.on_unloading(0, on_event_of("unloading")),
        slim.set_resolver(resolver_of("resolver")),
        slim.on_resolving(resolver_of("handler")),
        slim.set_native_resolver(native_resolver_of("native resolver")),
        slim.set_native_resolver_of("reports", native_resolver_of("native resolver of a module")),
        slim.on_resolving_native(native_resolver_of("native handler")),
    ];
    let local = {
        let record = record("Master");
        runtime.unloads().on_unloading(0, move |_, _| record())
    };
    let [event, unloading, rest @ ..] = registered;
    assert!(format!("{event:?}").contains("listener for context events from"), "{event:?}");
    let search = || {
        assert!(slim.load_name("nobody", &any()).is_err());
        assert!(slim.native_library("libnobody-has-it.so", Some("reports")).is_err());
    };
    search();
    let natives = ["native resolver of a module", "native resolver", "native handler"];
    assert_eq!(take(), [&["resolver", "handler"][..], &natives].concat());
    rest.into_iter().for_each(Registration::remove);
    search();
    assert_eq!(take(), [""; 0]);
    runtime.reload(&[reports(1)]).unwrap_or_else(|error| panic!("{error}"));
    assert!(take().contains(&"Master"));
    local.remove();
    runtime.reload(&[reports(2)]).unwrap_or_else(|error| panic!("{error}"));
    assert!(!take().contains(&"Master"));
    // Removing a resolver that was already replaced has no effect. A guard removes its resolver when the guard is dropped.
    let first = slim.set_resolver(resolver_of("first"));
    let second = slim.set_resolver(resolver_of("second")).guard();
    first.remove();
    search();
    assert_eq!(take(), ["second"]);
    drop(second);
    search();
    assert_eq!(take(), [""; 0]);
    slim.load_path(reports(1)).expect("it is loaded");
    assert_eq!(take(), ["event"]);
    drop([event.guard(), unloading.guard()]);
    gone(&slim.begin_unload().expect("it is collectible"));
    assert_eq!(take(), [""; 0]);
    assert_eq!(Arc::strong_count(&log), 1, "what they owned is gone");
}

#[test]
fn endless_loads_by_a_listener_are_refused_at_a_limit() {
    let runtime = runtime();
    let contexts = runtime.contexts();
    let refused = Arc::new(Mutex::new(None));
    let inner = Arc::clone(&refused);
    contexts.on_event(move |event| {
        if matches!(event.event, ContextEventKind::Loaded(_)) {
            let contexts = event.contexts().expect("the runtime lives");
            let deeper = contexts.create_slim(&format!("{}x", event.name)).expect("the name is free");
            if let Err(error) = deeper.load_path(reports(1)) {
                *inner.lock().expect("not poisoned") = Some(error);
            }
        }
    });
    let _first = slim(&contexts, "x");
    let refused = refused.lock().expect("not poisoned").take();
    assert!(matches!(refused, Some(ContextError::LoadTooDeep { limit: 16, .. })), "{refused:?}");
}

#[test]
fn a_listener_for_parked_slims_may_reuse_their_names() {
    let runtime = runtime();
    let contexts = runtime.contexts();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let inner = Arc::clone(&seen);
    contexts.on_event(move |event| {
        if matches!(event.event, ContextEventKind::Parked(_)) {
            let contexts = event.contexts().expect("the runtime lives");
            let state = contexts.all().into_iter().find(|info| info.id == event.id).map(|info| info.state);
            let second = contexts.create_slim(&event.name).map(|second| second.state());
            inner.lock().expect("not poisoned").push((state, second.map_err(|error| error.to_string())));
        }
    });
    let slim = slim(&contexts, "reused");
    let pointer = slim.get_function_pointer("Report", "build_tag", "-> u64").expect("it is offered");
    let ticket = slim.begin_unload().expect("it is collectible");
    slim.park();
    let expected = (Some(ContextState::Parked), Ok::<_, String>(ContextState::Alive));
    assert_eq!(*seen.lock().expect("not poisoned"), [expected]);
    assert_eq!((slim.state(), ticket.state()), (ContextState::Parked, ContextState::Parked));
    drop(pointer);
}

#[test]
fn a_failed_master_reload_raises_no_loaded_event_and_the_old_resumes() {
    let runtime = runtime();
    let contexts = runtime.contexts();
    runtime.create_master(&[reports(1)]).unwrap_or_else(|error| panic!("{error}"));
    let events = Arc::new(Mutex::new(Vec::new()));
    let inner = Arc::clone(&events);
    contexts.on_event(move |event| inner.lock().expect("not poisoned").push(event.to_string()));
    let broken = support::plugin("reports", &["panic-in-main"]);
    assert!(runtime.reload(&[broken]).is_ok_and(|reload| format!("{reload:?}").contains("broken on purpose")));
    let lines = events.lock().expect("not poisoned").clone();
    assert!(lines.contains(&"Resumed Master 1".to_owned()), "{lines:?}");
    assert!(!lines.iter().any(|line| line.starts_with("Loaded")), "{lines:?}");
}
