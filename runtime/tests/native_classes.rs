//! Tests host classes that are declared as Rust types and have Rust fields in addition to properties. Covers reloads of plugins that extend
//! these classes, nested calls, and destruction. Also covers a source file that is compiled as a class of the host and as a class of a
//! plugin.
#![expect(unsafe_code, reason = "reads the types through an entry point for tests of this crate")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use alcedo_runtime::native::{Obj, Object, This, uclass, uinterface, ustruct};
use alcedo_runtime::{Budget, CallError, EnumValue, Error, ObjectHandle, Runtime, Value, natives};

use crate::support;

#[path = "../../example-plugins/host-types/src/meter.rs"]
mod meter;

#[path = "../benches/support/lamp.rs"]
mod lamp;

/// Imports that the shared source file of a class needs in the host. A plugin has a module of this name with its own imports.
mod words {
    pub(super) use alcedo_runtime::CallError;
    pub(super) use alcedo_runtime::native::{Obj, SparseDelegate, This, uclass, udelegate, uenum, uinterface, ustruct};
}

const LAMP: &str = "/Script/Test.Lamp";
const LANTERN: &str = "/Script/Game.Lantern";
const METER: &str = "/Script/Metering.Meter";

thread_local! {
    /// Events that this thread has recorded. The thread runs a single test.
    static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn note(line: impl Into<String>) {
    SEEN.with_borrow_mut(|seen| seen.push(line.into()));
}

fn seen() -> Vec<String> {
    SEEN.take()
}

/// Host value that no plugin can hold, because it is not `Send`.
struct Sprite(Rc<str>);

impl Drop for Sprite {
    fn drop(&mut self) {
        note(format!("{} is dropped", self.0));
    }
}

/// Interface of humming objects, implemented by the host and by plugins.
#[uinterface(package = "Test")]
pub(crate) trait Hums {
    /// Hums this number of times. Returns the total number of hums.
    fn hum(&mut self, times: u32) -> Result<u32, CallError>;
}

#[uclass(package = "Test", blueprintable, implements(Hums))]
pub(crate) struct Lamp {
    /// Brightness.
    #[uproperty(edit_anywhere, default = 1.0)]
    brightness: f64,
    sprite: Sprite,
    flickered: u32,
    /// Reference that is not a property. Only the `add_references` hook reports this reference to the collector.
    friend: Obj<Lamp>,
}

#[uclass]
impl Lamp {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        Self { sprite: Sprite(format!("the sprite of {}", this.name()).into()), flickered: 0, friend: Obj::none() }
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        this.set_brightness(this.brightness() * 2.0);
    }

    #[post_init_properties]
    fn brighten(&mut self, this: This<Self>) {
        if !this.is_template() {
            this.set_brightness(this.brightness() + 10.0);
        }
    }

    /// Flickers this number of times. Returns the total number of flickers.
    #[ufunction(blueprint_native_event)]
    fn flicker(&self, times: u32) -> Result<u32, String>;
    fn flicker_implementation(&mut self, times: u32) -> Result<u32, String> {
        if times > 100 {
            return Err(format!("{times} times are too often for {}", self.sprite.0));
        }
        self.flickered += times;
        Ok(self.flickered)
    }

    /// Flickers once, and reads the counter during this call.
    #[ufunction]
    fn count_inside(&mut self, this: This<Self>) -> u32 {
        self.flickered += 1;
        this.flickered()
    }

    /// Reads the counter during this call. The read must fail. Notes the error of the read.
    #[ufunction]
    fn read_inside(&mut self, this: This<Self>) -> bool {
        let error = this.try_flickered().expect_err("it is held");
        note(error.to_string());
        self.flickered == 0
    }

    /// Flickers once before and once after a nested call, for which it lends its fields. Returns both counts as one number.
    #[ufunction]
    fn reborrow_inside(&mut self, this: This<Self>, times: u32) -> Result<u32, CallError> {
        self.flickered += 1;
        let inside = this.lend(self, |this| this.flicker(times));
        self.flickered += 1;
        inside.map(|inside| 100 * inside + self.flickered)
    }

    /// Tries to lend the fields of another object.
    #[ufunction]
    fn reborrow_another(&mut self, this: This<Self>) -> u32 {
        let mut other = Self::new(this);
        this.lend(&mut other, |this| this.flickered())
    }

    /// Calls `hum` of another object twice.
    #[ufunction]
    fn hum_twice(&mut self, this: This<Self>, other: Obj<Object>, times: u32) -> Result<u32, CallError> {
        let other = this
            .get(other)
            .ok_or_else(|| CallError::returned("the other object is missing"))?
            .as_interface::<Hums>()?;
        other.hum(times)?;
        other.hum(times)
    }

    /// Returns the number of flickers.
    #[ufunction(blueprint_pure)]
    fn flickered(&self) -> u32 {
        self.flickered
    }

    /// Turns it up.
    #[ufunction]
    fn turn_up(&self, this: This<Self>, by: f64) {
        this.set_brightness(this.brightness() + by);
    }

    /// Makes another lamp flicker twice. Calls the implementation of the lamp's most-derived class.
    #[ufunction]
    fn flicker_twice(&self, this: This<Self>, other: Obj<Lamp>) -> Result<u32, CallError> {
        let other = this.get(other).ok_or_else(|| CallError::returned("the other object is missing"))?;
        other.flicker(1)?;
        other.flicker(1)
    }

    /// Keeps another lamp alive without a property.
    #[ufunction]
    fn befriend(&mut self, friend: Obj<Lamp>) {
        self.friend = friend;
    }

    #[ufunction]
    fn panics(&mut self) {
        panic!("the bulb burst");
    }

    #[begin_destroy]
    fn ends(&mut self, this: This<Self>) {
        note(format!("{} ends at {} after {}", this.name(), this.brightness(), self.flickered));
    }

    #[add_references]
    fn references(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        visit(self.friend.handle());
    }
}

#[uclass]
impl Hums for Lamp {
    fn hum(&mut self, times: u32) -> Result<u32, CallError> {
        self.flickered += 100 * times;
        Ok(self.flickered)
    }
}

/// Lamp with additional fields and without a constructor.
#[uclass(package = "Test", base = Lamp)]
pub(crate) struct Beacon {
    turned: u32,
}

#[uclass]
impl Beacon {
    #[overrides(Lamp)]
    fn flicker(&mut self, this: This<Self>, times: u32) -> Result<u32, CallError> {
        self.turned += 1;
        Ok(this.base_flicker(times)? + 1000 * self.turned)
    }
}

/// A parcel of lamps.
#[ustruct(package = "Test")]
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Parcel {
    #[uproperty(default = "to all")]
    label: String,
    lamps: Vec<Obj<Lamp>>,
    notes: HashMap<u32, String>,
    #[uproperty(default = "Night")]
    tariff: meter::Tariff,
    #[uproperty(default = 2)]
    weight: u32,
}

/// A shelf of parcels.
#[uclass(package = "Test")]
#[derive(Default)]
pub(crate) struct Shelf {
    #[uproperty]
    parcel: Parcel,
    #[uproperty]
    parcels: Vec<Parcel>,
}

#[uclass]
impl Shelf {
    /// Stores a parcel, and returns the previous content.
    #[ufunction]
    fn put(&self, this: This<Self>, parcel: &mut Parcel) -> Vec<Parcel> {
        let mut parcels = this.parcels();
        parcels.push(parcel.clone());
        *parcel = this.parcel();
        this.set_parcels(parcels.clone());
        parcels
    }
}

fn host() -> Runtime {
    let host =
        support::builder().natives(natives![Hums, Lamp, Beacon]).build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[support::plugin("host-types", &[])]).unwrap_or_else(|error| panic!("{error}"));
    seen();
    host
}

fn spawn(host: &Runtime, class: &str) -> ObjectHandle {
    host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"))
}

/// Formats the result or the error of a call, without the call site.
fn call_text(host: &Runtime, object: ObjectHandle, function: &str, arguments: &[Value]) -> String {
    match host.objects().call(object, function, arguments) {
        Ok(Some(value)) => format!("{value:?}"),
        Ok(None) => "nothing".to_owned(),
        Err(Error::Call(CallError::Returned { message, .. })) => format!("an error: {message}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_glue_of_the_plugin_is_that_of_the_natives() {
    support::glue_is_written(natives![lamp::Hums, lamp::Lamp], "Test", "host-types", "lamp.rs");
}

#[test]
fn rust_fields_of_native_objects_survive_reloads_and_end_with_their_objects() {
    let host = host();
    let [lamp, lantern] = [spawn(&host, LAMP), spawn(&host, LANTERN)];
    let flicker = |object, times| call_text(&host, object, "flicker", &[Value::U32(times)]);
    assert_eq!([flicker(lamp, 3), flicker(lantern, 3)], ["U32(3)", "U32(6)"]);
    for _ in 0..3 {
        host.reload(&[support::plugin("host-types", &[])]).unwrap_or_else(|error| panic!("{error}"));
        let _flickered = (flicker(lamp, 1), flicker(lantern, 1));
    }
    // Each reload resets the counters of the plugin. The counters of the host continue.
    assert_eq!(
        [call_text(&host, lantern, "flickered", &[]), call_text(&host, lantern, "swings", &[])],
        ["U32(12)", "U32(1)"]
    );
    // Each reload replaces the class default object of the plugin's class.
    let defaults = ["Default__Lantern ends at 2 after 0", "the sprite of Default__Lantern is dropped"];
    assert_eq!(seen(), defaults.repeat(3));

    let name = host.objects().name_of(lantern).expect("it is alive");
    host.objects().destroy(lantern);
    assert_eq!(seen(), [format!("{name} ends at 14 after 12"), format!("the sprite of {name} is dropped")]);
    let left = host.objects().name_of(lamp).expect("it is alive");
    drop(host);
    assert!(seen().contains(&format!("the sprite of {left} is dropped")));
}

#[test]
fn constructors_run_root_first_and_the_default_object_provides_values() {
    let host = host();
    for class in [LAMP, LANTERN, "/Script/Test.Beacon"] {
        let object = spawn(&host, class);
        assert_eq!(host.objects().get(object, "brightness").ok(), Some(Value::F64(12.0)), "{class}");
    }
}

#[test]
fn each_native_class_of_a_chain_has_its_own_rust_fields() {
    let host = host();
    let beacon = spawn(&host, "/Script/Test.Beacon");
    assert_eq!(call_text(&host, beacon, "flicker", &[Value::U32(5)]), "U32(1005)");
    assert_eq!(call_text(&host, spawn(&host, LAMP), "flicker_twice", &[Value::Object(beacon)]), "U32(3007)");
    assert_eq!(call_text(&host, beacon, "flickered", &[]), "U32(7)");
}

#[test]
fn host_structs_have_any_fields_and_are_properties_parameters_and_results() {
    let natives = || natives![Hums, Lamp, Parcel, Shelf, meter::Tariff];
    let host = support::builder().package("Metering").natives(natives()).build();
    let host = host.unwrap_or_else(|error| panic!("{error}"));
    let lamp = host.objects().spawn_as::<Lamp>().expect("a lamp");
    let shelf = host.objects().spawn_as::<Shelf>().expect("a shelf");
    let with = host.objects().with(shelf, |shelf| {
        let begins = shelf.parcel();
        let notes = HashMap::from([(7, "fragile".to_owned())]);
        let mut parcel = Parcel { lamps: vec![lamp, Obj::none()], notes, weight: 9, ..Parcel::default() };
        let sent = parcel.clone();
        let all = shelf.put(&mut parcel);
        (begins, parcel, all == [sent.clone()] && shelf.parcels() == [sent])
    });
    let (begins, back, is_kept) = with.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((begins.label.as_str(), begins.tariff == meter::Tariff::Night, begins.weight), ("to all", true, 2));
    assert_eq!((&begins, &back, is_kept), (&Parcel::default(), &Parcel::default(), true));
    let declared = Runtime::builder().package("Metering").natives(natives()).declared();
    let declared = declared.unwrap_or_else(|error| panic!("{error}"));
    let glue = alcedo_glue::Glue::default().only("Test").only("Metering");
    let text = glue.for_plugins(&alcedo_glue::Origin::module("shelves", "0.1.0"), &declared).expect("glue");
    for line in ["#[ustruct(imported, package = \"Test\")]", "lamps: UArray<Obj<Lamp>>", "parcels: UArray<Parcel>"] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn a_plugin_override_of_a_native_event_runs_for_every_caller() {
    let host = host();
    let lantern = spawn(&host, LANTERN);
    assert_eq!(call_text(&host, spawn(&host, LAMP), "flicker_twice", &[Value::Object(lantern)]), "U32(4)");
    assert_eq!(call_text(&host, lantern, "swings", &[]), "U32(2)");
    assert_eq!(host.objects().get(lantern, "brightness").ok(), Some(Value::F64(13.0)));
    let error = call_text(&host, lantern, "flicker", &[Value::U32(60)]);
    assert!(error.contains("120 times are too often for the sprite of"), "{error}");
}

#[test]
fn a_reentrant_borrow_is_an_error_naming_both_methods() {
    let host = host();
    let [lamp, lantern] = [spawn(&host, LAMP), spawn(&host, LANTERN)];
    for (object, function) in [(lamp, "count_inside"), (lantern, "count_inside"), (lantern, "count")] {
        let error = host.objects().call(object, function, &[]).expect_err("it is held");
        let Error::Call(CallError::ReentrantBorrow { object: of, held, requested_by }) = error else {
            panic!("{error}")
        };
        assert_eq!((of, &*held, &*requested_by), (object, "count_inside", "flickered"), "{function}");
    }
    // The method no longer borrows the fields, and the counter has kept its value.
    assert_eq!(call_text(&host, lamp, "flickered", &[]), "U32(1)");
    assert_eq!(call_text(&host, lamp, "read_inside", &[]), "Bool(false)");
    assert!(seen()[0].contains("`flickered` needs the plugin part while `read_inside` holds it"));
}

#[test]
fn a_host_interface_is_called_on_host_and_plugin_objects() {
    let host = host();
    let [lamp, other, lantern] = [LAMP, LAMP, LANTERN].map(|class| spawn(&host, class));
    let [bell, silent] = ["/Script/Game.Bell", METER_BASE].map(|class| spawn(&host, class));
    let hum = |of, times| call_text(&host, lamp, "hum_twice", &[Value::Object(of), Value::U32(times)]);
    assert_eq!([other, lantern, bell].map(|of| hum(of, 2)), ["U32(400)", "U32(400)", "U32(4)"]);
    assert_eq!(hum(bell, 13), "an error: it is cracked");
    host.reload(&[support::plugin("host-types", &[])]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!([other, lantern, bell].map(|of| hum(of, 2)), ["U32(800)", "U32(800)", "U32(4)"]);
    let refused = hum(silent, 1);
    assert!(refused.contains(METER_BASE) && refused.contains("not a /Script/Test.Hums"), "{refused}");
    // The outer call borrows the plugin part of the object, so the nested call to this object is refused.
    let refused = hum(lamp, 1);
    assert!(refused.contains("`hum` needs the plugin part while `hum_twice` holds it"), "{refused}");
    host.objects().destroy(bell);
    let gone = hum(bell, 1);
    assert!(!gone.starts_with("U32"), "{gone}");
    assert_eq!(hum(ObjectHandle::NONE, 1), "an error: the other object is missing");
}

#[test]
fn nested_calls_reborrow_fields_that_a_method_lends() {
    let host = host();
    let [lamp, lantern] = [spawn(&host, LAMP), spawn(&host, LANTERN)];
    let reborrow = |object, times| call_text(&host, object, "reborrow_inside", &[Value::U32(times)]);
    // The plugin's override in the lantern doubles the number, and calls the base method.
    assert_eq!([reborrow(lamp, 3), reborrow(lantern, 3)], ["U32(405)", "U32(708)"]);
    // A failed call ends all borrows that the call has made.
    assert!(reborrow(lamp, 101).contains("101 times are too often"));
    assert_eq!([reborrow(lamp, 0), call_text(&host, lamp, "flickered", &[])], ["U32(809)", "U32(9)"]);
    seen();
    let refused = call_text(&host, lamp, "reborrow_another", &[]);
    assert!(refused.contains("`lend` received other Rust fields"), "{refused}");
    assert_eq!(call_text(&host, lamp, "flickered", &[]), "U32(9)");
}

#[test]
fn a_native_method_panic_is_an_error_and_releases_the_fields() {
    let host = host();
    let lamp = spawn(&host, LAMP);
    let error = host.objects().call(lamp, "panics", &[]).expect_err("it panics");
    assert!(
        matches!(&error, Error::Call(CallError::Panicked { message, .. }) if message == "the bulb burst"),
        "{error}"
    );
    assert_eq!(call_text(&host, lamp, "flicker", &[Value::U32(2)]), "U32(2)");
}

#[test]
fn the_collection_traces_references_in_rust_fields() {
    let host = host();
    let [kept, friend, loose] = [spawn(&host, LAMP), spawn(&host, LANTERN), spawn(&host, LAMP)];
    for object in [friend, loose] {
        assert!(host.objects().remove_root(object));
    }
    assert_eq!(call_text(&host, kept, "befriend", &[Value::Object(friend)]), "nothing");
    host.collection().collect().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!([kept, friend, loose].map(|object| host.objects().is_alive(object)), [true, true, false]);
    assert_eq!(seen().len(), 2);
    let refused = call_text(&host, kept, "befriend", &[Value::Object(spawn(&host, METER_BASE))]);
    assert!(refused.contains("/Script/Test.Lamp"), "{refused}");
}

/// Base class of the meter, which is unrelated to the class `Lamp`.
const METER_BASE: &str = "/Script/Engine.Actor";

thread_local! {
    /// Closure that [`Keeper::work`] runs during its exclusive borrow.
    static DURING_WORK: RefCell<Option<Box<dyn Fn()>>> = const { RefCell::new(None) };
}

/// Object that keeps another object alive by a Rust field, which it reports to the collector.
#[uclass(package = "Test")]
#[derive(Default)]
pub(crate) struct Keeper {
    kept: Obj<Object>,
}

#[uclass]
impl Keeper {
    #[ufunction]
    fn keep(&mut self, object: Obj<Object>) {
        self.kept = object;
    }

    #[ufunction]
    fn work(&mut self) {
        DURING_WORK.with_borrow(|action| action.as_ref().expect("the test sets the action")());
    }

    #[add_references]
    fn references(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        visit(self.kept.handle());
    }
}

#[test]
fn no_collection_runs_while_a_method_borrows_the_references_exclusively() {
    let host = support::builder().natives(natives![Keeper]).build().unwrap_or_else(|error| panic!("{error}"));
    let keeper = spawn(&host, "/Script/Test.Keeper");
    let keep = || {
        let kept = host.objects().spawn_in("/Script/Core.Object", keeper).expect("spawned");
        assert_eq!(call_text(&host, keeper, "keep", &[Value::Object(kept)]), "nothing");
        kept
    };
    let during_work = |action: fn(&Runtime)| {
        let weak = host.downgrade();
        DURING_WORK.set(Some(Box::new(move || action(&weak.upgrade().expect("the host exists")))));
        assert_eq!(call_text(&host, keeper, "work", &[]), "nothing");
    };
    let kept = keep();
    during_work(|host| {
        let error = host.collection().collect().expect_err("the references are unknown").to_string();
        assert!(error.contains("`work` of Test.Keeper (Keeper_1) borrows the Rust fields"), "{error}");
    });
    assert!(host.objects().is_alive(kept));
    let previous = keep();
    assert_eq!((previous != kept, host.collection().collect().expect("collected")), (true, 1));

    // After the method has returned, an incremental collection starts again.
    let kept = keep();
    host.collection().begin_in_slices();
    during_work(|host| (0..3).for_each(|_| host.tick(Budget::seconds(0.01))));
    assert!([previous, kept].iter().all(|object| host.objects().is_alive(*object)));
    assert!(host.collection().take_done().is_empty());
    support::until("the collection is complete", || {
        host.tick(Budget::seconds(0.01));
        !host.collection().take_done().is_empty()
    });
    assert_eq!([previous, kept].map(|object| host.objects().is_alive(object)), [false, true]);
}

#[test]
fn two_runtimes_on_two_threads_have_fields_of_their_own() {
    let run = || {
        let host = host();
        let lamp = spawn(&host, LAMP);
        for _ in 0..50 {
            call_text(&host, lamp, "flicker", &[Value::U32(1)]);
        }
        let flickered = call_text(&host, lamp, "flickered", &[]);
        drop(host);
        (flickered, seen().len())
    };
    let there = std::thread::spawn(run);
    let here = run();
    assert_eq!(here.0, "U32(50)");
    assert_eq!(there.join().expect("it ends"), here);
}

/// Returns the reflected types in the meter's package, as text.
fn types_of_the_meter(host: &Runtime) -> String {
    // SAFETY: only reads the types; no object is marked, followed or aged.
    let stores = unsafe { host.bench() };
    stores.types_of("Metering")
}

/// The source file of the meter is compiled in the host and in a plugin.
#[test]
fn a_class_moves_from_the_host_to_a_plugin_with_its_file() {
    let native = support::builder()
        .natives(natives![
            meter::Meter,
            meter::MayPass,
            meter::OnPassed,
            meter::Reading,
            meter::Reads,
            meter::Tariff,
            meter::Seals
        ])
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    let emitted = support::builder()
        .package("Metering")
        .natives(natives![Hums, Lamp])
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    emitted.create_master(&[support::plugin("host-types", &["meter"])]).unwrap_or_else(|error| panic!("{error}"));
    let used = |host: &Runtime| {
        let meter = spawn(host, METER);
        assert_eq!(call_text(host, meter, "shows_a_new_reading", &[]), "Bool(true)");
        let begins = call_text(host, meter, "last_reading", &[]);
        assert!(begins.contains("U32(1)") && begins.contains("F64(-0.5)"), "{begins}");
        let pass = |units| call_text(host, meter, "pass", &[Value::U32(units)]);
        let values = ["price", "label"].map(|name| format!("{:?}", host.objects().get(meter, name).ok()));
        let counted =
            [call_text(host, meter, "has_counted", &[]), pass(0), pass(3), call_text(host, meter, "has_counted", &[])];
        assert_eq!(call_text(host, meter, "sum_up", &[]), "F64(6.0)");
        let cost = host.calls().call("uf:/Script/Metering.Meter:cost_of", &[Value::U32(4), Value::F64(0.25)]);
        assert_eq!(cost.unwrap_or_else(|error| panic!("{error}")), Some(Value::F64(1.0)));
        assert_eq!(call_text(host, meter, "cost_of", &[Value::U32(4)]), "F64(2.0)");
        let take = |units| {
            host.objects().call_with_out_parameters(meter, "take", &[Value::U32(units), Value::Text("so".into())])
        };
        let (more, out_parameters) = take(3).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            (more, out_parameters),
            (Some(Value::Bool(true)), vec![Value::U32(1), Value::Text("so taken".into())])
        );
        let few = take(1).expect_err("too few");
        assert!(matches!(few, Error::Call(CallError::Returned { .. })), "{few}");
        assert_eq!(call_text(host, meter, "take_twice", &[Value::U32(3)]), "Text(\"[true, false] 1 line taken\")");
        let read = call_text(host, meter, "read_as_any", &[]);
        let refused = call_text(host, meter, "set_back", &[Value::Bool(false)]);
        let set_back = call_text(host, meter, "set_back", &[Value::Bool(true)]);
        assert_eq!([read, refused, set_back], ["F64(12.0)", "an error: it is sealed", "U32(4)"]);
        let last = call_text(host, meter, "last_reading", &[]);
        let named = |name| Value::Enum(EnumValue::named(name));
        let change = |to| host.objects().call_with_out_parameters(meter, "change", &[named(to), named("Front")]);
        for (to, before, after) in [("Old", "Night", "Plain"), ("Night", "Plain", "Night")] {
            let (result, out_parameters) = change(to).unwrap_or_else(|error| panic!("{error}"));
            let tariff = host.objects().get(meter, "tariff").ok();
            let display = |value: Option<&Value>| match value {
                Some(Value::Enum(value)) => value.to_string(),
                other => format!("{other:?}"),
            };
            let seen = [display(result.as_ref()), display(out_parameters.first()), display(tariff.as_ref())];
            assert_eq!(seen, [before, "Front | Back", after]);
        }
        let others = [spawn(host, METER), spawn(host, METER)];
        let objects = Value::Array(others.map(Value::Object).to_vec());
        let tariffs = Value::Array(vec![named("Night"), named("Plain")]);
        let all = host.objects().call(meter, "connect", &[objects.clone(), tariffs]);
        let all = all.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(all, Some(Value::Array(vec![Value::Object(others[1]), Value::Object(others[0])])));
        assert_eq!(host.objects().get(meter, "behind").ok(), Some(objects));
        for other in others {
            assert_eq!(host.objects().get(other, "before").ok(), Some(Value::Object(meter)));
            assert_eq!(
                call_text(host, other, "pass", &[Value::U32(1)]),
                "F64(10.0)",
                "it counted two in the broadcast"
            );
        }
        let stranger = Value::Array(vec![Value::Object(spawn(host, METER_BASE))]);
        let refused = host.objects().call(meter, "connect", &[stranger, Value::Array(vec![])]);
        let refused = refused.expect_err("an actor").to_string();
        assert!(refused.contains(METER), "{refused}");
        let sorted = call_text(host, meter, "sorted", &[Value::Optional(None)]);
        let refused = change("Cheap").expect_err("no such tariff").to_string();
        assert!(refused.contains("`Cheap`, which is none of Plain, Night, Old"), "{refused}");
        (values, [counted.to_vec(), vec![last, sorted]].concat())
    };
    let (values, counted) = used(&native);
    assert_eq!(values, ["Some(F64(2.5))", "Some(Text(\"main!\"))"]);
    assert_eq!(counted[..4], ["Bool(false)", "an error: nothing passed", "F64(10.0)", "Bool(true)"]);
    assert!(counted[4].contains("U32(4)") && counted[4].contains("F64(2.5)"), "{}", counted[4]);
    assert_eq!(used(&native), used(&emitted));
    let (native, emitted) = (types_of_the_meter(&native), types_of_the_meter(&emitted));
    for name in ["Meter", "Reading", "Reads", "Tariff", "Meter:MayPass", "OnPassed"] {
        assert!(native.contains(&format!("path: \"/Script/Metering.{name}\"")), "{name} in {native}");
    }
    assert_eq!(native.lines().collect::<Vec<_>>(), emitted.lines().collect::<Vec<_>>());
}

#[uclass(package = "Test")]
struct Candle {
    #[uproperty(category = "Light", meta(units = "lm"), default = 12.0)]
    lumens: f64,
}

#[test]
fn a_native_property_has_the_metadata_of_its_specifiers() {
    let host = support::builder().natives(natives![Candle]).build().unwrap_or_else(|error| panic!("{error}"));
    let meta = |key: &str| host.types().member_meta("/Script/Test.Candle:lumens", key);
    assert_eq!(["category", "units", "was"].map(meta), [Some("Light".to_owned()), Some("lm".to_owned()), None]);
}
