//! Tests functions that have their own fast path: functions inherited from a class of another module, functions implemented by the host,
//! static functions, and functions with many parameters.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;

use alcedo_runtime::host::TypedFunction;
use alcedo_runtime::native::{Obj, Object, This, uclass};
use alcedo_runtime::zcall::Observed;
use alcedo_runtime::{Budget, CallError, ObjectHandle, Runtime, Value, natives};

use super::{COLT, HORSE, Kept, PONY, host, libraries, obj, of_build, reload, spawn};
use crate::{grid, support};

#[test]
fn an_inherited_function_runs_on_the_plugin_part_of_its_class() {
    let host = host();
    let kept = Kept::of(&host);
    let [pony, colt, horse] = [PONY, COLT, HORSE].map(|class| spawn(&host, class));
    for build in [1, 2, 1] {
        if build != 1 || host.generation() > 1 {
            reload(&host, build);
        }
        let build = build as i32;
        for _ in 0..3 {
            assert_eq!(kept.answers(pony), of_build(build));
            assert_eq!(kept.answers(horse), of_build(build));
            // The class `Colt` overrides `answer` and inherits the other functions.
            assert_eq!(kept.answer.call((obj(colt), 7)).expect("it answers"), build * 1000 + 507);
            assert_eq!(kept.add.call((obj(colt), 20, 22)).expect("it adds"), 42);
            assert_eq!(kept.round.call((obj(colt),)).expect("it turns"), build * 100);
        }
        let turned = |horse| host.objects().call(horse, "degrees", &[]).expect("the call succeeds");
        assert_eq!((turned(colt), turned(pony)), (Some(Value::F64(3.0)), Some(Value::F64(0.0))), "each its own");
    }
    let report = host.reload(&libraries(13)).expect("a Master");
    report.into_result().expect_err("the thirteenth does not start");
    assert_eq!(kept.answers(pony), of_build(1));
    host.unload_master().expect("there is one");
    assert!(kept.answers(pony).iter().all(|line| line.parse::<f64>().is_err() && !line.contains("Some")));
}

#[test]
fn an_inherited_function_may_end_its_object_call_back_and_panic() {
    let host = host();
    let kept = Kept::of(&host);
    let inner = Rc::clone(&kept);
    let [pony, other] = [PONY, PONY].map(|class| spawn(&host, class));
    let query = move |host: &Runtime, (number,): (i32,)| {
        assert_eq!(inner.add.call((obj(other), 1, number)).expect("another of its class"), number + 1);
        assert!(inner.round.call((obj(pony),)).is_err(), "its fields are in use");
        assert!(host.reload(&libraries(2)).is_err(), "code of the plugin is on the stack");
        host.safe_point();
        number
    };
    host.calls().register_typed("host.query", query).expect("the name is free");
    for _ in 0..2 {
        for (mood, expected) in [(0, Some(100)), (4, Some(104)), (1, None), (0, Some(100))] {
            kept.mood.set(pony, mood).expect("written");
            let returned = kept.round.call((obj(pony),));
            assert_eq!(returned.as_ref().ok().copied(), expected, "mood {mood}: {returned:?}");
        }
    }
    // The object destroys itself during the call.
    kept.mood.set(pony, 2).expect("written");
    host.objects().set(pony, "other", &Value::Object(pony)).expect("written");
    assert_eq!(kept.round.call((obj(pony),)).expect("it was there when it began"), 102);
    assert!(kept.round.call((obj(pony),)).expect_err("it has ended").to_string().contains("is gone"));
    host.tick(Budget::frame());
    let next = spawn(&host, PONY);
    assert_eq!(next.index(), pony.index(), "it has the same slot");
    assert!(kept.round.call((obj(pony),)).expect_err("it has ended").to_string().contains("is gone"));
    assert_eq!(kept.round.call((obj(next),)).expect("it turns"), 100);
}

thread_local! {
    /// Callback that an adder runs while it computes its sum.
    static IN_THE_SUM: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
    /// Number of adders whose Rust fields were dropped.
    static DROPPED: Cell<u32> = const { Cell::new(0) };
}

/// Increments `DROPPED` when an adder's Rust fields are dropped.
#[derive(Default)]
struct OnDrop;

impl Drop for OnDrop {
    fn drop(&mut self) {
        DROPPED.set(DROPPED.get() + 1);
    }
}

/// Base class that the plugin `detours` extends. The plugin may override `sum_up`.
#[uclass(package = "Test", blueprintable)]
#[derive(Default)]
struct Adder {
    #[uproperty]
    total: i32,
    sums: i32,
    on_drop: OnDrop,
}

#[uclass]
impl Adder {
    #[ufunction(blueprint_native_event)]
    fn sum_up(&self, left: i32, right: i32) -> i32;
    fn sum_up_implementation(&mut self, left: i32, right: i32) -> i32 {
        let _pinned = &self.on_drop;
        if let Some(code) = IN_THE_SUM.with_borrow(|code| code.clone()) {
            code();
        }
        assert!(left != 13, "not with {left}");
        self.sums += 1;
        left.wrapping_add(right)
    }

    #[ufunction]
    fn sums(&self) -> i32 {
        self.sums
    }

    #[ufunction]
    fn refuse(&self, number: i32) -> Result<i32, CallError> {
        Err(CallError::returned(format!("{number} is refused")))
    }

    /// Calls `add` of another adder through an accessor, `times` times.
    #[ufunction]
    fn sum_often(&self, this: This<Self>, other: Obj<Adder>, times: i32) -> Result<i32, CallError> {
        let other = this.get(other).ok_or_else(|| CallError::returned("the other object is missing"))?;
        (0..times).try_fold(0, |sum, _| other.try_sum_up(sum, 1))
    }

    /// Calls `refuse` of another adder through an accessor, and wraps the returned error.
    #[ufunction]
    fn refuse_other(&self, this: This<Self>, other: Obj<Adder>, number: i32) -> Result<i32, CallError> {
        let other = this.get(other).ok_or_else(|| CallError::returned("the other object is missing"))?;
        match other.refuse(number) {
            Err(error) => Err(CallError::returned(format!("as I heard: {error}"))),
            done => done,
        }
    }
}

const ADDER: &str = "/Script/Test.Adder";
const DETOUR: &str = "/Script/Game.Detour";

fn adders(features: &[&str], tag: u64) -> Vec<PathBuf> {
    vec![support::tagged("detours", features, tag)]
}

fn adder_host() -> Runtime {
    let host = support::builder().natives(natives![Adder]).build().expect("a runtime");
    host.create_master(&adders(&[], 1)).expect("it loads");
    host
}

type Sum = TypedFunction<(Obj<Object>, i32, i32), i32>;

fn sum_of(host: &Runtime) -> Sum {
    host.function("uf:/Script/Test.Adder:sum_up").expect("it is there")
}

#[test]
fn a_host_body_runs_whenever_no_override_is_loaded() {
    let host = adder_host();
    let (sum, exact) = (sum_of(&host), host.function::<(Obj<Object>, i32, i32), i32>("uf!:/Script/Test.Adder:sum_up"));
    let exact = exact.expect("it is there");
    let [caller, adder, detour] = [ADDER, ADDER, DETOUR].map(|class| spawn(&host, class));
    let often: TypedFunction<(Obj<Object>, Obj<Adder>, i32), i32> =
        host.function("uf:/Script/Test.Adder:sum_often").unwrap_or_else(|error| panic!("{error}"));
    for (features, tag, more) in [(&[][..], 1, 0), (&["override"], 2, 1), (&[], 3, 0), (&["override"], 4, 1)] {
        if tag != 1 {
            let report = host.reload(&adders(features, tag)).expect("a Master");
            report.into_result().unwrap_or_else(|report| panic!("{report}"));
        }
        for _ in 0..3 {
            assert_eq!(sum.call((obj(adder), 1, 2)).expect("the host's"), 3);
            assert_eq!(sum.call((obj(detour), 1, 2)).expect("that of the build"), 3 + more);
            assert_eq!(exact.call((obj(detour), 1, 2)).expect("the host's"), 3);
            // Calls `sum_up` from native code, through the accessor of the native view.
            for (object, each) in [(adder, 1), (detour, 1 + more)] {
                assert_eq!(often.call((obj(caller), Obj::new(object), 5)).expect("it sums"), 5 * each);
            }
        }
    }
    host.unload_master().expect("there is one");
    assert_eq!(sum.call((obj(adder), 1, 2)).expect("the host's"), 3);
    host.objects().destroy(adder);
    assert!(sum.call((obj(adder), 1, 2)).expect_err("it ended").to_string().contains("is gone"));
    drop(host.shutdown());
    assert!(sum.call((obj(adder), 1, 2)).expect_err("the host has ended").to_string().contains("runtime of"));
}

#[test]
fn a_host_body_may_fail_panic_reload_and_end_the_host() {
    let host = adder_host();
    let sum = Rc::new(sum_of(&host));
    let sums: TypedFunction<(Obj<Object>,), i32> = host.function("uf:/Script/Test.Adder:sums").expect("it is there");
    let refuse: TypedFunction<(Obj<Object>, i32), i32> =
        host.function("uf:/Script/Test.Adder:refuse").expect("it is there");
    let adder = spawn(&host, ADDER);
    for _ in 0..3 {
        let refused = refuse.call((obj(adder), 7)).expect_err("it says so").to_string();
        assert!(refused.contains("7 is refused") && refused.contains("functions.rs:"), "{refused}");
        let panicked = sum.call((obj(adder), 13, 1)).expect_err("it panics").to_string();
        assert!(panicked.contains("not with 13"), "{panicked}");
        assert_eq!(sum.call((obj(adder), 12, 1)).expect("its fields are free"), 13);
        let result = host.objects().call(adder, "refuse_other", &[Value::Object(adder), Value::I32(9)]);
        let result = result.expect_err("it says so").to_string();
        assert!(result.contains("as I heard") && result.contains("9 is refused"), "{result}");
    }
    assert_eq!(sums.call((obj(adder),)).expect("the call succeeds"), 3);
    // The object calls itself while the outer call uses the fields of the object.
    let inner = Rc::clone(&sum);
    IN_THE_SUM.set(Some(Rc::new(move || {
        let refused = inner.call((obj(adder), 1, 1)).expect_err("the fields are in use").to_string();
        assert!(refused.contains("while `sum_up` holds it"), "{refused}");
    })));
    assert_eq!(sum.call((obj(adder), 1, 1)).expect("it sums"), 2);
    // No plugin code is on the stack, so a reload proceeds during the call.
    let weak = host.downgrade();
    let tag = Cell::new(1);
    IN_THE_SUM.set(Some(Rc::new(move || {
        let host = weak.upgrade().expect("it is there");
        tag.set(tag.get() + 1);
        let report = host.reload(&adders(&["override"], tag.get())).expect("a Master");
        report.into_result().unwrap_or_else(|report| panic!("{report}"));
        host.collection().collect().expect("a safe point");
        assert!(host.objects().is_alive(adder), "a call is about it");
    })));
    for _ in 0..2 {
        assert_eq!(sum.call((obj(adder), 1, 1)).expect("it sums"), 2);
    }
    // The call destroys its object. The Rust fields of the object are dropped after the call.
    let (weak, before) = (host.downgrade(), DROPPED.get());
    IN_THE_SUM.set(Some(Rc::new(move || {
        let host = weak.upgrade().expect("it is there");
        host.objects().destroy(adder);
        host.safe_point();
        assert_eq!(DROPPED.get(), before, "not while they are in use");
    })));
    assert_eq!(sum.call((obj(adder), 1, 1)).expect("it was there when it began"), 2);
    assert_eq!(DROPPED.get(), before + 1);
    assert!(sum.call((obj(adder), 1, 1)).is_err());
    // Drops the last handle to the host during the call.
    let last = spawn(&host, ADDER);
    IN_THE_SUM.set(None);
    assert_eq!(sum.call((obj(last), 1, 1)).expect("it sums"), 2);
    let (weak, host_slot) = (host.downgrade(), Rc::new(RefCell::new(Some(host))));
    IN_THE_SUM.set(Some(Rc::new(move || drop(host_slot.borrow_mut().take()))));
    assert_eq!(sum.call((obj(last), 1, 1)).expect("it sums"), 2);
    assert!(weak.upgrade().is_none(), "it has ended now");
    assert!(sum.call((obj(last), 1, 1)).expect_err("the host has ended").to_string().contains("runtime of"));
    IN_THE_SUM.set(None);
}

#[test]
fn observed_calls_of_a_host_body_are_all_counted() {
    let host = adder_host();
    let (sum, adder) = (sum_of(&host), spawn(&host, ADDER));
    for round in 1..=2 {
        (0..3).for_each(|_| assert_eq!(sum.call((obj(adder), 1, 2)).expect("it sums"), 3));
        host.calls().observe(Observed { counts: true, spans: false });
        (0..4).for_each(|_| assert_eq!(sum.call((obj(adder), 1, 2)).expect("it sums"), 3));
        host.calls().observe(Observed { counts: true, spans: true });
        host.calls().observe(Observed::default());
        let counted: Vec<_> = host.calls().times().into_iter().map(|times| (times.name, times.calls)).collect();
        assert_eq!(counted, [("uf:/Script/Test.Adder:sum_up".to_owned(), 4 * round)]);
    }
}

/// Returns a host with `grid`, one object of its class, and one object of a derived class.
fn grid_host() -> (Runtime, [ObjectHandle; 2]) {
    let host = support::builder().natives(grid::natives::declared()).build().expect("a runtime");
    let libraries = [support::tagged("grid", &[], 1), support::tagged("switchboard", &[], 1)];
    host.create_master(&libraries).unwrap_or_else(|error| panic!("{error}"));
    let cells = ["/Script/Game.Cell", "/Script/Game.LoudCell"].map(|class| spawn(&host, class));
    (host, cells)
}

#[test]
fn functions_of_six_parameters_accept_each_at_its_position() {
    type Numbers = (u8, i16, u32, f32, f64, bool);
    let (host, cells) = grid_host();
    let desk = spawn(&host, "/Script/Test.Desk");
    let by_name: [TypedFunction<Numbers, f64>; 2] = ["ex:/grid.numbers", "nm:/grid:Sorts:numbers"]
        .map(|name| host.function(name).unwrap_or_else(|error| panic!("{error}")));
    type OnObject = TypedFunction<(Obj<Object>, u8, i16, u32, f32, f64, bool), f64>;
    let of = |class: &str| -> OnObject { host.function(&format!("uf:{class}:numbers")).expect("it is there") };
    let (of_cell, of_desk) = (of("/Script/Game.Cell"), of("/Script/Test.Desk"));
    for _ in 0..3 {
        for (returned, sum) in [
            ((1, -2, 4, 0.5, 0.25, true), 4.75),
            ((255, i16::MIN, u32::MAX, -0.5, 0.0, false), 255.0 - 32_768.0 + 4_294_967_295.0 - 0.5),
        ] {
            let (a, b, c, d, e, f) = returned;
            by_name.iter().for_each(|function| assert_eq!(function.call(returned).expect("it adds"), sum));
            for (function, object) in [(&of_cell, cells[0]), (&of_cell, cells[1]), (&of_desk, desk)] {
                assert_eq!(function.call((obj(object), a, b, c, d, e, f)).expect("it adds"), sum);
            }
        }
    }
    let hot = by_name[0].hot(|numbers| numbers.call((1, 2, 3, 4.0, 5.0, true)).expect("it adds"));
    assert_eq!(hot.expect("there is a pointer"), 16.0);
}

#[test]
fn a_static_function_needs_no_object_and_ends_with_its_generation() {
    let (host, _cells) = grid_host();
    let double: TypedFunction<(i32,), i32> = host.function("uf:/Script/Game.Cell:double").expect("it is there");
    let libraries = |tag| [support::tagged("grid", &[], tag), support::tagged("switchboard", &[], 1)];
    for tag in [1, 2, 1] {
        if tag != 1 || host.generation() > 1 {
            let report = host.reload(&libraries(tag)).expect("a Master");
            report.into_result().unwrap_or_else(|report| panic!("{report}"));
        }
        (0..3).for_each(|_| assert_eq!(double.call((21,)).expect("it doubles"), 42));
        let hot = double.hot(|double| (0..10).map(|number| double.call((number,)).expect("it doubles")).sum::<i32>());
        assert_eq!(hot.expect("there is a pointer"), 90);
    }
    host.calls().observe(Observed { counts: true, spans: false });
    assert_eq!(double.call((21,)).expect("it doubles"), 42);
    assert!(host.calls().times().iter().any(|times| times.name == "uf:/Script/Game.Cell:double" && times.calls == 1));
    host.calls().observe(Observed::default());
    host.unload_master().expect("there is one");
    assert!(double.call((21,)).is_err());
}
