//! Tests calls that never use the fast path: calls on destroyed objects, while a slice is borrowed, under a watchdog, and while calls are
//! observed. Also tests the state after a panic.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use alcedo_runtime::Budget;
use alcedo_runtime::host::TypedFunction;
use alcedo_runtime::native::Obj;
use alcedo_runtime::native::Object;
use alcedo_runtime::zcall::Observed;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use super::{HORSE, Kept, host, libraries, obj, of_build, reload, spawn};
use crate::support;

#[test]
fn stale_and_wrong_objects_are_refused_even_in_reused_slots() {
    let host = host();
    let kept = Kept::of(&host);
    let horse = spawn(&host, HORSE);
    assert_eq!(kept.answers(horse), of_build(1));
    host.objects().destroy(horse);
    host.tick(Budget::frame());
    let next = spawn(&host, HORSE);
    assert_eq!(next.index(), horse.index(), "it has the same slot");
    let answers = kept.answers(horse);
    assert!(answers[1..5].iter().all(|line| line.contains("is gone")), "{answers:?}");
    assert_eq!((&*answers[0], &*answers[5]), ("1", "[None] 1"));
    assert_eq!(kept.answers(next), of_build(1));
    let actor = spawn(&host, "/Script/Engine.Actor");
    let answers = kept.answers(actor);
    assert!(answers[1..].iter().all(|line| line.contains("not a /Script/Game.Horse")), "{answers:?}");
}

#[test]
fn a_direct_call_panic_is_an_error_and_releases_the_object() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    assert_eq!(kept.round.call((obj(horse),)).expect("it turns"), 100);
    let location = support::line_of("carousel", "throws its rider off");
    for _ in 0..3 {
        kept.mood.set(horse, 1).expect("written");
        let error = kept.round.call((obj(horse),)).expect_err("it panics").to_string();
        assert!(error.contains("throws its rider off") && error.contains(&location), "{error}, wanted {location}");
        kept.mood.set(horse, 0).expect("written");
        assert_eq!(kept.round.call((obj(horse),)).expect("not borrowed"), 100);
    }
    reload(&host, 2);
    assert_eq!(kept.round.call((obj(horse),)).expect("the frames are closed"), 200);
}

thread_local! {
    /// Callback that runs when the carousel logs a line.
    static ON_EVENT: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
}

struct Logger;

impl<S: Subscriber> Layer<S> for Logger {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let callback = ON_EVENT.with_borrow(|callback| callback.clone());
        if let Some(callback) = callback.filter(|_| event.metadata().target() == "carousel") {
            callback();
        }
    }
}

#[test]
fn calls_and_writes_are_refused_while_a_slice_is_borrowed() {
    let subscriber = tracing_subscriber::registry().with(Logger);
    tracing::subscriber::with_default(subscriber, || {
        let host = host();
        let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
        assert_eq!(kept.answers(horse), of_build(1));
        let log: Rc<RefCell<Vec<Vec<String>>>> = Rc::default();
        let (lines, inner) = (Rc::clone(&log), Rc::clone(&kept));
        ON_EVENT.set(Some(Rc::new(move || lines.borrow_mut().push(inner.answers(horse)))));
        let lend: TypedFunction<(Obj<Object>,), ()> = host.function("uf:/Script/Game.Horse:lend").expect("it is there");
        for _ in 0..2 {
            lend.call((obj(horse),)).expect("the call succeeds");
        }
        ON_EVENT.set(None);
        let log = log.borrow();
        assert_eq!(log.len(), 2);
        for answers in &*log {
            let refused = answers.iter().filter(|line| line.contains("while carousel holds a slice")).count();
            assert_eq!((refused, &*answers[3]), (5, "4.5"), "all but the read: {answers:?}");
        }
        assert_eq!(kept.answers(horse), of_build(1));
    });
}

#[test]
fn a_function_pointer_is_hot_while_its_frame_is_open() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    for build in [1, 2, 1] {
        if host.generation() > 1 || build != 1 {
            reload(&host, build);
        }
        let sum = kept.tag.hot(|tag| {
            assert!(host.reload(&libraries(2)).is_err(), "a frame is open");
            host.collection().begin_in_slices();
            host.tick(Budget::frame());
            assert_eq!(kept.answers(horse), of_build(build as i32), "other calls work");
            (0..100).map(|_| tag.call(()).expect("a number")).sum::<i32>()
        });
        assert_eq!(sum.expect("there is a pointer"), 100 * build as i32);
    }
    let panicked =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| kept.tag.hot(|_tag| panic!("the host's own"))));
    assert!(panicked.is_err());
    reload(&host, 2);
    let refused = kept.answer.hot(|_| ()).expect_err("a method has no pointer").to_string();
    assert!(refused.contains("a pointer to `uf:/Script/Game.Horse:answer`"), "{refused}");
    host.unload_master().expect("there is one");
    assert!(kept.tag.hot(|_| ()).is_err());
}

#[test]
fn a_host_with_a_watchdog_gets_equal_results_on_the_slow_path() {
    let host = support::builder().watchdog(Duration::from_secs(60)).build().expect("a runtime");
    host.create_master(&libraries(1)).expect("it loads");
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    assert_eq!(kept.answers(horse), of_build(1));
    assert!(kept.tag.hot(|_| ()).is_err(), "a watchdog observes each call");
    reload(&host, 2);
    assert_eq!(kept.answers(horse), of_build(2));
}

#[test]
fn observed_calls_use_the_slow_path_and_are_all_counted() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    assert_eq!(kept.answers(horse), of_build(1));
    assert!(host.calls().times().is_empty(), "no times were requested");
    host.calls().observe(Observed { counts: true, spans: false });
    assert_eq!(kept.answers(horse), of_build(1));
    assert!(kept.tag.hot(|_| ()).is_err(), "calls by a pointer would not be observed");
    host.calls().observe(Observed::default());
    assert_eq!(kept.answers(horse), of_build(1));
    assert!(kept.tag.hot(|_| ()).is_ok());
    let times = host.calls().times();
    // The statistics also count method bodies separately.
    let by_name = times.iter().filter(|time| time.kind != "method");
    let counted: Vec<_> = by_name.map(|time| (&*time.name, time.calls, time.failed)).collect();
    let expected = [
        ("nm:/carousel:Horse:build_tag", 2, 0),
        ("uf:/Script/Game.Horse:add", 2, 0),
        ("uf:/Script/Game.Horse:answer", 4, 0),
        ("up:/Script/Game.Horse:speed", 4, 0),
    ];
    assert_eq!(counted, expected);
}
