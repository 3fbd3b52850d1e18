//! Tests several calls in one crossing of the ABI boundary: batches of objects, lists, and the ticks of a frame.

use std::cell::RefCell;
use std::rc::Rc;

use alcedo_engine::Actor;
use alcedo_runtime::host::{ClassList, ObjectList, TypedProperty};
use alcedo_runtime::native::{Obj, Object, uclass};
use alcedo_runtime::{Budget, Builder, CallError, Error, ObjectHandle, Runtime, Value, natives};

use super::{COLT, HORSE, Kept, PONY, ROUND, host, libraries, obj, of_build, reload, spawn};
use crate::support;

thread_local! {
    /// Callback that an actor of the class `Reloader` runs in its tick.
    static IN_ITS_TICK: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
}

const RELOADER: &str = "/Script/Test.Reloader";

/// Actor class of the host. The host also implements the tick of this class.
#[uclass(package = "Test", base = Actor)]
#[derive(Default)]
struct Reloader {}

#[uclass]
impl Reloader {
    #[overrides(Actor)]
    fn receive_tick(&mut self, _delta_seconds: f32) {
        if let Some(code) = IN_ITS_TICK.with_borrow(|code| code.clone()) {
            code();
        }
    }
}

/// Returns a builder of a host with the class `Reloader`.
fn reloader_builder() -> Builder {
    support::builder().natives(natives![Reloader]).package("Test")
}

#[test]
fn lists_that_were_filled_on_different_threads_are_different_lists() {
    let host = host();
    let kept = Kept::of(&host);
    let (first, second) = (spawn(&host, HORSE), spawn(&host, HORSE));
    let there = |object| std::thread::spawn(move || ObjectList::from(vec![object])).join().expect("a list");
    for (list, turned) in [(there(first), [1.0, 0.0]), (there(second), [1.0, 1.0])] {
        assert_eq!(kept.rounds.call_list(&list, ()).expect("called").called, 1);
        let degrees =
            [first, second].map(|horse| host.objects().call(horse, "degrees", &[]).expect("the call succeeds"));
        assert_eq!(degrees, turned.map(|degrees| Some(Value::F64(degrees))));
    }
}

#[test]
fn a_class_list_is_refreshed_in_another_host() {
    let build = || reloader_builder().build().expect("a runtime");
    let hosts = [build(), build()];
    let spawned = [spawn(&hosts[0], RELOADER), spawn(&hosts[0], "/Script/Engine.Actor")];
    let others = [spawn(&hosts[1], "/Script/Engine.Actor"), spawn(&hosts[1], RELOADER)];
    let mut list: ClassList = hosts[0].list(RELOADER);
    for _ in 0..2 {
        assert!(list.refresh(&hosts[0]) && !list.refresh(&hosts[0]));
        assert_eq!(list.list().objects(), [spawned[0]]);
        assert!(list.refresh(&hosts[1]) && !list.refresh(&hosts[1]));
        assert_eq!(list.list().objects(), [others[1]]);
    }
}

#[test]
fn a_batch_refuses_a_list_of_another_host() {
    let hosts = [host(), host()];
    let kept = Kept::of(&hosts[0]);
    let horse = spawn(&hosts[0], HORSE);
    let mut list = hosts[1].list(HORSE);
    for horses in 0..2 {
        assert!(list.refresh(&hosts[1]));
        assert_eq!(list.list().objects().len(), horses);
        let error = kept.rounds.call_list(list.list(), ()).expect_err("the objects are of another host");
        assert!(matches!(&error, Error::OtherRuntime { name } if name == ROUND), "{error}");
        let text = format!("`{ROUND}` was not called: the list has objects of another runtime, ");
        assert!(error.to_string().starts_with(&text), "{error}");
        spawn(&hosts[1], HORSE);
    }
    let degrees = hosts[0].objects().call(horse, "degrees", &[]).expect("the call succeeds");
    assert_eq!(degrees, Some(Value::F64(0.0)), "the horse with the handle of another horse has not turned");
    assert!(list.refresh(&hosts[0]));
    assert_eq!(kept.rounds.call_list(list.list(), ()).expect("called").called, 1);
}

#[test]
fn a_list_of_a_removed_class_has_no_objects_and_no_methods() {
    let host = host();
    let kept = Kept::of(&host);
    let horse = spawn(&host, HORSE);
    let tick = host.batch::<(f32,), ()>("uf:/Script/Engine.Actor:receive_tick").expect("it is there");
    let mut list = host.list(HORSE);
    assert_eq!(kept.rounds.call_list(list.list(), ()).expect("called").called, 0, "the list is not filled yet");
    assert!(list.refresh(&host));
    assert_eq!(kept.rounds.call_list(list.list(), ()).expect("called").called, 1);

    let report = host.reload(&[support::plugin("broken", &[])]).expect("a Master");
    report.into_result().unwrap_or_else(|report| panic!("{report}"));
    for is_empty in [false, true] {
        assert_eq!(list.list().objects().is_empty(), is_empty);
        let error = kept.rounds.call_list(list.list(), ()).expect_err("the class is removed");
        assert!(matches!(error, Error::Call(CallError::NotFound { .. })), "{error}");
        assert!(error.to_string().contains("Game.Horse:round"), "{error}");
        list.refresh(&host);
    }
    assert_eq!(tick.call_list(list.list(), (1.0,)).expect("called").called, 0);

    reload(&host, 1);
    assert!(list.refresh(&host));
    assert_eq!(list.list().objects(), [horse]);
    assert_eq!(kept.rounds.call_list(list.list(), ()).expect("called").called, 1);
}

#[test]
fn a_batch_crosses_once_per_class_and_returns_results_in_order() {
    let host = host();
    let kept = Kept::of(&host);
    let classes = [HORSE, COLT, PONY, HORSE, PONY, COLT, HORSE];
    let horses = classes.map(|class| spawn(&host, class));
    for build in [1, 2, 1] {
        if host.generation() > 1 || build != 1 {
            reload(&host, build);
        }
        let (results, report) = kept.answers.collect(&horses, (7,)).expect("called");
        let expected = classes.map(|class| build as i32 * 1000 + if class == COLT { 507 } else { 7 });
        assert_eq!(results.into_iter().flatten().collect::<Vec<_>>(), expected);
        assert_eq!((report.called, report.crossings, report.ended, report.failed.len()), (7, 3, 0, 0));
    }
}

#[test]
fn in_a_batch_a_panic_is_named_and_the_others_are_done() {
    let host = host();
    let kept = Kept::of(&host);
    let horses: Vec<_> = (0..10).map(|_| spawn(&host, HORSE)).collect();
    for mad in [3, 4, 9] {
        kept.mood.set(horses[mad], 1).expect("written");
    }
    let list = ObjectList::from(horses.clone());
    for _ in 0..2 {
        let report = kept.rounds.call_list(&list, ()).expect("called");
        let failed: Vec<_> = report.failed.iter().map(|(object, _)| *object).collect();
        assert_eq!(failed, [horses[3], horses[4], horses[9]]);
        assert!(report.failed.iter().all(|(_, error)| error.to_string().contains("throws its rider off")));
        // After a failed call, the host crosses the ABI boundary again for the remaining objects. After the last call, no object remains.
        assert_eq!((report.called, report.crossings), (10, 3));
    }
    let turned = |horse: ObjectHandle| host.objects().call(horse, "degrees", &[]).expect("the call succeeds");
    assert!(horses.iter().all(|horse| turned(*horse) == Some(Value::F64(2.0))), "every horse has turned twice");
    let (results, _report) = kept.rounds.collect(&horses, ()).expect("called");
    let gave: Vec<_> = results.iter().map(Option::is_some).collect();
    assert_eq!(gave, [true, true, true, false, false, true, true, true, true, false]);
}

#[test]
fn objects_in_a_batch_may_destroy_spawn_and_call_back() {
    let host = host();
    let kept = Kept::of(&host);
    let horses: Vec<_> = (0..8).map(|_| spawn(&host, HORSE)).collect();
    let list = Rc::new(ObjectList::from(horses.clone()));
    let other: TypedProperty<Obj<Object>> = host.property("up:/Script/Game.Horse:other").expect("it is there");
    let (inner, same) = (Rc::clone(&kept), Rc::clone(&list));
    let query = move |host: &Runtime, (mood,): (i32,)| {
        // Calls the list and the batch of the outer call again. The outer call borrows its current object, so the inner call on this object
        // fails.
        let report = inner.answers.call_list(&same, (1,)).expect("called");
        assert_eq!((report.called, report.failed.len(), report.ended), (7, 1, 1), "{report:?}");
        host.request_reload(libraries(2));
        mood
    };
    host.calls().register_typed("host.query", query).expect("the name is free");
    let before = host.objects().iter().len();
    for (at, mood) in [(1, 2), (2, 3), (4, 4)] {
        kept.mood.set(horses[at], mood).expect("written");
    }
    other.set(horses[1], obj(horses[6])).expect("written");
    let (results, report) = kept.rounds.collect(&horses, ()).expect("called");
    let expected = [Some(100), Some(102), Some(103), Some(100), Some(104), Some(100), None, Some(100)];
    assert_eq!(results, expected);
    assert_eq!((report.called, report.ended, report.failed.len()), (7, 1, 0));
    assert_eq!(host.objects().iter().len(), before, "one has ended, and one begun");
    kept.mood.set(horses[1], 0).expect("written");
    kept.mood.set(horses[2], 0).expect("written");
    kept.mood.set(horses[4], 0).expect("written");
    host.tick(Budget::frame());
    let report = kept.rounds.call_list(&list, ()).expect("called");
    assert_eq!((report.called, report.ended, report.failed.len()), (7, 1, 0), "{report:?}");
    assert_eq!(kept.tag.call(()).expect("a number"), 2, "the reload was done after the batch");
}

#[test]
fn a_batch_skips_objects_by_property_or_missing_override() {
    let host = host();
    let horses: Vec<_> = (0..6).map(|_| spawn(&host, HORSE)).collect();
    let colt = spawn(&host, COLT);
    let wants: TypedProperty<bool> = host.property("up:/Script/Game.Horse:wants").expect("it is there");
    wants.set(horses[2], true).expect("written");
    let all: Vec<_> = horses.iter().copied().chain([colt]).collect();
    let batch = || host.batch::<(i32,), i32>("uf:/Script/Game.Horse:answer").expect("it is there");
    let (results, report) = batch().when("wants").collect(&all, (7,)).expect("called");
    assert_eq!(results.iter().flatten().count(), 1);
    assert_eq!((results[2], report.called, report.unmet), (Some(1007), 1, 6));
    let (results, report) = batch().only_overrides().collect(&all, (7,)).expect("called");
    assert_eq!((results[6], report.called, report.without_override), (Some(1507), 1, 6));
    let refused = batch().when("speed").call(&all, (7,)).expect_err("no bool").to_string();
    assert!(refused.contains("no `bool` property speed"), "{refused}");
    for (name, expected) in [("nm:/carousel:Horse:query", "of no object"), (ROUND, "i32 -> i32"), ("uf:/nothing", "")] {
        let refused = host.batch::<(i32,), i32>(name).expect_err("no such method").to_string();
        assert!(refused.contains(expected), "{name}: {refused}");
    }
}

#[test]
fn a_reload_inside_a_batch_calls_new_code_on_the_rest() {
    let host = support::host_of(reloader_builder(), &libraries(1));
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    let reloader = spawn(&host, RELOADER);
    let others = [HORSE, PONY, HORSE].map(|class| spawn(&host, class));
    let all: Vec<_> = [horse, reloader].into_iter().chain(others).collect();
    let tick = host.batch::<(f32,), ()>("uf:/Script/Engine.Actor:receive_tick").expect("it is there");
    let list = ObjectList::from(all);
    assert_eq!(tick.call_list(&list, (1.0,)).expect("called").called, 5);
    for build in [2, 1] {
        let inner = host.downgrade();
        IN_ITS_TICK.set(Some(Rc::new(move || {
            let host = inner.upgrade().expect("it is there");
            reload(&host, build);
            // Frees the destroyed objects.
            host.safe_point();
        })));
        let report = tick.call_list(&list, (1.0,)).expect("called");
        assert_eq!((report.called, report.failed.len()), (5, 0), "{report:?}");
        IN_ITS_TICK.set(None);
        assert_eq!(kept.answers(others[0]), of_build(build as i32));
        // The reload has replaced the plugin parts, so only objects that the batch called after the reload have turned.
        let turned = |object: ObjectHandle| host.objects().call(object, "degrees", &[]).expect("the call succeeds");
        let degrees = [horse, others[0], others[1], others[2]].map(turned);
        let [before, after] = [0.0, 90.0].map(|degrees| Some(Value::F64(degrees)));
        // Calls are grouped by class: all horses were called before the reload.
        assert_eq!(degrees, [before.clone(), before.clone(), after, before]);
    }
}

#[test]
fn a_reload_inside_a_batch_keeps_its_condition() {
    let host = support::host_of(reloader_builder(), &libraries(1));
    let [reloader, resting, ready] = [RELOADER, HORSE, HORSE].map(|class| spawn(&host, class));
    let can_tick: TypedProperty<bool> = host.property("up:/Script/Engine.Actor:can_tick").expect("it is there");
    can_tick.set(reloader, true).expect("written");
    can_tick.set(resting, false).expect("written");
    let tick = host.batch::<(f32,), ()>("uf:/Script/Engine.Actor:receive_tick").expect("it is there").when("can_tick");
    let inner = host.downgrade();
    IN_ITS_TICK.set(Some(Rc::new(move || reload(&inner.upgrade().expect("it is there"), 2))));
    let report = tick.call(&[reloader, resting, ready], (1.0,)).expect("called");
    IN_ITS_TICK.set(None);
    assert_eq!(host.generation(), 2);
    assert_eq!((report.called, report.unmet, report.failed.len()), (2, 1, 0), "{report:?}");
}

#[test]
fn a_frame_ticks_enabled_actors_and_names_those_that_fail() {
    let host = host();
    let turned = |horse: ObjectHandle| match host.objects().call(horse, "degrees", &[]) {
        Ok(Some(Value::F64(turned))) => turned,
        other => panic!("{other:?}"),
    };
    let horses: Vec<_> = (0..3).map(|_| spawn(&host, HORSE)).collect();
    let can_tick: TypedProperty<bool> = host.property("up:/Script/Engine.Actor:can_tick").expect("it is there");
    can_tick.set(horses[1], false).expect("written");
    let second = Budget::seconds(1.0);
    host.tick(second);
    assert_eq!([0, 1, 2].map(|at| turned(horses[at])), [90.0, 0.0, 90.0]);
    can_tick.set(horses[1], true).expect("written");
    let (pony, colt) = (spawn(&host, PONY), spawn(&host, COLT));
    host.objects().destroy(horses[0]);
    host.tick(second);
    assert_eq!([horses[1], horses[2], pony, colt].map(turned), [90.0, 180.0, 90.0, 0.0]);
    // Non-property fields of a plugin part are reset.
    reload(&host, 2);
    host.tick(second);
    assert_eq!([horses[1], horses[2], pony].map(turned), [90.0, 90.0, 90.0]);
}
