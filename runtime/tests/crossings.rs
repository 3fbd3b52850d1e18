//! Tests calls with Rust types in both directions: their results, and a reload that is requested during a call. Also tests stored function
//! handles whose generation has ended, whose object was destroyed, or whose callee has panicked.

use crate::support;

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;

use alcedo_runtime::host::TypedFunction;
use alcedo_runtime::native::{Obj, Object, This, uclass};
use alcedo_runtime::zcall::Observed;
use alcedo_runtime::{CallError, ObjectHandle, Runtime, Value, WeakRuntime, natives};

/// The host's own adder.
#[uclass(package = "Test", blueprintable)]
#[derive(Default)]
pub(crate) struct Adder {
    /// Sum of all additions.
    #[uproperty]
    total: i32,
    counted: i32,
    on_drop: OnDrop,
}

thread_local! {
    /// Number of dropped `OnDrop(true)` values. The flag is set for objects that destroy themselves during their own call.
    pub(crate) static DROPPED: Cell<u32> = const { Cell::new(0) };
    /// Number of destruction hooks that have run for objects with a set flag.
    pub(crate) static ENDED: Cell<u32> = const { Cell::new(0) };
    /// Code that each `OnDrop(true)` runs when it is dropped.
    static IN_THE_DROP: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
    /// Host that a method uses to destroy its own object.
    static HOST: RefCell<Option<WeakRuntime>> = const { RefCell::new(None) };
}

/// Increments `DROPPED` when it is dropped, if the flag is set.
#[derive(Default)]
struct OnDrop(bool);

impl Drop for OnDrop {
    fn drop(&mut self) {
        DROPPED.set(DROPPED.get() + u32::from(self.0));
        if let Some(code) = IN_THE_DROP.with_borrow(|code| code.clone()).filter(|_| self.0) {
            code();
        }
    }
}

#[uclass]
impl Adder {
    /// Returns the sum, computed by the host.
    #[ufunction]
    fn add_inside(&self, left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }

    /// Returns the sum, computed by a static function.
    #[ufunction]
    fn add_apart(left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }

    /// Returns the sum, computed by the host or by an override.
    #[ufunction(blueprint_native_event)]
    fn sum_up(&self, left: i32, right: i32) -> i32;
    fn sum_up_implementation(&self, left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }

    /// Adds to the count, a Rust field of the host; fails for zero, and panics for negative numbers.
    #[ufunction]
    fn count(&mut self, number: i32) -> Result<i32, CallError> {
        assert!(number >= 0, "{number} is below zero");
        if number == 0 {
            return Err(CallError::returned("nothing to count"));
        }
        self.counted += number;
        Ok(self.counted)
    }

    /// Destroys the object, and increments its count afterwards.
    #[ufunction]
    fn end(&mut self, this: This<Self>) -> i32 {
        self.on_drop.0 = true;
        let host =
            HOST.with_borrow(|host| host.as_ref().and_then(WeakRuntime::upgrade)).expect("the host of this test");
        host.objects().destroy(this.handle());
        assert!(!host.objects().is_alive(this.handle()));
        let before = DROPPED.get();
        self.counted = 7;
        assert_eq!(DROPPED.get(), before, "not while they are in use");
        self.counted
    }

    /// Destroys the object, and returns an error.
    #[ufunction]
    fn end_badly(&mut self, this: This<Self>) -> Result<i32, CallError> {
        self.on_drop.0 = true;
        let host =
            HOST.with_borrow(|host| host.as_ref().and_then(WeakRuntime::upgrade)).expect("the host of this test");
        host.objects().destroy(this.handle());
        Err(CallError::returned("it ends badly"))
    }

    #[begin_destroy]
    fn ends(&mut self) {
        ENDED.set(ENDED.get() + u32::from(self.on_drop.0));
    }

    /// Adds the result of `sum_up` to the count while the Rust fields are borrowed.
    #[ufunction]
    fn count_sum(&mut self, this: This<Self>) -> Result<i32, CallError> {
        self.counted += this.sum_up(1, 1);
        Ok(self.counted)
    }
}

/// Returns the libraries of `crossings`, and of `magic-cube` with this build tag.
fn libraries(cube: u64) -> Vec<PathBuf> {
    vec![support::plugin("crossings", &[]), support::tagged("magic-cube", &[], cube)]
}

fn host() -> Runtime {
    let runtime = support::builder().natives(natives![Adder]).build().unwrap_or_else(|error| panic!("{error}"));
    let add = |_: &Runtime, (left, right): (i32, i32)| left.wrapping_add(right);
    runtime.calls().register_typed("host.add", add).expect("the name is free");
    runtime.create_master(&libraries(1)).unwrap_or_else(|error| panic!("{error}"));
    runtime
}

pub(crate) fn text(runtime: &Runtime, name: &str, arguments: &[Value]) -> String {
    match runtime.calls().call(name, arguments) {
        Ok(Some(Value::Text(text))) => text,
        other => panic!("{name}: {other:?}"),
    }
}

type TwoToOne = TypedFunction<(i32, i32), i32>;

#[test]
fn the_glue_of_the_plugin_is_that_of_the_natives() {
    support::glue_is_written(natives![Adder], "Test", "crossings", "adder.rs");
}

#[test]
fn calls_by_rust_types_cross_in_both_directions() {
    let host = host();
    for name in ["ex:/host.add", "ex:/crossings.add", "nm:/crossings:Sums:add"] {
        let add: TwoToOne = host.function(name).expect(name);
        assert_eq!(add.call((20, 22)).expect(name), 42);
        assert_eq!(add.call((i32::MAX, 1)).expect(name), i32::MIN);
    }
    let crossing = host.objects().spawn("/Script/Game.Crossing").expect("spawned");
    for name in ["uf:/Script/Game.Crossing:add", "uf!:/Script/Game.Crossing:add", "uf:/Script/Test.Adder:add_inside"] {
        let add: TypedFunction<(Obj<Object>, i32, i32), i32> = host.function(name).expect(name);
        assert_eq!(add.call((Obj::new(crossing), 20, 22)).expect(name), 42);
        let cube = host.objects().spawn("/Script/Game.MagicCube").expect("spawned");
        for (wrong, expected) in [(cube, "not a"), (ObjectHandle::NONE, "is to no object")] {
            let error = add.call((Obj::new(wrong), 1, 1)).expect_err("no such object").to_string();
            assert!(error.contains(expected), "{name}: {error}");
        }
    }
    for (name, often) in [("call_often", 1_000), ("call_by_name_often", 10)] {
        let arguments = [Value::Text("ex:/host.add".into()), Value::U64(often)];
        let sum = host.calls().call(&format!("nm:/crossings:Sums:{name}"), &arguments).expect("it adds");
        assert_eq!(sum, Some(Value::I32(often as i32)));
    }
}

#[test]
fn a_typed_callees_panic_is_an_error_and_later_calls_work() {
    let host = host();
    let even: TwoToOne = host.function("ex:/crossings.even").expect("it is there");
    for _ in 0..3 {
        let error = even.call((1, 2)).expect_err("three is odd").to_string();
        let location = support::line_of("crossings", "assert!(sum % 2");
        assert!(error.contains("3 is odd") && error.contains(&location), "{error}, wanted {location}");
        assert_eq!(even.call((1, 3)).expect("four is not"), 4);
    }
    let panics = |_: &Runtime, (number,): (i32,)| -> i32 { panic!("not with {number}") };
    host.calls().register_typed("host.panics", panics).expect("the name is free");
    let panics: TypedFunction<(i32,), i32> = host.function("ex:/host.panics").expect("it is there");
    assert!(panics.call((7,)).expect_err("it panics").to_string().contains("not with 7"));
}

#[test]
fn an_error_of_a_typed_function_of_the_host_is_its_authors() {
    let host = host();
    let root = |_: &Runtime, (of,): (i64,)| of.checked_isqrt().ok_or("it has no integer root");
    host.calls().register_typed("host.root", root).expect("the name is free");
    let root: TypedFunction<(i64,), i64> = host.function("ex:/host.root").expect("it is there");
    assert_eq!(root.call((81,)).expect("nine"), 9);
    let error = root.call((-1,)).expect_err("none").to_string();
    assert!(
        error.contains("returned the error \"it has no integer root\"") && error.contains("crossings.rs:"),
        "{error}"
    );
}

#[test]
fn a_typed_function_of_another_signature_is_refused_when_it_is_found() {
    let host = host();
    for name in ["ex:/host.add", "ex:/crossings.add"] {
        let error = host.function::<(i64, i32), i32>(name).expect_err("other types").to_string();
        assert!(error.contains("i32, i32 -> i32") && error.contains("i64, i32 -> i32"), "{error}");
        assert!(host.function::<(i32,), i32>(name).is_err() && host.function::<(i32, i32), ()>(name).is_err());
    }
    let refused = text(&host, "nm:/crossings:Sums:keep", &[Value::Text("ex:/host.add".into())]);
    assert!(refused.contains("has the signature"), "{refused}");
}

#[test]
fn a_typed_host_function_calls_new_code_until_shutdown() {
    let host = host();
    let tag: TypedFunction<(), u64> = host.function("nm:/magic_cube:MagicCube:build_tag").expect("it is there");
    let add: TwoToOne = host.function("ex:/host.add").expect("it is there");
    assert_eq!(tag.call(()).expect("a number"), 1);
    let report = host.reload(&libraries(2)).expect("a Master");
    report.into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!((tag.call(()).expect("a number"), add.call((1, 1)).expect("two")), (2, 2));
    // After this failed reload, the host still uses the old code.
    let failed = host.reload(&[PathBuf::from("nowhere.so")]).map(|report| report.into_result().is_err());
    assert!(failed.is_err() || failed.is_ok_and(|failed| failed));
    assert_eq!(tag.call(()).expect("a number"), 2);
    drop(host.shutdown());
    assert!(tag.call(()).is_err() && add.call((1, 1)).is_err());
}

#[test]
fn a_function_kept_from_another_module_expires_with_its_generation() {
    let host = host();
    let name = || Value::Text("nm:/magic_cube:MagicCube:build_tag".into());
    let kept = || text(&host, "nm:/crossings:Sums:call_kept", &[]);
    assert_eq!(text(&host, "nm:/crossings:Sums:keep", &[name()]), "");
    assert_eq!(kept(), "1");
    let report = host.reload_changed(&libraries(2)).expect("a Master");
    report.into_result().unwrap_or_else(|report| panic!("{report}"));
    let error = kept();
    assert!(error.contains("is dead, its module has ended: resolve the name again"), "{error}");
    assert_eq!(text(&host, "nm:/crossings:Sums:keep", &[name()]), "");
    assert_eq!(kept(), "2");
}

#[test]
fn a_reload_requested_in_a_typed_call_waits_or_is_refused() {
    let host = host();
    let reload = |runtime: &Runtime, (left, right): (i32, i32)| {
        assert!(runtime.reload(&libraries(2)).is_err(), "a call of the plugin has not returned");
        left + right
    };
    host.calls().register_typed("host.reloads", reload).expect("the name is free");
    let arguments = [Value::Text("ex:/host.reloads".into()), Value::U64(2)];
    let sum = host.calls().call("nm:/crossings:Sums:call_often", &arguments).expect("it adds");
    assert_eq!(sum, Some(Value::I32(2)));
    let tag: TypedFunction<(), u64> = host.function("nm:/magic_cube:MagicCube:build_tag").expect("it is there");
    assert_eq!(tag.call(()).expect("a number"), 1);
}

#[test]
fn a_typed_call_on_a_destroyed_object_is_refused() {
    let host = host();
    let crossing = host.objects().spawn("/Script/Game.Crossing").expect("spawned");
    let add: TypedFunction<(Obj<Object>, i32, i32), i32> =
        host.function("uf:/Script/Game.Crossing:add").expect("it is there");
    assert_eq!(add.call((Obj::new(crossing), 1, 2)).expect("three"), 3);
    host.objects().destroy(crossing);
    let error = add.call((Obj::new(crossing), 1, 2)).expect_err("it is gone").to_string();
    assert!(error.contains("is gone"), "{error}");
}

#[test]
fn a_typed_registration_that_is_refused_keeps_nothing_of_its_body() {
    let host = host();
    let owned = Rc::new(());
    let register = |name: &str| {
        let owned = Rc::clone(&owned);
        host.calls().register_typed(name, move |_, (): ()| i64::try_from(Rc::strong_count(&owned)).unwrap_or_default())
    };
    register("host.owned").unwrap_or_else(|error| panic!("{error}"));
    for name in ["host.owned", "no name at all"] {
        register(name).expect_err("it is taken, or no name");
    }
    assert_eq!(Rc::strong_count(&owned), 2, "this one, and the one that was registered");
}

#[test]
fn a_property_is_refused_as_a_typed_function() {
    let host = host();
    let refused = host.function::<(i32,), ()>("up:/Script/Game.Crossing:number").expect_err("it is a property");
    assert!(refused.to_string().contains("a property of type i32"), "{refused}");
}

/// Returns a host with a leaf function. `crossings` calls this function directly.
pub(crate) fn direct_host(libraries: &[PathBuf]) -> Runtime {
    let runtime = support::builder().natives(natives![Adder]).build().unwrap_or_else(|error| panic!("{error}"));
    let add = |_: &Runtime, (left, right): (i32, i32)| left.wrapping_add(right);
    runtime.calls().register_typed("host.add", add).expect("the name is free");
    let leaf = |(left, right): (i32, i32)| {
        assert!(left != -13, "not with {left}");
        left.wrapping_add(right)
    };
    runtime.calls().register_leaf("host.leaf", leaf).expect("the name is free");
    HOST.set(Some(runtime.downgrade()));
    runtime.create_master(libraries).unwrap_or_else(|error| panic!("{error}"));
    runtime
}

pub(crate) fn query(host: &Runtime, object: ObjectHandle, function: &str, arguments: &[Value]) -> String {
    match host.objects().call(object, function, arguments) {
        Ok(Some(Value::Text(text))) => text,
        other => panic!("{function}: {other:?}"),
    }
}

pub(crate) fn witness(host: &Runtime) -> ObjectHandle {
    host.objects().spawn("/Script/Game.Witness").expect("spawned")
}

fn begins(lines: &str, expected: [&str; 5]) {
    let found: Vec<_> = lines.lines().collect();
    assert_eq!(found.len(), expected.len(), "{lines}");
    for (line, expected) in found.iter().zip(expected) {
        assert!(line.starts_with(expected), "{lines}\nwanted {expected}");
    }
}

#[test]
fn direct_calls_match_calls_with_slots() {
    let host = direct_host(&[support::plugin("crossings", &[])]);
    let witness = witness(&host);
    // The construction has incremented the counter of this object once. The class default object has a counter of its own.
    for counted in 2..5 {
        let lines = query(&host, witness, "call_all", &[]);
        let method = format!("method: {counted}");
        // The defaults are applied after the red constructor.
        let read = if counted == 2 { "read: 0" } else { "read: 5" };
        begins(&lines, ["function: 3", &method, "event: 3", read, "write: ()"]);
    }
    for name in ["host.add", "host.leaf"] {
        let arguments = [Value::Text(format!("ex:/{name}")), Value::U64(1_000)];
        let sum = host.calls().call("nm:/crossings:Sums:call_often", &arguments).expect("it adds");
        assert_eq!(sum, Some(Value::I32(1_000)), "{name}");
    }
    let crossing = host.objects().spawn("/Script/Game.Crossing").expect("spawned");
    for often in ["method_often", "event_often", "property_often"] {
        assert_eq!(host.objects().call(crossing, often, &[Value::U64(1_000)]).expect(often), Some(Value::I32(1_000)));
    }
    assert_eq!(host.objects().get(crossing, "total").expect("it has one"), Value::I32(1_000));
}

#[test]
fn errors_and_panics_of_direct_calls_reach_the_caller() {
    let host = direct_host(&[support::plugin("crossings", &[])]);
    let witness = witness(&host);
    let count = |number| query(&host, witness, "count_what", &[Value::I32(number)]);
    for _ in 0..3 {
        let error = count(-1);
        assert!(error.starts_with("count: PANIC") && error.contains("-1 is below zero"), "{error}");
        let error = count(0);
        assert!(error.starts_with("count: RETURNED") && error.contains("crossings.rs:"), "{error}");
    }
    // Each failed call has ended its borrow of the Rust fields. The next call can therefore borrow the fields.
    assert_eq!(count(10), "count: 11");
    let leaf = [Value::Text("ex:/host.leaf".into()), Value::I32(-13)];
    let error = text(&host, "nm:/crossings:Sums:call_with", &leaf);
    assert!(error.contains("not with -13"), "{error}");
}

#[test]
fn a_leaf_is_called_by_its_pointer_and_nothing_else_has_one() {
    let host = direct_host(&[support::plugin("crossings", &[])]);
    let often = [Value::Text("ex:/host.leaf".into()), Value::U64(1_000)];
    for _ in 0..2 {
        let sum = host.calls().call("nm:/crossings:Sums:call_often_hot", &often).expect("it adds");
        assert_eq!(sum, Some(Value::I32(1_000)));
    }
    let with = |name: &str, left| {
        text(&host, "nm:/crossings:Sums:call_hot_with", &[Value::Text(name.into()), Value::I32(left)])
    };
    assert_eq!(with("ex:/host.leaf", 41), "42");
    assert!(with("ex:/host.leaf", -13).contains("not with -13"), "{}", with("ex:/host.leaf", -13));
    assert_eq!(with("ex:/host.leaf", -12), "-11");
    for other in ["ex:/host.add", "nm:/crossings:Sums:add"] {
        let refused = with(other, 41);
        assert!(refused.contains(&format!("`{other}` has no pointer now")), "{refused}");
    }
    host.calls().observe(Observed { counts: true, spans: false });
    assert!(with("ex:/host.leaf", 41).contains("has no pointer now"), "each call must be observed");
}

#[test]
fn a_static_function_is_found_as_no_method() {
    let host = direct_host(&[support::plugin("crossings", &[])]);
    let find = |name: &str| text(&host, "nm:/crossings:Sums:find_method", &[Value::Text(name.into())]);
    for method in ["uf:/Script/Test.Adder:add_inside", "uf!:/Script/Test.Adder:sum_up", "uf:/Script/Game.Crossing:add"]
    {
        assert_eq!(find(method), method);
    }
    for name in ["uf:/Script/Test.Adder:add_apart", "uf!:/Script/Test.Adder:add_apart"] {
        let refused = find(name);
        assert!(refused.contains(&format!("`{name}` is a static function, which is called on no object")), "{refused}");
    }
    assert!(find("uf:/Script/Test.Adder:nothing").contains("does not resolve"));
    assert!(find("ufo:/lands").contains("is called on no object"));
}

#[test]
fn a_direct_call_does_not_borrow_a_plugin_part_in_use() {
    let host = direct_host(&[support::plugin("crossings", &[])]);
    let echo = host.objects().spawn("/Script/Game.Echo").expect("spawned");
    let error = host.objects().call(echo, "count_sum", &[]).expect_err("the fields are in use").to_string();
    assert!(error.contains("`count` needs the plugin part while `count_sum` holds it"), "{error}");
    assert_eq!(host.objects().call(echo, "count", &[Value::I32(2)]).expect("they are free"), Some(Value::I32(2)));
}

#[test]
fn a_panicking_leaf_with_a_borrowed_slice_returns_its_own_error() {
    let host = direct_host(&[support::plugin("crossings", &[])]);
    let call = |left| query(&host, witness(&host), "call_leaf_while_borrowed", &[Value::I32(left)]);
    assert_eq!(call(2), "leaf: 3");
    let panics = call(-13);
    assert!(panics.starts_with("leaf: PANIC") && panics.contains("not with -13"), "{panics}");
    assert_eq!(call(2), "leaf: 3");
}

#[test]
fn direct_calls_are_refused_with_borrowed_slices_or_destroyed_objects() {
    let host = direct_host(&[support::plugin("crossings", &[])]);
    for _ in 0..2 {
        let results = query(&host, witness(&host), "call_all_while_borrowed", &[]);
        begins(
            &results,
            ["function: BORROWED", "method: BORROWED", "event: BORROWED", "read: BORROWED", "write: BORROWED"],
        );
        let results = query(&host, witness(&host), "call_all_after_inner_slice", &[]);
        begins(
            &results,
            ["function: BORROWED", "method: BORROWED", "event: BORROWED", "read: BORROWED", "write: BORROWED"],
        );
        let gone = query(&host, witness(&host), "call_all_after_the_end", &[]);
        begins(&gone, ["function: 3", "method: STALE", "event: STALE", "read: STALE", "write: STALE"]);
        let lines = query(&host, witness(&host), "call_all", &[]);
        begins(&lines, ["function: 3", "method: 2", "event: 3", "read: 0", "write: ()"]);
    }
}

#[test]
fn direct_calls_before_a_commit_are_refused_like_other_calls() {
    let build = |tag| [support::tagged("crossings", &[], tag)];
    let host = direct_host(&build(1));
    let witness = witness(&host);
    begins(&query(&host, witness, "received", &[]), ["function: 3", "method: 1", "event: 3", "read: 0", "write: ()"]);
    let refused =
        ["function: DURING_REBUILD", "method: DURING_REBUILD", "event: DURING_REBUILD", "read: ", "write: ()"];
    for tag in [2, 1, 2] {
        host.reload(&build(tag)).expect("a Master").into_result().unwrap_or_else(|report| panic!("{report}"));
        begins(&query(&host, witness, "received", &[]), refused);
        begins(
            &query(&host, witness, "call_all", &[]),
            ["function: 3", "method: ", "event: 3", "read: 5", "write: ()"],
        );
    }
    // The module has already made direct calls. While a world is loaded, these calls are refused as well.
    let path = support::test_dir().join("direct_calls.world");
    host.worlds().save(&path).expect("it is saved");
    let found = host.objects().path_of(witness).expect("alive");
    host.worlds().load(&path).unwrap_or_else(|error| panic!("{error}"));
    let again = host.objects().at_path(&found).expect("it is there again");
    begins(&query(&host, again, "received", &[]), refused);
    begins(&query(&host, again, "call_all", &[]), ["function: 3", "method: ", "event: 3", "read: 5", "write: ()"]);
}

#[test]
fn a_direct_call_runs_the_current_override() {
    let libraries =
        |features: &[&str], tag| vec![support::plugin("crossings", &[]), support::tagged("detours", features, tag)];
    let host = direct_host(&libraries(&[], 1));
    let witness = witness(&host);
    let detour = host.objects().spawn("/Script/Game.Detour").expect("spawned");
    let other = |function: &str| query(&host, witness, function, &[Value::Object(detour)]);
    assert_eq!(other("sum_of"), "sum: 3");
    for (features, tag, sum) in [(&["override"][..], 2, "sum: 4"), (&[], 3, "sum: 3"), (&["override"], 4, "sum: 4")] {
        let report = host.reload_changed(&libraries(features, tag)).expect("a Master");
        report.into_result().unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(other("sum_of"), sum);
        // Checks that the override of `Detour` does not affect objects of classes without an override.
        assert!(query(&host, witness, "call_all", &[]).contains("event: 3"));
    }
    let sums = other("sums_of");
    let lines: Vec<_> = sums.lines().collect();
    assert!(matches!(lines[..], ["sum: 12", panic, "sum: 12"] if panic.contains("not with 13")), "{sums}");
}

#[test]
fn a_property_handle_expires_with_the_generation_of_its_class() {
    let libraries = |tag| vec![support::plugin("crossings", &[]), support::tagged("detours", &[], tag)];
    let host = direct_host(&libraries(1));
    let detour = host.objects().spawn("/Script/Game.Detour").expect("spawned");
    let name = "up:/Script/Game.Detour:miles";
    let keep = || text(&host, "nm:/crossings:Sums:keep_property", &[Value::Text(name.into())]);
    let read = || text(&host, "nm:/crossings:Sums:read_kept", &[Value::Object(detour)]);
    assert_eq!((keep(), read(), read()), (String::new(), "7".into(), "7".into()));
    let crossing = host.objects().spawn("/Script/Game.Crossing").expect("spawned");
    let wrong = text(&host, "nm:/crossings:Sums:read_kept", &[Value::Object(crossing)]);
    assert!(wrong.contains("is a /Script/Game.Crossing, not a /Script/Game.Detour"), "{wrong}");
    let report = host.reload_changed(&libraries(2)).expect("a Master");
    report.into_result().unwrap_or_else(|report| panic!("{report}"));
    assert!(read().contains("is dead, its module has ended"), "{}", read());
    assert_eq!((keep(), read()), (String::new(), "7".into()));
    host.objects().destroy(detour);
    assert!(read().contains("is gone"), "{}", read());
    let refused =
        text(&host, "nm:/crossings:Sums:keep_property", &[Value::Text("up:/Script/Test.Adder:nothing".into())]);
    assert!(refused.contains("does not resolve"), "{refused}");
}

#[test]
fn calls_on_several_objects_name_those_that_fail_and_do_the_others() {
    let host = direct_host(&[support::plugin("crossings", &[]), support::tagged("detours", &["override"], 1)]);
    let witness = witness(&host);
    let plain = host.objects().spawn("/Script/Test.Adder").expect("spawned");
    let detour = host.objects().spawn("/Script/Game.Detour").expect("spawned");
    let gone = host.objects().spawn("/Script/Test.Adder").expect("spawned");
    host.objects().destroy(gone);
    let each = |objects: [ObjectHandle; 3], left| {
        let [first, second, third] = objects.map(Value::Object);
        query(&host, witness, "sum_of_each", &[first, second, third, Value::I32(left)])
    };
    assert_eq!(each([plain, detour, plain], 1), "Some(2)\nSome(3)\nSome(2)");
    // The override panics if the sum is thirteen. The remaining objects must still be called.
    for (objects, failed) in [([plain, detour, plain], detour), ([detour, plain, plain], detour)] {
        let lines = each(objects, 11);
        let lines: Vec<_> = lines.lines().collect();
        let sums = objects.map(|object| if object == failed { "None" } else { "Some(12)" });
        assert_eq!(lines[..3], sums, "{lines:?}");
        assert!(lines.len() == 4 && lines[3].contains("not with 13"), "{lines:?}");
        assert!(lines[3].starts_with(&format!("{failed:?} PANIC")), "{lines:?}");
    }
    let lines = each([gone, plain, gone], 1);
    let lines: Vec<_> = lines.lines().collect();
    assert_eq!(lines[..3], ["None", "Some(2)", "None"], "{lines:?}");
    assert!(lines.len() == 5 && lines[3].starts_with(&format!("{gone:?} STALE")), "{lines:?}");
}

#[test]
fn an_object_destroyed_in_its_direct_call_is_dropped_after_the_call() {
    let host = direct_host(&[support::plugin("crossings", &[])]);
    let witness = witness(&host);
    // The host method destroys its own object, and then increments a counter in the fields of this object.
    for _ in 0..3 {
        let adder = host.objects().spawn("/Script/Test.Adder").expect("spawned");
        assert_eq!(query(&host, witness, "end_of", &[Value::Object(adder)]), "end: 7");
        assert!(!host.objects().is_alive(adder));
    }
    assert_eq!(DROPPED.get(), 3, "the fields of each are dropped, once");
}

#[test]
fn drops_after_a_failed_direct_call_do_not_replace_its_error() {
    let host = direct_host(&[support::plugin("crossings", &[])]);
    let witness = witness(&host);
    let other = host.objects().spawn("/Script/Test.Adder").expect("spawned");
    let drops: Rc<Cell<u32>> = Rc::default();
    let (inner, seen) = (host.downgrade(), Rc::clone(&drops));
    IN_THE_DROP.set(Some(Rc::new(move || {
        let host = inner.upgrade().expect("it is there");
        // The plugin makes a direct call that fails, and reads the error.
        let answer = query(&host, witness, "count_of", &[Value::Object(other)]);
        assert!(answer.contains("nothing to count"), "{answer}");
        seen.set(seen.get() + 1);
    })));
    for times in 1..=3 {
        let adder = host.objects().spawn("/Script/Test.Adder").expect("spawned");
        let answer = query(&host, witness, "bad_end_of", &[Value::Object(adder)]);
        assert!(answer.contains("it ends badly"), "{answer}");
        assert_eq!(drops.get(), times);
    }
    IN_THE_DROP.set(None);
}
