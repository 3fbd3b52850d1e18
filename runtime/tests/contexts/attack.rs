//! Tests attacks with the public API and safe code. Covers listeners and resolvers whose values have a `Drop` that panics or uses contexts,
//! scopes left out of order, and contexts that are parked or unloaded during a load.

use std::cell::RefCell;
use std::fs;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use alcedo_runtime::{
    Canary, ContextError, ContextEventKind, ContextScope, ContextState, Contexts, FoundModule, LoadContext, SlimWatch,
};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use super::{LONG, any, build_tag, figures, gone, needy, number, reports, runtime, slim, support};

/// Runs `work` on a separate thread. The thread may never return.
fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (done, outcome) = channel();
    thread::spawn(move || done.send(work()));
    outcome
}

/// Creates a stop point, and returns its three functions. The first blocks the calling thread. The second waits until a thread is blocked.
/// The third releases the blocked thread.
fn stop() -> (impl Fn() + Send + Sync + 'static, impl Fn() + 'static, impl Fn() + 'static) {
    let ((inside, is_inside), (release, released)) = (channel(), channel());
    let (inside, released) = (Mutex::new(inside), Mutex::new(released));
    let pause = move || {
        let _no_receiver = inside.lock().expect("no panic").send(());
        let _timeout = released.lock().expect("no panic").recv_timeout(LONG);
    };
    let reached = move || is_inside.recv_timeout(LONG).expect("it reaches the stop point");
    let resume = move || release.send(()).expect("it is still there");
    (pause, reached, resume)
}

/// Calls `listener` for each log line that this thread writes.
fn with_log_listener<T>(listener: impl Fn(&str) + Send + Sync + 'static, work: impl FnOnce() -> T) -> T {
    tracing::subscriber::with_default(tracing_subscriber::registry().with(LogListener(listener)), work)
}

struct LogListener<F>(F);

impl<S: Subscriber, F: Fn(&str) + Send + Sync + 'static> Layer<S> for LogListener<F> {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        #[derive(Default)]
        struct Line(String);
        impl tracing::field::Visit for Line {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                if field.name() == "message" {
                    self.0 = format!("{value:?}");
                }
            }
        }
        let mut line = Line::default();
        event.record(&mut line);
        (self.0)(&line.0);
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("on purpose");
    }
}

#[test]
fn a_scope_that_a_thread_local_keeps_ends_with_its_thread() {
    thread_local! {
        static KEEP: RefCell<Option<ContextScope>> = const { RefCell::new(None) };
    }
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("kept").expect("the name is free");
    let inner = slim.clone();
    let thread = thread::spawn(move || {
        // The destructor of this slot is registered first. The destructor therefore runs last.
        KEEP.with_borrow_mut(|keep| *keep = None);
        let scope = inner.enter().expect("it is alive");
        KEEP.with_borrow_mut(|keep| *keep = Some(scope));
    });
    thread.join().expect("it does not panic");
    gone(&slim.begin_unload().expect("it is collectible"));
}

#[test]
fn a_thread_local_destructor_may_use_a_context_and_has_no_scope() {
    struct AtEnd(LoadContext, std::sync::mpsc::Sender<(Option<u64>, bool)>);
    impl Drop for AtEnd {
        fn drop(&mut self) {
            let answer = build_tag(&self.0).call(&[]).ok().flatten();
            let answer = answer.map(|value| format!("{value:?}")).filter(|text| text.contains('1')).map(|_| 1);
            let _sent = self.1.send((answer, Contexts::current().is_none()));
        }
    }
    thread_local! {
        static KEEP: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
    }
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "used late");
    let (inner, (sender, receiver)) = (slim.clone(), channel());
    let thread = thread::spawn(move || {
        KEEP.with_borrow_mut(|keep| *keep = Some(AtEnd(inner.clone(), sender)));
        drop(inner.enter().expect("it is alive"));
    });
    thread.join().expect("it does not panic");
    assert_eq!(receiver.recv().expect("it ran"), (Some(1), true));
    gone(&slim.begin_unload().expect("it is collectible"));
}

#[test]
fn a_subscriber_may_list_contexts_while_one_starts_unloading() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "looked at");
    let ended = on_thread(move || {
        let on_line = move |line: &str| {
            if line.contains("begins to unload") {
                drop(contexts.all());
            }
        };
        with_log_listener(on_line, || slim.begin_unload().expect("it is collectible").wait(LONG).is_ok())
    });
    assert_eq!(ended.recv_timeout(LONG), Ok(true));
}

#[test]
fn a_load_into_a_parked_context_fails_and_leaves_nothing() {
    for by_name in [true, false] {
        let runtime = runtime();
        let (contexts, stage) = (runtime.contexts(), runtime.stage_dir());
        let events = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&events);
        contexts.on_event(move |event| log.lock().expect("no panic").push(event.to_string()));
        let slim = contexts.create_slim("parked").expect("the name is free");
        slim.set_canary(Canary::Off);
        let (pause, reached, resume) = stop();
        slim.set_resolver(move |_| {
            pause();
            Ok(Some(FoundModule::File(figures(1))))
        });
        let loads = slim.clone();
        let outcome = on_thread(move || match by_name {
            true => loads.load_name("figures", &any()),
            false => loads.load_path(needy()),
        });
        reached();
        let _ticket = slim.begin_unload().expect("it is collectible");
        slim.park();
        resume();
        let refused = outcome.recv_timeout(LONG).expect("the call returns");
        assert!(matches!(refused, Err(ContextError::ContextUnloading { .. })), "{refused:?}");
        let maps = fs::read_to_string("/proc/self/maps").expect("this is Linux");
        assert!(!maps.contains(&*stage.to_string_lossy()), "an image stays mapped");
        let events = events.lock().expect("no panic");
        assert!(!events.iter().any(|event| event.starts_with("Loaded")), "{events:?}");
    }
}

#[test]
fn an_unload_waits_for_a_running_replacement() {
    let runtime = runtime();
    let contexts = runtime.contexts();
    let slim = slim(&contexts, "replaced");
    let (pause, reached, resume) = stop();
    let replaces = slim.clone();
    let outcome = on_thread(move || {
        let at_main = move |line: &str| {
            if line == "main reports" {
                pause();
            }
        };
        with_log_listener(at_main, || replaces.replace(reports(2)))
    });
    reached();
    let ticket = slim.begin_unload().expect("it is collectible");
    let report = ticket.wait(Duration::from_millis(50)).expect_err("a main of it runs");
    assert!(report.blockers.iter().any(|by| by.owner == "replacing it by reports"), "{report}");
    assert!(contexts.create_slim("replaced").is_err(), "the name is taken");
    resume();
    let refused = outcome.recv_timeout(LONG).expect("the call returns");
    assert!(matches!(refused, Err(ContextError::ContextUnloading { .. })), "{refused:?}");
    ticket.wait(LONG).expect("no call is inside");
    support::until("nothing of it is left", || contexts.all().len() == 1);
}

#[test]
fn a_weak_handle_to_a_pinned_context_upgrades_without_strong_handles() {
    let runtime = runtime();
    let contexts = runtime.contexts();
    let pinned = contexts.create_pinned("stays").expect("the name is free");
    let weak = pinned.downgrade();
    drop(contexts.pinned("stays").expect("it is there"));
    assert!(weak.upgrade().is_some());
    drop(pinned);
    assert!(weak.upgrade().is_some());
}

#[test]
fn a_module_of_another_runtime_is_rejected_even_with_equal_ids() {
    let (one, two) = (runtime(), runtime());
    let (ours, theirs) = (one.contexts(), two.contexts());
    let secret = ours.create_slim("secret").expect("the name is free");
    secret.load_path(figures(1)).expect("it is loaded");
    let foreign = theirs.create_slim("theirs").expect("the name is free").load_path(figures(1)).expect("it is loaded");
    let requester = ours.create_slim("requests").expect("the name is free");
    requester.set_resolver(move |_| Ok(Some(FoundModule::Loaded(foreign.clone()))));
    let refused = requester.load_name("figures", &any());
    assert!(matches!(refused, Err(ContextError::ForeignModule { .. })), "{refused:?}");
}

#[test]
fn a_listener_with_a_panicking_drop_ends_neither_thread_nor_later_unloads() {
    let builder = support::builder().unloads(|policy| policy.shutdown = Duration::from_millis(100));
    let runtime = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let contexts = runtime.contexts();
    let (pause, reached, resume) = stop();
    let bomb = Bomb;
    contexts.on_event(move |event| {
        let _owned = &bomb;
        if event.event == ContextEventKind::Dead && event.name == "one" {
            pause();
        }
    });
    let one = slim(&contexts, "one");
    let lease = one.lease("a test").expect("it is alive");
    let ticket = one.begin_unload().expect("it is collectible");
    drop(lease);
    reached();
    drop(runtime.shutdown());
    resume();
    support::until("the notifying thread continues", || ticket.state() == ContextState::Dead);
    // The contexts in these tests outlive the runtime that created them.
    let two = slim(&contexts, "two");
    let lease = two.lease("a test").expect("it is alive");
    let ticket = two.begin_unload().expect("it is collectible");
    drop(lease);
    support::until("the context ends by itself", || ticket.state() == ContextState::Dead);
}

#[test]
fn an_unloading_callback_with_a_panicking_drop_does_not_interrupt_the_unload() {
    let builder = support::builder().unloads(|policy| policy.shutdown = Duration::from_millis(100));
    let runtime = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let one = slim(&runtime.contexts(), "one");
    let (pause, reached, resume) = stop();
    let bomb = Bomb;
    one.on_unloading(0, move |_| {
        let _owned = &bomb;
        pause();
    });
    let unloads = one.clone();
    let unloading = thread::spawn(move || unloads.begin_unload());
    reached();
    drop(runtime.shutdown());
    resume();
    let ticket = unloading.join().expect("the panic stays inside").expect("it is collectible");
    ticket.wait(LONG).expect("no call is inside");
}

#[test]
fn a_resolver_replaced_during_its_call_may_panic_in_drop() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("requests").expect("the name is free");
    let (pause, reached, resume) = stop();
    let bomb = Bomb;
    slim.set_resolver(move |_| {
        let _owned = &bomb;
        pause();
        Ok(None)
    });
    let requester = slim.clone();
    let outcome = thread::spawn(move || requester.load_name("nothing", &any()));
    reached();
    slim.set_resolver(|_| Ok(None));
    resume();
    let refused = outcome.join().expect("the panic stays inside");
    assert!(matches!(refused, Err(ContextError::NotFound { .. })), "{refused:?}");
    gone(&slim.begin_unload().expect("it is collectible"));
}

#[test]
fn misleading_context_names_do_not_hide_dependents_of_a_module() {
    let contexts = runtime().contexts();
    let base = contexts.create_slim("a").expect("the name is free");
    let module = base.load_path(figures(1)).expect("it is loaded");
    for name in ["plain", "x of Slim \"a\" generation 1, which needs y", "a\" generation 1, which needs figures"] {
        let user = contexts.create_slim(name).expect("the name is free");
        let borrowed = module.clone();
        user.set_resolver(move |_| Ok(Some(FoundModule::Loaded(borrowed.clone()))));
        user.load_path(needy()).expect("it depends");
        let report = contexts.report(base.id().expect("it is alive")).expect("it is alive");
        let is_named = |by: &alcedo_runtime::Blocker| by.owner.contains(name) && by.owner.starts_with("reports");
        assert!(report.blockers.iter().any(is_named), "{name}: {report}");
        gone(&user.begin_unload().expect("it is collectible"));
    }
    assert_eq!(number(&base.function("Sum", "build_tag", "-> u64").expect("it is offered")).expect("it answers"), 1);
}

#[test]
fn a_native_library_without_a_name_is_not_this_program() {
    let contexts = runtime().contexts();
    let found = contexts.create_slim("natives").expect("the name is free").native_library("", None);
    assert!(matches!(found, Err(ContextError::NativeNotFound { .. })), "{found:?}");
}

#[test]
fn a_context_hanging_in_its_exit_hook_is_parked_naming_the_thread() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("hangs").expect("the name is free");
    let (pause, reached, resume) = stop();
    let unloads = slim.clone();
    let unloading = on_thread(move || {
        let at_exit = move |line: &str| {
            if line == "exit reports" {
                pause();
            }
        };
        with_log_listener(at_exit, || {
            unloads.load_path(reports(1)).expect("it is loaded");
            unloads.begin_unload().expect("it is collectible")
        })
    });
    reached();
    let ticket = slim.begin_unload().expect("it has begun");
    let report = ticket.wait(Duration::from_millis(300)).expect_err("its exit hook runs");
    assert!(report.to_string().contains("an exit hook, a destructor or a listener runs"), "{report}");
    let parks = slim.clone();
    let parked = on_thread(move || parks.park());
    parked.recv_timeout(LONG).expect("the call returns");
    resume();
    assert_eq!(unloading.recv_timeout(LONG).as_ref(), Ok(&ticket));
    support::until("it has ended", || matches!(ticket.state(), ContextState::Dead | ContextState::Parked));
}

#[test]
fn a_hanging_listener_stops_no_other_unload() {
    let contexts = runtime().contexts();
    let (pause, reached, resume) = stop();
    contexts.on_event(move |event| {
        if event.name == "one" && event.event == ContextEventKind::Dead {
            pause();
        }
    });
    let [one, two, three] = ["one", "two", "three"].map(|name| slim(&contexts, name));
    let leases = [&one, &two].map(|slim| slim.lease("a test").expect("it is alive"));
    let _for_ever = three.lease("for ever").expect("it is alive");
    let [one, two, three] = [&one, &two, &three].map(|slim| slim.begin_unload().expect("it is collectible"));
    let [first, second] = leases;
    drop(first);
    reached();
    drop(second);
    support::until("two has ended", || two.state() == ContextState::Dead);
    contexts.park_after(Some(Duration::from_millis(500)));
    support::until("three was parked", || three.state() == ContextState::Parked);
    resume();
    support::until("one has ended", || one.state() == ContextState::Dead);
}

#[test]
fn a_long_chain_of_contexts_keeping_each_other_ends() {
    const LENGTH: usize = 2000;
    let contexts = runtime().contexts();
    let mut last = contexts.create_slim("0").expect("the name is free");
    for at in 1..LENGTH {
        let next = contexts.create_slim(&at.to_string()).expect("the name is free");
        next.set_resolver(move |_| {
            let _keeps = &last;
            Ok(None)
        });
        last = next;
    }
    drop(last);
    support::until("all have ended", || contexts.all().len() == 1);
}

#[test]
fn the_watch_of_an_ended_slim_releases_it() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "watched");
    let kept = Arc::new(());
    let captured = Arc::clone(&kept);
    let watch = SlimWatch::start(&slim, reports(1), move |_| drop(Arc::clone(&captured))).expect("it can be watched");
    gone(&slim.begin_unload().expect("it is collectible"));
    support::until("its thread has ended", || Arc::strong_count(&kept) == 1);
    drop(watch);
}
