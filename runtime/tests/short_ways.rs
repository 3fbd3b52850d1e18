//! Calls by ways that were looked up before: functions, methods, properties and batches by their Rust types. Two builds alternate, and
//! what is given says which of them has answered. Whatever stands in the way of a call (an object that is gone, a generation that is
//! over or aside, a reload, a slice that is lent, a panic) is the same error as on the long way, and never an answer of old code.

use crate::support;

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use alcedo_engine::Actor;
use alcedo_runtime::host::{
    BatchFunction, ClassList, HostValue, HotFunction, NativeValue, ObjectList, TypedFunction, TypedProperty,
};
use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{Obj, Object, uclass};
use alcedo_runtime::zcall::Observed;
use alcedo_runtime::{Budget, CallError, ObjectHandle, Runtime, Value, natives};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

const HORSE: &str = "/Script/Game.Horse";
const COLT: &str = "/Script/Game.Colt";
const PONY: &str = "/Script/Game.Pony";
const ROUND: &str = "uf:/Script/Game.Horse:round";

thread_local! {
    /// What a reloader does in its tick.
    static IN_ITS_TICK: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
}

/// An actor of the host's, whose tick is code of the host.
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

/// The library of a build; the thirteenth does not come up.
fn libraries(build: u64) -> Vec<PathBuf> {
    vec![support::tagged("carousel", &[], build)]
}

fn host() -> Runtime {
    support::host(&libraries(1))
}

fn reload(host: &Runtime, build: u64) {
    let report = host.reload(&libraries(build)).expect("a Master");
    report.into_result().unwrap_or_else(|report| panic!("{report}"));
}

fn spawn(host: &Runtime, class: &str) -> ObjectHandle {
    host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"))
}

fn obj(object: ObjectHandle) -> Obj<Object> {
    Obj::new(object)
}

/// All that a host keeps in this file.
struct Kept {
    tag: TypedFunction<(), i32>,
    ask: TypedFunction<(i32,), i32>,
    answer: TypedFunction<(Obj<Object>, i32), i32>,
    add: TypedFunction<(Obj<Object>, i32, i32), i32>,
    round: TypedFunction<(Obj<Object>,), i32>,
    speed: TypedProperty<f64>,
    mood: TypedProperty<i32>,
    answers: BatchFunction<(i32,), i32>,
    rounds: BatchFunction<(), i32>,
}

impl Kept {
    fn of(host: &Runtime) -> Rc<Self> {
        Rc::new(Self {
            tag: host.function("nm:/carousel:Horse:build_tag").expect("it is there"),
            ask: host.function("nm:/carousel:Horse:ask").expect("it is there"),
            answer: host.function("uf:/Script/Game.Horse:answer").expect("it is there"),
            add: host.function("uf:/Script/Game.Horse:add").expect("it is there"),
            round: host.function(ROUND).expect("it is there"),
            speed: host.property("up:/Script/Game.Horse:speed").expect("it is there"),
            mood: host.property("up:/Script/Game.Horse:mood").expect("it is there"),
            answers: host.batch("uf:/Script/Game.Horse:answer").expect("it is there"),
            rounds: host.batch(ROUND).expect("it is there"),
        })
    }

    /// What each gives for that object, in words: twice, since what is looked up by the first call is used by the second.
    fn told(&self, horse: ObjectHandle) -> Vec<String> {
        let batch = || match self.answers.collect(&[horse], (7,)) {
            Ok((results, report)) => match report.failed.first() {
                Some((_, error)) => error.to_string(),
                None => format!("{results:?} {}", report.ended),
            },
            Err(error) => error.to_string(),
        };
        let once = || {
            vec![
                said(self.tag.call(())),
                said(self.answer.call((obj(horse), 7))),
                said(self.add.call((obj(horse), 20, 22))),
                said(self.speed.get(horse)),
                said(self.speed.set(horse, 4.5)),
                batch(),
            ]
        };
        let (first, second) = (once(), once());
        assert_eq!(first.len(), second.len());
        let worked = |line: &String| !line.contains("error") && !line.contains("refused");
        if first.iter().all(worked) {
            // Between the two the speed was written, if anything was.
            assert_eq!([&first[..3], &first[4..]], [&second[..3], &second[4..]]);
        }
        second
    }
}

fn said<T: std::fmt::Debug>(result: Result<T, alcedo_runtime::Error>) -> String {
    result.map_or_else(|error| error.to_string(), |value| format!("{value:?}"))
}

/// What the build gives.
fn of_build(build: i32) -> [String; 6] {
    let answer = build * 1000 + 7;
    [build.to_string(), answer.to_string(), "42".into(), "4.5".into(), "()".into(), format!("[Some({answer})] 0")]
}

#[test]
fn the_new_build_answers_after_a_reload_and_nobody_after_an_unload() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    assert_eq!(kept.told(horse), of_build(1));
    for build in [2, 1, 2] {
        reload(&host, build);
        assert_eq!(kept.told(horse), of_build(build as i32), "build {build}");
    }
    host.unload_master().expect("there is one");
    for line in kept.told(horse) {
        assert!(line.parse::<f64>().is_err() && !line.contains("Some"), "nothing answers: {line}");
    }
    drop(host.shutdown());
    for line in kept.told(horse) {
        assert!(line.contains("runtime of"), "{line}");
    }
}

#[test]
fn the_old_build_answers_after_a_reload_that_fails() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    assert_eq!(kept.told(horse), of_build(1));
    for _ in 0..2 {
        let report = host.reload(&libraries(13)).expect("a Master");
        let failed = report.into_result().expect_err("the thirteenth does not start").to_string();
        assert!(failed.contains("the carousel does not start"), "{failed}");
        assert_eq!(kept.told(horse), of_build(1));
    }
    reload(&host, 2);
    assert_eq!(kept.told(horse), of_build(2));
}

/// What a listener calls: the host, what was kept of it, and an object.
type Seat = (Runtime, Rc<Kept>, ObjectHandle);

#[test]
fn in_each_step_of_a_reload_short_calls_say_what_long_ones_say() {
    let seat: Rc<RefCell<Option<Seat>>> = Rc::default();
    let heard: Rc<RefCell<Vec<String>>> = Rc::default();
    let (seen, lines) = (Rc::clone(&seat), Rc::clone(&heard));
    let host = support::builder()
        .on_event(move |event| {
            let Some((host, kept, horse)) = seen.borrow().as_ref().map(|(a, b, c)| (a.clone(), Rc::clone(b), *c))
            else {
                return;
            };
            let long = |name: &str, arguments: &[Value]| match host.calls().call(name, arguments) {
                Ok(Some(Value::I32(number))) => number.to_string(),
                Ok(other) => format!("{other:?}"),
                Err(error) => error.to_string(),
            };
            let of_horse = |name: &str| format!("uf:/Script/Game.Horse:{name}");
            let wanted = [
                long("nm:/carousel:Horse:build_tag", &[]),
                long(&of_horse("answer"), &[Value::Object(horse), Value::I32(7)]),
                long(&of_horse("add"), &[Value::Object(horse), Value::I32(20), Value::I32(22)]),
            ];
            let told = kept.told(horse);
            lines.borrow_mut().push(format!("{event:?}"));
            assert_eq!(told[..3], wanted, "at {event:?}");
        })
        .build()
        .expect("a runtime");
    host.create_master(&libraries(1)).expect("it loads");
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    assert_eq!(kept.told(horse), of_build(1));
    *seat.borrow_mut() = Some((host.clone(), Rc::clone(&kept), horse));
    reload(&host, 2);
    assert_eq!(kept.told(horse), of_build(2));
    let _failed = host.reload(&libraries(13)).expect("a Master");
    assert_eq!(kept.told(horse), of_build(2));
    assert!(heard.borrow().len() > 6, "{:?}", heard.borrow());
    drop(seat.borrow_mut().take());
}

#[test]
fn an_object_that_is_gone_or_of_another_class_is_refused_also_when_its_slot_has_another() {
    let host = host();
    let kept = Kept::of(&host);
    let horse = spawn(&host, HORSE);
    assert_eq!(kept.told(horse), of_build(1));
    host.objects().destroy(horse);
    host.tick(Budget::frame());
    let next = spawn(&host, HORSE);
    assert_eq!(next.index(), horse.index(), "it has the same slot");
    let told = kept.told(horse);
    assert!(told[1..5].iter().all(|line| line.contains("is gone")), "{told:?}");
    assert_eq!((&*told[0], &*told[5]), ("1", "[None] 1"));
    assert_eq!(kept.told(next), of_build(1));
    let actor = spawn(&host, "/Script/Engine.Actor");
    let told = kept.told(actor);
    assert!(told[1..].iter().all(|line| line.contains("not a /Script/Game.Horse")), "{told:?}");
}

#[test]
fn a_panic_of_a_direct_call_is_an_error_with_its_place_and_frees_the_object() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    assert_eq!(kept.round.call((obj(horse),)).expect("it turns"), 100);
    let place = support::line_of("carousel", "throws its rider off");
    for _ in 0..3 {
        kept.mood.set(horse, 1).expect("written");
        let error = kept.round.call((obj(horse),)).expect_err("it panics").to_string();
        assert!(error.contains("throws its rider off") && error.contains(&place), "{error}, wanted {place}");
        kept.mood.set(horse, 0).expect("written");
        assert_eq!(kept.round.call((obj(horse),)).expect("nobody holds it"), 100);
    }
    reload(&host, 2);
    assert_eq!(kept.round.call((obj(horse),)).expect("the frames are closed"), 200);
}

#[test]
fn calls_inside_each_other_are_short_too_and_a_reload_that_is_requested_there_waits() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    let inner = Rc::clone(&kept);
    let ask = move |host: &Runtime, (depth,): (i32,)| {
        assert_eq!(inner.told(horse), of_build(1));
        assert!(
            host.reload(&libraries(2)).is_err() && host.unload_master().is_err(),
            "code of the plugin is on the stack"
        );
        host.request_reload(libraries(2));
        host.safe_point();
        host.tick(Budget::frame());
        assert_eq!(inner.told(horse), of_build(1), "the reload waits");
        match depth {
            0 => 0,
            _ => 1 + inner.ask.call((depth - 1,)).expect("deeper"),
        }
    };
    host.calls().register_typed("host.ask", ask).expect("the name is free");
    // More than have a place of their own.
    assert_eq!(kept.ask.call((100,)).expect("it asks"), 100);
    assert_eq!(kept.told(horse), of_build(1));
    host.tick(Budget::frame());
    assert_eq!(kept.told(horse), of_build(2), "now it was done");
}

#[test]
fn a_short_call_is_named_where_somebody_wants_a_safe_point() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    kept.mood.set(horse, 4).expect("written");
    let heard: Rc<RefCell<Vec<String>>> = Rc::default();
    let lines = Rc::clone(&heard);
    let ask = move |host: &Runtime, (number,): (i32,)| {
        let refused = host.reload(&libraries(2)).expect_err("code of the plugin is on the stack");
        lines.borrow_mut().push(refused.to_string());
        number
    };
    host.calls().register_typed("host.ask", ask).expect("the name is free");
    for _ in 0..2 {
        assert_eq!(kept.round.call((obj(horse),)).expect("it turns"), 104);
        assert_eq!(kept.ask.call((1,)).expect("it asks"), 1);
        let report = kept.rounds.call(&[horse], ()).expect("called");
        assert_eq!((report.called, report.failed.len()), (1, 0));
    }
    let heard = heard.borrow();
    let names = ["`Game.Horse:round`", "`carousel:/Script/Game.Horse:ask`", "`Game.Horse:round`"];
    for (line, name) in heard.iter().zip(names.iter().cycle()) {
        assert!(line.contains(name), "{line}, wanted {name}");
    }
    assert_eq!(heard.len(), 6);
}

#[test]
fn the_last_handle_of_a_host_may_go_in_a_call_and_the_host_ends_when_that_is_over() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    let seat: Rc<RefCell<Option<Runtime>>> = Rc::default();
    let (taken, inner) = (Rc::clone(&seat), Rc::clone(&kept));
    let ask = move |_: &Runtime, (number,): (i32,)| {
        drop(taken.borrow_mut().take());
        assert_eq!(inner.told(horse), of_build(1), "it has not ended yet");
        number
    };
    host.calls().register_typed("host.ask", ask).expect("the name is free");
    assert_eq!(kept.told(horse), of_build(1));
    let weak = host.downgrade();
    *seat.borrow_mut() = Some(host);
    assert_eq!(kept.ask.call((3,)).expect("it asks"), 3);
    assert!(weak.upgrade().is_none(), "it has ended now");
    assert!(kept.told(horse)[0].contains("runtime of"));
}

#[test]
fn a_call_that_fails_after_the_last_handle_of_a_host_has_gone_says_why() {
    type Call = fn(&Kept, &TypedFunction<(i32,), i32>, ObjectHandle) -> Result<i32, alcedo_runtime::Error>;
    let calls: [(Call, &str); 3] = [
        (|_, fails, _| fails.call((0,)), "an error, told 0"),
        (|_, fails, _| fails.call((1,)), "a panic, told 1"),
        (|kept, _, horse| kept.round.call((obj(horse),)), "bolts, told 5"),
    ];
    for (call, says) in calls {
        let host = host();
        let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
        let fails: TypedFunction<(i32,), i32> = host.function("nm:/carousel:Horse:ask_and_fail").expect("it is there");
        let seat: Rc<RefCell<Option<Runtime>>> = Rc::default();
        let taken = Rc::clone(&seat);
        let ask = move |_: &Runtime, (number,): (i32,)| {
            drop(taken.borrow_mut().take());
            number
        };
        host.calls().register_typed("host.ask", ask).expect("the name is free");
        // So that the next call goes the short way.
        assert_eq!(kept.round.call((obj(horse),)).expect("it turns"), 100);
        kept.mood.set(horse, 5).expect("written");
        let weak = host.downgrade();
        *seat.borrow_mut() = Some(host);
        let error = call(&kept, &fails, horse).expect_err("it fails").to_string();
        assert!(error.contains(says), "{error}, wanted {says}");
        assert!(weak.upgrade().is_none(), "it has ended in the call");
    }
}

#[test]
fn an_object_that_ends_while_its_kept_fields_are_saved_is_finalized_after_that() {
    let folder = tempfile::tempdir().expect("a folder");
    for by_reload in [false, true] {
        let host = host();
        let mare = spawn(&host, "/Script/Game.Mare");
        let kill = move |host: &Runtime, (when,): (i32,)| {
            if when == 1 {
                host.objects().destroy(mare);
            }
            when
        };
        host.calls().register_typed("host.kill", kill).expect("the name is free");
        let said = match by_reload {
            true => host.reload(&libraries(2)).map(|report| format!("{report:?}")),
            false => host.worlds().save(folder.path().join("saved.world")).map(|count| count.to_string()),
        };
        let said = said.unwrap_or_else(|error| error.to_string());
        assert!(!said.contains("it was dropped while it was saved"), "{said}");
        // A reload lets nobody call the host while it saves.
        assert_eq!(host.objects().is_alive(mare), by_reload, "{said}");
        host.safe_point();
        if !by_reload {
            let is_dropped = host.function::<(), bool>("nm:/carousel:Mare:is_foal_dropped").expect("it is there");
            let begun = Instant::now();
            while !is_dropped.call(()).expect("it tells") {
                assert!(begun.elapsed() < Duration::from_secs(30), "it is never dropped");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        host.unload_master().expect("there is one");
    }
}

/// A number that a type of somebody else makes of the bits that it gets: no hundreds.
#[derive(Debug)]
struct Picky(i32);

impl HostValue for Picky {
    type Raw = i32;

    fn from_raw(raw: i32) -> Self {
        if raw >= 100 {
            alcedo_runtime::native::plumbing::fail(CallError::other(format!("{raw} is too much")));
        }
        Self(raw)
    }

    fn into_raw(self) -> i32 {
        self.0
    }
}

#[test]
fn a_value_that_its_type_does_not_take_is_an_error_of_the_read() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    let mood: TypedProperty<Picky> = host.property("up:/Script/Game.Horse:mood").expect("it is there");
    for _ in 0..3 {
        mood.set(horse, Picky(7)).expect("written");
        assert_eq!(mood.get(horse).expect("read").0, 7);
        kept.mood.set(horse, 100).expect("written");
        let error = mood.get(horse).expect_err("too much").to_string();
        assert!(error.contains("100 is too much"), "{error}");
    }
}

/// An `i32` that says of itself that it is an `f64`.
#[derive(Debug)]
struct Liar(i32);

impl NativeValue for Liar {
    type Raw = i32;
    type Literal = i32;
    const KIND: PropertyKind = PropertyKind::F64;
    const TYPE_PATH: &'static str = "";

    fn from_raw(raw: i32) -> Self {
        Self(raw)
    }

    fn into_raw(self) -> i32 {
        self.0
    }
}

#[test]
fn a_type_that_declares_another_than_it_is_gets_no_words_of_the_other() {
    let host = host();
    let horse = spawn(&host, HORSE);
    let name = "uf:/Script/Game.Horse:degrees";
    let refused = host.batch::<(), Liar>(name).expect_err("it is no `f64`").to_string();
    assert!(refused.contains("degrees"), "{refused}");
    let degrees: TypedFunction<(Obj<Object>,), Liar> = host.function(name).expect("it says so");
    for _ in 0..3 {
        assert!(degrees.call((obj(horse),)).is_err(), "it is no `f64`");
    }
}

thread_local! {
    /// What is done while an argument is made.
    static AS_ARGUMENT: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
}

/// A number that does something when it is given.
struct Busy(i32);

impl NativeValue for Busy {
    type Raw = i32;
    type Literal = i32;
    const KIND: PropertyKind = PropertyKind::I32;
    const TYPE_PATH: &'static str = "";

    fn from_raw(raw: i32) -> Self {
        Self(raw)
    }

    fn into_raw(self) -> i32 {
        if let Some(code) = AS_ARGUMENT.take() {
            code();
        }
        self.0
    }
}

#[test]
fn what_making_an_argument_ends_or_reloads_is_seen_by_the_call() {
    let host = host();
    let horses: Vec<_> = (0..4).map(|_| spawn(&host, HORSE)).collect();
    let (kept, list) = (Kept::of(&host), ObjectList::from(horses.clone()));
    let answers = host.batch::<(Busy,), i32>("uf:/Script/Game.Horse:answer").expect("it is there");
    assert_eq!(answers.call_list(&list, (Busy(7),)).expect("called").called, 4);
    for (gone, build) in [(1, 2), (2, 1), (3, 2)] {
        let (inner, victim) = (host.downgrade(), horses[gone]);
        AS_ARGUMENT.set(Some(Rc::new(move || {
            let host = inner.upgrade().expect("it is there");
            host.objects().destroy(victim);
            reload(&host, build);
        })));
        let report = if gone == 2 {
            answers.call_list(&list, (Busy(7),)).expect("called")
        } else {
            let (results, report) = answers.collect(&horses, (Busy(7),)).expect("called");
            assert_eq!(results[0], Some(build as i32 * 1000 + 7));
            report
        };
        assert_eq!((report.called, report.ended, report.failed.len()), (4 - gone, gone, 0), "{report:?}");
    }
    // A write goes to where the property is when the value is made.
    let mood: TypedProperty<Busy> = host.property("up:/Script/Game.Horse:mood").expect("it is there");
    mood.set(horses[0], Busy(3)).expect("written");
    let (inner, horse) = (host.downgrade(), horses[0]);
    AS_ARGUMENT.set(Some(Rc::new(move || {
        let host = inner.upgrade().expect("it is there");
        host.objects().destroy(horse);
        host.safe_point();
    })));
    let refused = mood.set(horse, Busy(4)).expect_err("it is gone").to_string();
    assert!(refused.contains("is gone"), "{refused}");
    drop(kept);
}

#[test]
fn lists_that_were_filled_on_different_threads_are_different_lists() {
    let host = host();
    let kept = Kept::of(&host);
    let (first, second) = (spawn(&host, HORSE), spawn(&host, HORSE));
    let there = |object| std::thread::spawn(move || ObjectList::from(vec![object])).join().expect("a list");
    for (list, turned) in [(there(first), [1.0, 0.0]), (there(second), [1.0, 1.0])] {
        assert_eq!(kept.rounds.call_list(&list, ()).expect("called").called, 1);
        let degrees = [first, second].map(|horse| host.objects().call(horse, "degrees", &[]).expect("it tells"));
        assert_eq!(degrees, turned.map(|degrees| Some(Value::F64(degrees))));
    }
}

#[test]
fn a_list_of_a_class_is_looked_for_anew_in_another_host() {
    const RELOADER: &str = "/Script/Test.Reloader";
    let build = || support::builder().natives(natives![Reloader]).package("Test").build().expect("a runtime");
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

/// Fails to compile where the type may go to another thread: then both implementations fit.
macro_rules! stays_on_its_thread {
    ($($ty:ty),* $(,)?) => {$({
        trait IsSent<Marker> {
            fn found() {}
        }
        impl<T: ?Sized> IsSent<()> for T {}
        struct ItIs;
        impl<T: ?Sized + Send> IsSent<ItIs> for T {}
        <$ty as IsSent<_>>::found();
        trait IsShared<Marker> {
            fn found() {}
        }
        impl<T: ?Sized> IsShared<()> for T {}
        impl<T: ?Sized + Sync> IsShared<ItIs> for T {}
        <$ty as IsShared<_>>::found();
    })*};
}

#[test]
fn what_is_kept_of_a_host_does_not_compile_on_another_thread() {
    stays_on_its_thread!(
        TypedFunction<(i32,), i32>,
        HotFunction<'static, (i32,), i32>,
        TypedProperty<i32>,
        BatchFunction<(i32,), i32>,
    );
}

thread_local! {
    /// What is done when the carousel logs something.
    static MEANWHILE: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
}

struct Logger;

impl<S: Subscriber> Layer<S> for Logger {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let meanwhile = MEANWHILE.with_borrow(|meanwhile| meanwhile.clone());
        if let Some(meanwhile) = meanwhile.filter(|_| event.metadata().target() == "carousel") {
            meanwhile();
        }
    }
}

#[test]
fn while_a_slice_is_lent_nothing_is_called_or_written() {
    let subscriber = tracing_subscriber::registry().with(Logger);
    tracing::subscriber::with_default(subscriber, || {
        let host = host();
        let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
        assert_eq!(kept.told(horse), of_build(1));
        let heard: Rc<RefCell<Vec<Vec<String>>>> = Rc::default();
        let (lines, inner) = (Rc::clone(&heard), Rc::clone(&kept));
        MEANWHILE.set(Some(Rc::new(move || lines.borrow_mut().push(inner.told(horse)))));
        let lend: TypedFunction<(Obj<Object>,), ()> = host.function("uf:/Script/Game.Horse:lend").expect("it is there");
        for _ in 0..2 {
            lend.call((obj(horse),)).expect("it lends");
        }
        MEANWHILE.set(None);
        let heard = heard.borrow();
        assert_eq!(heard.len(), 2);
        for told in &*heard {
            let refused = told.iter().filter(|line| line.contains("while carousel holds a slice")).count();
            assert_eq!((refused, &*told[3]), (5, "4.5"), "all but the read: {told:?}");
        }
        assert_eq!(kept.told(horse), of_build(1));
    });
}

#[test]
fn a_function_by_its_pointer_is_hot_for_as_long_as_its_frame_is_open() {
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
            assert_eq!(kept.told(horse), of_build(build as i32), "other calls go on");
            (0..100).map(|_| tag.call(()).expect("a number")).sum::<i32>()
        });
        assert_eq!(sum.expect("there is a pointer"), 100 * build as i32);
    }
    let panicked =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| kept.tag.hot(|_tag| panic!("the host's own"))));
    assert!(panicked.is_err());
    reload(&host, 2);
    let refused = kept.answer.hot(|_| ()).expect_err("a method has none").to_string();
    assert!(refused.contains("a pointer to `uf:/Script/Game.Horse:answer`"), "{refused}");
    host.unload_master().expect("there is one");
    assert!(kept.tag.hot(|_| ()).is_err());
}

#[test]
fn a_host_with_a_watchdog_calls_the_long_way_and_gets_the_same() {
    let host = support::builder().watchdog(Duration::from_secs(60)).build().expect("a runtime");
    host.create_master(&libraries(1)).expect("it loads");
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    assert_eq!(kept.told(horse), of_build(1));
    assert!(kept.tag.hot(|_| ()).is_err(), "a watchdog hears of each call");
    reload(&host, 2);
    assert_eq!(kept.told(horse), of_build(2));
}

#[test]
fn properties_are_read_and_written_in_all_classes_that_have_them_and_after_a_reload() {
    let host = host();
    let kept = Kept::of(&host);
    let horses = [HORSE, PONY, COLT, HORSE].map(|class| spawn(&host, class));
    for build in [1, 2] {
        if build == 2 {
            reload(&host, build);
        }
        for round in 0..3 {
            for (at, horse) in horses.iter().enumerate() {
                let mood = (round * 10 + at) as i32;
                kept.mood.set(*horse, mood).expect("written");
                assert_eq!(kept.mood.get(*horse).expect("read"), mood);
                let seen: Value = host.objects().get(*horse, "mood").expect("read");
                assert_eq!(seen, Value::I32(mood));
            }
        }
    }
    let wants: TypedProperty<bool> = host.property("up:/Script/Game.Horse:wants").expect("it is there");
    assert!(!wants.get(horses[1]).expect("read"));
    wants.set(horses[1], true).expect("written");
    assert!(wants.get(horses[1]).expect("read"));
    let other: TypedProperty<Obj<Object>> = host.property("up:/Script/Game.Horse:other").expect("it is there");
    other.set(horses[0], obj(horses[2])).expect("another horse");
    assert_eq!(other.get(horses[0]).expect("read").handle(), horses[2]);
    let actor = spawn(&host, "/Script/Engine.Actor");
    let refused = other.set(horses[0], obj(actor)).expect_err("no horse").to_string();
    assert!(refused.contains("/Script/Engine.Actor"), "{refused}");
    for wrong in ["up:/Script/Game.Horse:nothing", "uf:/Script/Game.Horse:answer", "no name"] {
        assert!(host.property::<i32>(wrong).is_err(), "{wrong}");
    }
    let refused = host.property::<i32>("up:/Script/Game.Horse:speed").expect_err("another type").to_string();
    assert!(refused.contains("a property of type f64"), "{refused}");
}

#[test]
fn a_batch_crosses_once_for_each_class_and_gives_results_in_order() {
    let host = host();
    let kept = Kept::of(&host);
    let classes = [HORSE, COLT, PONY, HORSE, PONY, COLT, HORSE];
    let horses = classes.map(|class| spawn(&host, class));
    for build in [1, 2, 1] {
        if host.generation() > 1 || build != 1 {
            reload(&host, build);
        }
        let (results, report) = kept.answers.collect(&horses, (7,)).expect("called");
        let wanted = classes.map(|class| build as i32 * 1000 + if class == COLT { 507 } else { 7 });
        assert_eq!(results.into_iter().flatten().collect::<Vec<_>>(), wanted);
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
        // The last has failed, so nothing is left behind it.
        assert_eq!((report.called, report.crossings), (10, 3));
    }
    let turned = |horse: ObjectHandle| host.objects().call(horse, "degrees", &[]).expect("it tells");
    assert!(horses.iter().all(|horse| turned(*horse) == Some(Value::F64(2.0))), "all have had their turn, twice");
    let (results, _report) = kept.rounds.collect(&horses, ()).expect("called");
    let gave: Vec<_> = results.iter().map(Option::is_some).collect();
    assert_eq!(gave, [true, true, true, false, false, true, true, true, true, false]);
}

#[test]
fn in_a_batch_an_object_may_end_another_begin_one_and_call_back() {
    let host = host();
    let kept = Kept::of(&host);
    let horses: Vec<_> = (0..8).map(|_| spawn(&host, HORSE)).collect();
    let list = Rc::new(ObjectList::from(horses.clone()));
    let other: TypedProperty<Obj<Object>> = host.property("up:/Script/Game.Horse:other").expect("it is there");
    let (inner, same) = (Rc::clone(&kept), Rc::clone(&list));
    let ask = move |host: &Runtime, (mood,): (i32,)| {
        // The same list and the same batch; those that are being called are borrowed.
        let report = inner.answers.call_list(&same, (1,)).expect("called");
        assert_eq!((report.called, report.failed.len(), report.ended), (7, 1, 1), "{report:?}");
        host.request_reload(libraries(2));
        mood
    };
    host.calls().register_typed("host.ask", ask).expect("the name is free");
    let before = host.objects().all().len();
    for (at, mood) in [(1, 2), (2, 3), (4, 4)] {
        kept.mood.set(horses[at], mood).expect("written");
    }
    other.set(horses[1], obj(horses[6])).expect("written");
    let (results, report) = kept.rounds.collect(&horses, ()).expect("called");
    let wanted = [Some(100), Some(102), Some(103), Some(100), Some(104), Some(100), None, Some(100)];
    assert_eq!(results, wanted);
    assert_eq!((report.called, report.ended, report.failed.len()), (7, 1, 0));
    assert_eq!(host.objects().all().len(), before, "one has ended, and one begun");
    kept.mood.set(horses[1], 0).expect("written");
    kept.mood.set(horses[2], 0).expect("written");
    kept.mood.set(horses[4], 0).expect("written");
    host.tick(Budget::frame());
    let report = kept.rounds.call_list(&list, ()).expect("called");
    assert_eq!((report.called, report.ended, report.failed.len()), (7, 1, 0), "{report:?}");
    assert_eq!(kept.tag.call(()).expect("a number"), 2, "the reload was done after the batch");
}

#[test]
fn a_batch_passes_over_whom_it_is_told_to() {
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
    for (name, says) in [("nm:/carousel:Horse:ask", "of no object"), (ROUND, "i32 -> i32"), ("uf:/nothing", "")] {
        let refused = host.batch::<(i32,), i32>(name).expect_err("no such method").to_string();
        assert!(refused.contains(says), "{name}: {refused}");
    }
}

#[test]
fn in_a_batch_code_of_the_host_may_reload_and_the_new_code_is_called_on_the_rest() {
    let host = support::builder().natives(natives![Reloader]).package("Test").build().expect("a runtime");
    host.create_master(&libraries(1)).expect("it loads");
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    let reloader = spawn(&host, "/Script/Test.Reloader");
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
            // What was ended is freed here.
            host.safe_point();
        })));
        let report = tick.call_list(&list, (1.0,)).expect("called");
        assert_eq!((report.called, report.failed.len()), (5, 0), "{report:?}");
        IN_ITS_TICK.set(None);
        assert_eq!(kept.told(others[0]), of_build(build as i32));
        // The plugin part is new, and those behind the reloader were called after it was made.
        let turned = |object: ObjectHandle| host.objects().call(object, "degrees", &[]).expect("it tells");
        let degrees = [horse, others[0], others[1], others[2]].map(turned);
        let [before, after] = [0.0, 90.0].map(|degrees| Some(Value::F64(degrees)));
        // Those of its class come first, and have been called before the reload.
        assert_eq!(degrees, [before.clone(), before.clone(), after, before]);
    }
}

#[test]
fn a_frame_ticks_those_that_want_it_and_names_who_fails() {
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
    // What a plugin part has beside its properties begins anew.
    reload(&host, 2);
    host.tick(second);
    assert_eq!([horses[1], horses[2], pony].map(turned), [90.0, 90.0, 90.0]);
}

#[test]
fn observed_calls_go_the_long_way_and_are_all_counted() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    assert_eq!(kept.told(horse), of_build(1));
    assert!(host.calls().times().is_empty(), "nobody has asked for them");
    host.calls().observe(Observed { counts: true, spans: false });
    assert_eq!(kept.told(horse), of_build(1));
    assert!(kept.tag.hot(|_| ()).is_err(), "nobody would hear of the calls by a pointer");
    host.calls().observe(Observed::default());
    assert_eq!(kept.told(horse), of_build(1));
    assert!(kept.tag.hot(|_| ()).is_ok());
    let times = host.calls().times();
    // Bodies of methods are counted for themselves as well.
    let by_name = times.iter().filter(|time| time.kind != "method");
    let counted: Vec<_> = by_name.map(|time| (&*time.name, time.calls, time.failed)).collect();
    let wanted = [
        ("nm:/carousel:Horse:build_tag", 2, 0),
        ("uf:/Script/Game.Horse:add", 2, 0),
        ("uf:/Script/Game.Horse:answer", 4, 0),
        ("up:/Script/Game.Horse:speed", 4, 0),
    ];
    assert_eq!(counted, wanted);
}
