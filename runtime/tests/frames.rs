//! Tests frames of a game in which actors affect each other. The tick of an actor may destroy or create an actor, panic, request a
//! reload, add an observer, or tick another host. Each actor that exists at its turn must be ticked exactly once.

use crate::support;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use alcedo_engine::Actor;
use alcedo_runtime::host::{BatchFunction, BatchReport, ClassList, TypedProperty};
use alcedo_runtime::native::{Obj, Object, uclass};
use alcedo_runtime::zcall::Observed;
use alcedo_runtime::{Budget, CallError, ObjectHandle, Runtime, Value, natives};

const ROAN: &str = "/Script/Game.Roan";
const HORSE: &str = "/Script/Game.Horse";
const COLT: &str = "/Script/Game.Colt";

/// Actions that an actor of the class `Roan` can perform. A number selects the action.
const PANICS: i32 = 1;
const ENDS: i32 = 2;
const BEGINS: i32 = 3;
const TICKS: i32 = 4;

/// Closures that the host runs in the ticks of `Roan` objects. The key is the number of the object.
type Actions = Rc<RefCell<BTreeMap<i32, Rc<dyn Fn(&Runtime)>>>>;

/// Host, with the numbers of the ticked `Roan` objects, and the actions that these objects run in their ticks.
struct Stable {
    host: Runtime,
    ticked: Rc<RefCell<Vec<i32>>>,
    actions: Actions,
    number: TypedProperty<i32>,
    deed: TypedProperty<i32>,
    other: TypedProperty<Obj<Object>>,
}

fn libraries(features: &[&str], build: u64) -> Vec<PathBuf> {
    vec![support::tagged("carousel", features, build)]
}

impl Stable {
    fn new() -> Self {
        let host = support::builder().natives(natives![Cart]).package("Test").build().expect("a runtime");
        host.create_master(&libraries(&[], 1)).expect("it loads");
        let (ticked, actions): (Rc<RefCell<Vec<i32>>>, Actions) = Default::default();
        let (inner, to_do) = (Rc::clone(&ticked), Rc::clone(&actions));
        let on_tick = move |host: &Runtime, (number,): (i32,)| {
            inner.borrow_mut().push(number);
            let action = to_do.borrow().get(&number).cloned();
            if let Some(action) = action {
                action(host);
            }
            number
        };
        host.calls().register_typed("host.tick", on_tick).expect("the name is free");
        Self {
            ticked,
            actions,
            number: host.property("up:/Script/Game.Roan:number").expect("it is there"),
            deed: host.property("up:/Script/Game.Roan:deed").expect("it is there"),
            other: host.property("up:/Script/Game.Roan:other").expect("it is there"),
            host,
        }
    }

    fn roans<const N: usize>(&self) -> [ObjectHandle; N] {
        std::array::from_fn(|at| {
            let roan = self.host.objects().spawn(ROAN).expect("it is declared");
            self.number.set(roan, at as i32 + 1).expect("written");
            roan
        })
    }

    fn does(&self, roan: ObjectHandle, deed: i32, other: ObjectHandle) {
        self.deed.set(roan, deed).expect("written");
        self.other.set(roan, Obj::new(other)).expect("written");
    }

    fn on(&self, number: i32, action: impl Fn(&Runtime) + 'static) {
        self.actions.borrow_mut().insert(number, Rc::new(action));
    }

    /// Runs one frame, and returns the numbers of the ticked actors in order.
    fn frame(&self) -> Vec<i32> {
        self.host.tick(Budget::seconds(1.0));
        self.ticked.take()
    }

    fn ticks(&self, roan: ObjectHandle) -> Option<i32> {
        match self.host.objects().call(roan, "ticks", &[]) {
            Ok(Some(Value::I32(ticks))) => Some(ticks),
            _ => None,
        }
    }

    fn is_there(&self, roan: ObjectHandle) -> bool {
        self.host.objects().class_of(roan).is_some()
    }
}

thread_local! {
    /// Closure that a cart runs when it is dropped.
    static AT_ITS_END: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
}

/// Rust field that inspects the host during its drop.
#[derive(Default)]
struct OnDrop;

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(action) = AT_ITS_END.with_borrow(Clone::clone) {
            action();
        }
    }
}

/// Host actor with a Rust field that inspects the host in its drop.
#[uclass(package = "Test", base = Actor)]
struct Cart {
    #[expect(dead_code, reason = "only its drop is used")]
    on_drop: OnDrop,
}

#[test]
fn an_actor_destroying_itself_in_its_tick_skips_no_other() {
    let stable = Stable::new();
    let roans @ [first, second, third, last] = stable.roans();
    for roan in [second, third, last] {
        stable.does(roan, ENDS, roan);
    }
    assert_eq!(stable.frame(), [1, 2, 3, 4]);
    assert_eq!(roans.map(|roan| stable.is_there(roan)), [true, false, false, false]);
    assert_eq!(stable.frame(), [1]);
    assert_eq!(stable.ticks(first), Some(2));
    stable.does(first, ENDS, first);
    assert_eq!(stable.frame(), [1]);
    assert!(stable.frame().is_empty(), "no actor is left");
    stable.host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn an_actor_destroyed_before_its_turn_is_not_ticked() {
    let stable = Stable::new();
    let roans @ [_, second, third, fourth, fifth, _] = stable.roans();
    stable.does(second, ENDS, roans[0]);
    stable.does(third, ENDS, fifth);
    stable.does(fourth, ENDS, third);
    assert_eq!(stable.frame(), [1, 2, 3, 4, 6]);
    assert_eq!(roans.map(|roan| stable.ticks(roan)), [None, Some(101), None, Some(101), None, Some(1)]);
    for roan in [second, fourth] {
        stable.does(roan, 0, roan);
    }
    // A new actor reuses the slot of a destroyed actor. The current frame's list of actors does not contain the new actor.
    let again: [ObjectHandle; 1] = stable.roans();
    stable.number.set(again[0], 7).expect("written");
    let mut ticked = stable.frame();
    ticked.sort_unstable();
    assert_eq!(ticked, [2, 4, 6, 7]);
}

#[test]
fn an_actor_reusing_a_slot_is_first_ticked_in_the_next_frame() {
    let stable = Stable::new();
    let [_, second, _] = stable.roans();
    let begun: Rc<RefCell<Vec<ObjectHandle>>> = Rc::default();
    let (number, kept) =
        (stable.host.property::<i32>("up:/Script/Game.Roan:number").expect("it is there"), begun.clone());
    stable.on(1, move |host| {
        host.objects().destroy(second);
        let next = host.objects().spawn(ROAN).expect("it is declared");
        number.set(next, 10).expect("written");
        kept.borrow_mut().push(next);
    });
    assert_eq!(stable.frame(), [1, 3]);
    stable.actions.take();
    let next = begun.borrow()[0];
    assert_eq!(stable.ticks(next), Some(0));
    let mut ticked = stable.frame();
    ticked.sort_unstable();
    assert_eq!(ticked, [1, 3, 10]);
}

#[test]
fn actors_spawned_in_a_tick_are_ticked_from_the_next_frame() {
    let stable = Stable::new();
    let roans @ [_, second, _] = stable.roans();
    stable.does(second, BEGINS, second);
    let count = || stable.host.objects().iter().filter(|object| stable.ticks(*object).is_some()).count();
    let before = count();
    for frame in 1..=5 {
        assert_eq!(stable.frame(), [1, 2, 3]);
        assert_eq!(count(), before + frame);
    }
    let all = stable.host.objects().iter();
    let mut begun: Vec<_> = all.filter(|object| !roans.contains(object)).filter_map(|one| stable.ticks(one)).collect();
    begun.retain(|ticks| *ticks > 0);
    begun.sort_unstable();
    assert_eq!(begun, [1, 2, 3, 4], "each has one tick less than its predecessor, and the last has none");
}

#[test]
fn panics_in_ticks_are_named_and_all_others_are_done() {
    let record = support::record("alcedo_runtime::runtime::failures");
    let stable = Stable::new();
    let roans: [ObjectHandle; 6] = stable.roans();
    for mad in [0, 2, 3, 5] {
        stable.does(roans[mad], PANICS, roans[mad]);
    }
    drop(record.take());
    // The log counts the failures of all actors together, and contains only the first failure and the tenth failure.
    for (frame, mad_roan) in [(1, Some(0)), (2, None), (3, Some(2))] {
        assert_eq!(stable.frame(), [1, 2, 3, 4, 5, 6]);
        let log = record.take();
        let lines: Vec<_> = log.lines().filter(|line| line.contains("throws its rider off")).collect();
        let named = |line: &str, mad: usize| line.contains(&stable.host.objects().describe(roans[mad]));
        assert_eq!(lines.len(), usize::from(mad_roan.is_some()), "{log}");
        assert!(lines.iter().zip(mad_roan).all(|(line, mad)| named(line, mad)), "{log}");
        assert_eq!(log.contains("(10 times by now)"), frame == 3, "{log}");
        assert!(roans.iter().all(|roan| stable.ticks(*roan) == Some(frame)), "no actor stays borrowed");
    }
}

#[test]
fn a_log_subscriber_that_panics_interrupts_no_frame() {
    let record = support::record("alcedo_runtime::runtime::failures");
    let stable = Stable::new();
    let roans: [ObjectHandle; 2] = stable.roans();
    stable.does(roans[0], PANICS, roans[0]);
    record.fail();
    assert_eq!(stable.frame(), [1, 2]);
}

#[test]
fn a_batch_of_a_thousand_failures_is_four_lines() {
    let record = support::record("alcedo_runtime::runtime::failures");
    let host = Runtime::builder().build().expect("a host");
    let failed = |at| (ObjectHandle::new(at, 1), CallError::Stale { handle: ObjectHandle::new(at, 1) }.into());
    let mut report = BatchReport::default();
    report.failed = (1..=1000).map(failed).collect();
    host.objects().log_failures("turn", &report);
    let lines = record.take();
    let counts = ["", " (10 times by now)", " (100 times by now)", " (1000 times by now)"];
    assert_eq!(lines.lines().count(), counts.len(), "{lines}");
    assert!(lines.lines().zip(counts).all(|(line, count)| line.contains(&format!(" failed{count}"))), "{lines}");
}

#[test]
fn recursive_ticks_are_refused_and_unborrowed_actors_may_tick_twice() {
    let record = support::record("alcedo_runtime::runtime::failures");
    let stable = Stable::new();
    let roans @ [first, second, third] = stable.roans();
    stable.does(first, TICKS, first);
    stable.does(second, TICKS, third);
    stable.does(third, TICKS, second);
    drop(record.take());
    // The second roan ticks the third roan, and the third roan tries to tick the second roan. The inner tick fails, because the plugin part
    // of the second roan is borrowed.
    assert_eq!(stable.frame(), [1, 2, 3, 3, 2]);
    let log = record.take();
    let refusal = "`receive_tick` needs the plugin part while `receive_tick` holds it";
    assert_eq!(log.matches(refusal).count(), 1, "the refusal is reported once for all three: {log}");
    assert_eq!(roans.map(|roan| stable.ticks(roan)), [1, 2, 2].map(Some));
    for roan in roans {
        stable.does(roan, 0, roan);
    }
    assert_eq!(stable.frame(), [1, 2, 3], "no actor stays borrowed");
    assert_eq!(record.take(), "");
}

#[test]
fn a_reload_requested_in_a_tick_waits_for_the_frame_end() {
    let stable = Stable::new();
    let roans: [ObjectHandle; 3] = stable.roans();
    stable.on(2, |host| host.request_reload(libraries(&[], 2)));
    let tag = stable.host.function::<(), i32>("nm:/carousel:Horse:build_tag").expect("it is there");
    let seen: Rc<RefCell<Vec<u64>>> = Rc::default();
    let during = seen.clone();
    stable.on(3, move |host| during.borrow_mut().push(host.generation()));
    assert_eq!(stable.frame(), [1, 2, 3]);
    assert_eq!((seen.take(), stable.host.generation(), tag.call(()).expect("a number")), (vec![1], 2, 2));
    stable.actions.take();
    assert_eq!(roans.map(|roan| stable.ticks(roan)), [0, 0, 0].map(Some), "fields that are not kept are reset");
    assert_eq!(stable.frame(), [1, 2, 3]);
    assert_eq!(roans.map(|roan| stable.ticks(roan)), [1, 1, 1].map(Some));
    stable.host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn a_rolled_back_reload_keeps_ticking_the_old_code() {
    let stable = Stable::new();
    let roans: [ObjectHandle; 3] = stable.roans();
    stable.frame();
    let report = stable.host.reload(&libraries(&[], 13)).expect("a Master");
    assert!(!report.is_committed(), "{report}");
    assert_eq!(stable.frame(), [1, 2, 3]);
    assert_eq!(roans.map(|roan| stable.ticks(roan)), [2, 2, 2].map(Some), "earlier ticks are still counted");
}

#[test]
fn an_observer_added_during_a_frame_sees_each_tick() {
    let stable = Stable::new();
    let roans: [ObjectHandle; 4] = stable.roans();
    assert_eq!(stable.frame(), [1, 2, 3, 4]);
    stable.on(2, |host| host.calls().observe(Observed { counts: true, spans: false }));
    assert_eq!(stable.frame(), [1, 2, 3, 4], "observers do not change the frame");
    stable.actions.take();
    let tick_calls = |host: &Runtime| {
        let times = host.calls().times();
        let ticks = times.into_iter().filter(|time| time.name.contains("receive_tick"));
        ticks.map(|time| (time.kind.to_string(), time.calls)).collect::<Vec<_>>()
    };
    let before: u64 = tick_calls(&stable.host).iter().map(|(_, calls)| *calls).max().unwrap_or_default();
    assert_eq!(stable.frame(), [1, 2, 3, 4]);
    let after: u64 = tick_calls(&stable.host).iter().map(|(_, calls)| *calls).max().unwrap_or_default();
    assert_eq!(after - before, 4, "{:?}", tick_calls(&stable.host));
    stable.on(3, |host| host.calls().observe(Observed::default()));
    assert_eq!(stable.frame(), [1, 2, 3, 4]);
    stable.actions.take();
    assert_eq!(stable.frame(), [1, 2, 3, 4]);
    assert_eq!(roans.map(|roan| stable.ticks(roan)), [5; 4].map(Some));
}

#[test]
fn a_tick_may_tick_another_host_and_both_have_their_own_actors() {
    let (left, right) = (Stable::new(), Rc::new(Stable::new()));
    let of_left: [ObjectHandle; 3] = left.roans();
    let of_right: [ObjectHandle; 2] = right.roans();
    // The handles of both hosts have equal numbers, but refer to different objects.
    assert_eq!(of_left[..2], of_right);
    for roan in of_right {
        right.does(roan, ENDS, roan);
    }
    let inner = Rc::clone(&right);
    left.on(2, move |_left| inner.host.tick(Budget::seconds(1.0)));
    assert_eq!(left.frame(), [1, 2, 3]);
    assert_eq!(right.ticked.take(), [1, 2]);
    assert_eq!(of_left.map(|roan| left.ticks(roan)), [1, 1, 1].map(Some));
    assert_eq!(of_right.map(|roan| right.is_there(roan)), [false, false]);
    assert_eq!(left.frame(), [1, 2, 3], "who ended there has not ended here");
    assert!(right.ticked.take().is_empty());
}

#[test]
fn a_tick_may_end_its_own_host_by_its_last_handle() {
    let stable = Stable::new();
    let roans: [ObjectHandle; 3] = stable.roans();
    let Stable { host, ticked, actions, number, deed, other } = stable;
    let last = Rc::new(RefCell::new(Some(host)));
    let (inner, weak) = (Rc::clone(&last), last.borrow().as_ref().expect("it is here").downgrade());
    let end = move |_host: &Runtime| drop(inner.take());
    actions.borrow_mut().insert(2, Rc::new(end));
    weak.upgrade().expect("it is there").tick(Budget::frame());
    assert_eq!(ticked.take(), [1, 2, 3], "those behind have their turn first");
    assert!(weak.upgrade().is_none(), "then it ends");
    assert!(number.get(roans[0]).is_err() && deed.get(roans[1]).is_err() && other.get(roans[2]).is_err());
}

#[test]
fn actors_tick_after_their_class_grows_or_returns() {
    let stable = Stable::new();
    let roans: [ObjectHandle; 4] = stable.roans();
    let colt = stable.host.objects().spawn(COLT).expect("it is declared");
    assert_eq!(stable.frame(), [1, 2, 3, 4]);
    let mut build = 1;
    for features in [&["tall"][..], &[], &["no-roans"], &["tall"], &["no-roans"], &[]] {
        build = 3 - build;
        let report = stable.host.reload(&libraries(features, build)).expect("a Master");
        report.into_result().unwrap_or_else(|report| panic!("{features:?}: {report}"));
        let there = features != ["no-roans"];
        for frame in 1..=2 {
            assert_eq!(stable.frame(), if there { vec![1, 2, 3, 4] } else { vec![] }, "{features:?}");
            assert_eq!(roans.map(|roan| stable.ticks(roan)), [there.then_some(frame); 4], "{features:?}");
        }
        assert!(stable.is_there(colt));
    }
    stable.host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn drops_of_an_actor_may_list_tick_and_destroy_others() {
    let stable = Rc::new(Stable::new());
    let [_, second, third, fourth] = stable.roans();
    let cart = stable.host.objects().spawn("/Script/Test.Cart").expect("it is declared");
    let list: RefCell<ClassList> = RefCell::new(stable.host.list("/Script/Engine.Actor"));
    let tick: BatchFunction<(f32,), ()> =
        stable.host.batch("uf:/Script/Engine.Actor:receive_tick").expect("it is there");
    let seen: Rc<RefCell<Vec<(usize, usize)>>> = Rc::default();
    let (inner, counts) = (Rc::clone(&stable), seen.clone());
    AT_ITS_END.set(Some(Rc::new(move || {
        let mut list = list.borrow_mut();
        list.refresh(&inner.host);
        let report = tick.call_list(list.list(), (1.0,)).expect("called");
        counts.borrow_mut().push((list.list().objects().len(), report.called));
        inner.host.objects().destroy(fourth);
    })));
    stable.on(2, move |host| host.objects().destroy(cart));
    let ticked = stable.frame();
    AT_ITS_END.set(None);
    let counts = seen.take();
    assert_eq!(counts.len(), 1, "one cart has ended");
    assert!(ticked.iter().filter(|number| **number == 3).count() >= 1, "{ticked:?}");
    assert!(!stable.is_there(cart) && !stable.is_there(fourth) && stable.is_there(third));
    assert_eq!(stable.frame(), [1, 2, 3]);
    stable.actions.take();
    assert!(stable.ticks(second).is_some_and(|ticks| ticks >= 2));
}

#[test]
fn a_tick_without_a_length_of_time_counts_as_zero() {
    let seen: Rc<RefCell<Vec<f32>>> = Rc::default();
    let inner = Rc::clone(&seen);
    let builder = support::builder().ticker(move |_, seconds| inner.borrow_mut().push(seconds));
    let host = builder.build().expect("a runtime");
    for seconds in [f32::NAN, f32::INFINITY, -1.0, 0.5] {
        host.tick(Budget::seconds(seconds));
    }
    assert_eq!(*seen.borrow(), [0.0, 0.0, 0.0, 0.5]);
    assert_eq!(host.game_time(), std::time::Duration::from_millis(500));
}

#[test]
fn a_hundred_thousand_actors_tick_once_while_a_third_destroy_others() {
    const ACTORS: usize = 100_000;
    let stable = Stable::new();
    let roans: Vec<_> = (0..ACTORS).map(|_| stable.host.objects().spawn(ROAN).expect("it is declared")).collect();
    let horse = stable.host.objects().spawn(HORSE).expect("it is declared");
    assert!(stable.frame().is_empty());
    assert!(roans.iter().all(|roan| stable.ticks(*roan) == Some(1)));
    for pair in roans.chunks_exact(3) {
        stable.does(pair[0], ENDS, pair[1]);
    }
    stable.frame();
    let expected = |at: usize| match at % 3 {
        _ if at == ACTORS - 1 => Some(2),
        0 => Some(102),
        1 => None,
        _ => Some(2),
    };
    for (at, roan) in roans.iter().enumerate() {
        assert_eq!(stable.ticks(*roan), expected(at), "{at}");
    }
    assert_eq!(stable.host.objects().call(horse, "degrees", &[]).expect("the call succeeds"), Some(Value::F64(180.0)));
}
