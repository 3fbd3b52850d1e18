//! Tests that a running host can unregister callbacks that a `Builder` or `Natives` have registered.

use crate::support;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use alcedo_runtime::native::Natives;
use alcedo_runtime::{Budget, Builder, ContextEvent, ContextEventKind, LocalRegistration, Registration, Runtime};

/// Names of the callbacks that were called, in order.
#[derive(Clone, Default)]
struct Calls(Rc<RefCell<Vec<&'static str>>>);

impl Calls {
    fn note(&self, name: &'static str) {
        self.0.borrow_mut().push(name);
    }

    fn take(&self) -> Vec<&'static str> {
        self.0.take()
    }

    fn ticker(&self, name: &'static str) -> impl FnMut(&Runtime, f32) + use<> {
        let calls = self.clone();
        move |_: &Runtime, _: f32| calls.note(name)
    }
}

fn named(host: &Runtime, name: &str) -> Vec<LocalRegistration> {
    host.registrations().into_iter().filter(|registration| registration.name() == Some(name)).collect()
}

fn names(host: &Runtime) -> Vec<Option<&'static str>> {
    host.registrations().iter().map(Registration::name).collect()
}

fn remove(host: &Runtime, name: &str) {
    named(host, name).into_iter().for_each(Registration::remove);
}

fn build(builder: Builder) -> Runtime {
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

struct Owned(Rc<Cell<bool>>);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

#[test]
fn callbacks_of_builder_and_natives_are_listed_with_their_names() {
    let calls = Calls::default();
    let natives = Natives::default().ticker(calls.ticker("native")).named("native").before_destroy(|_, _| {});
    let builder = Runtime::builder().ticker(calls.ticker("plain")).natives(natives.named("hook"));
    let builder = builder.on_event(|_| {}).named("event").on_hang(|_| {}).named("hang").ticker(calls.ticker("last"));
    let host = build(builder.named("last"));
    let _kept = host.unloads().on_unloading(0, |_, _| {});
    let expected = [None, Some("last"), Some("native"), Some("hook"), Some("event"), Some("hang"), None];
    assert_eq!(names(&host), expected);
    let description = format!("{:?}", named(&host, "event")[0]);
    assert!(description.starts_with("the registration of `event`, a listener for events from "), "{description}");
    assert!(description.contains("registrations.rs:"), "{description}");
}

#[test]
fn a_ticker_removes_itself_and_the_next_during_its_call() {
    let (calls, dropped) = (Calls::default(), Rc::<Cell<bool>>::default());
    let (recorded, owned) = (calls.clone(), Owned(Rc::clone(&dropped)));
    let once = move |host: &Runtime, _: f32| {
        recorded.note("once");
        remove(host, "once");
        remove(host, "next");
        assert!(!owned.0.get(), "its captures live while it runs");
    };
    let builder = Runtime::builder().ticker(calls.ticker("first")).ticker(once).named("once");
    let host = build(builder.ticker(calls.ticker("next")).named("next").ticker(calls.ticker("last")));
    host.tick(Budget::frame());
    assert_eq!(calls.take(), ["first", "once", "last"]);
    assert!(dropped.get(), "captures are dropped after the last call returns");
    host.tick(Budget::frame());
    assert_eq!(calls.take(), ["first", "last"]);
}

#[test]
fn a_callback_removed_twice_is_removed_once() {
    let calls = Calls::default();
    let builder = Runtime::builder().ticker(calls.ticker("one")).named("same");
    let host = build(builder.ticker(calls.ticker("other")).named("other"));
    let (first, second) = (named(&host, "same"), named(&host, "same"));
    first.into_iter().for_each(Registration::remove);
    second.into_iter().for_each(Registration::remove);
    host.tick(Budget::frame());
    assert_eq!((calls.take(), names(&host)), (vec!["other"], vec![Some("other")]));
    drop(named(&host, "other").pop().map(Registration::guard));
    host.tick(Budget::frame());
    assert_eq!(calls.take(), Vec::<&str>::new());
}

#[test]
fn a_registration_of_an_ended_host_has_no_effect() {
    let host = build(Runtime::builder().ticker(|_, _| {}).named("ticker"));
    let registrations = named(&host, "ticker");
    let other = host.clone();
    host.shutdown().into_result().expect("nothing is loaded");
    assert_eq!(other.registrations().len(), 0);
    drop(other);
    registrations.into_iter().for_each(Registration::remove);
}

#[test]
fn another_thread_removes_a_callback_by_posting() {
    let calls = Calls::default();
    let host = build(Runtime::builder().ticker(calls.ticker("ticker")).named("ticker"));
    let post = host.post_handle();
    let posted = std::thread::spawn(move || post.post(|host| remove(host, "ticker")));
    assert!(posted.join().expect("no panic"));
    host.tick(Budget::frame());
    host.tick(Budget::frame());
    assert_eq!(calls.take(), ["ticker"], "it was posted before the first tick and done at its end");
}

#[test]
fn a_listener_removes_itself_during_a_running_reload() {
    let build_of = |tag| support::tagged("magic-cube", &[], tag);
    let calls = Calls::default();
    let slot: Rc<RefCell<Option<Runtime>>> = Rc::default();
    let (recorded, found) = (calls.clone(), Rc::clone(&slot));
    let once = move |event: &ContextEvent| {
        if event.event == ContextEventKind::Unloading {
            recorded.note("once");
            let runtime = found.borrow().clone();
            remove(&runtime.expect("it was put there"), "once");
        }
    };
    let recorded = calls.clone();
    let each = move |event: &ContextEvent| {
        if event.event == ContextEventKind::Unloading {
            recorded.note("each");
        }
    };
    let runtime = build(support::builder().on_event(once).named("once").on_event(each));
    runtime.create_master(&[build_of(1)]).expect("it loads");
    *slot.borrow_mut() = Some(runtime.clone());
    for (tag, expected) in [(2, vec!["once", "each"]), (3, vec!["each"])] {
        runtime.reload(&[build_of(tag)]).expect("a Master").into_result().expect("a reload");
        assert_eq!(calls.take(), expected);
    }
    drop(slot.take());
    runtime.unload_master().expect("a Master");
    assert_eq!(calls.take(), ["each"]);
    assert!(names(&runtime).iter().all(Option::is_none));
}

#[test]
fn a_destroy_hook_is_removed_while_objects_are_destroyed() {
    let calls = Calls::default();
    let recorded = calls.clone();
    let hook = move |host: &Runtime, _| {
        recorded.note("hook");
        remove(host, "hook");
    };
    let natives = Natives::default().before_destroy(hook).named("hook");
    let host = build(support::builder().natives(natives));
    host.create_master(&[support::plugin("magic-cube", &[])]).expect("it loads");
    for _ in 0..3 {
        let cube = host.objects().spawn("/Script/Game.MagicCube").expect("a cube");
        host.objects().destroy(cube);
    }
    assert_eq!(calls.take(), ["hook"]);
}

#[test]
fn a_hang_listener_is_not_called_after_its_removal() {
    let (one, other) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let count = |of: &Arc<AtomicUsize>| {
        let of = Arc::clone(of);
        move |_: &alcedo_runtime::Hang| {
            of.fetch_add(1, Ordering::SeqCst);
        }
    };
    let builder = support::builder().watchdog(Duration::from_millis(100)).on_hang(count(&one)).named("one");
    let host = build(builder.on_hang(count(&other)).named("other"));
    // A reload phase hangs while a listener for Master events sleeps. The watchdog reports the hang.
    let hang = || {
        let seen = other.load(Ordering::SeqCst);
        let sleeps = Arc::clone(&other);
        let slow = host.unloads().on_unloading(0, move |_, _| {
            support::until("the hang is reported", || sleeps.load(Ordering::SeqCst) > seen);
        });
        host.create_master(&[support::plugin("magic-cube", &[])]).expect("it loads");
        host.unload_master().expect("a Master");
        slow.remove();
    };
    hang();
    let reported = one.load(Ordering::SeqCst);
    assert!(reported > 0, "it is called while it is registered");
    remove(&host, "one");
    hang();
    assert_eq!(one.load(Ordering::SeqCst), reported);
}
