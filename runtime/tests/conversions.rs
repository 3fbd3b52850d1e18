//! Tests conversions of values by plugin functions with `#[migrate]`. A reload converts each value once, unless the value equals the
//! default of its property. If the edit is undone, the original values are restored. If a conversion fails, the reload is rolled back.

use crate::support;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use alcedo_runtime::{
    Budget, ManifestInfo, ObjectHandle, Outcome, Phase, PropertyChange, ReloadReport, Runtime, Value,
};

const GAUGE: &str = "/Script/Game.Gauge";

fn host(names: &[&str]) -> Runtime {
    support::host(&[support::plugin("conversions", names)])
}

fn try_reload(host: &Runtime, names: &[&str]) -> ReloadReport {
    host.reload(&[support::plugin("conversions", names)]).expect("a Master")
}

fn reload(host: &Runtime, names: &[&str]) -> ReloadReport {
    try_reload(host, names).into_result().unwrap_or_else(|report| panic!("{report}"))
}

/// Returns the number of conversions that the current build has made.
fn count(host: &Runtime) -> Option<Value> {
    host.calls().call("ex:/conversions.count", &[]).expect("it counts")
}

fn gauge(host: &Runtime, values: &[(&str, Value)]) -> ObjectHandle {
    spawn(host, "Gauge", values)
}

fn spawn(host: &Runtime, class: &str, values: &[(&str, Value)]) -> ObjectHandle {
    let object = host.objects().spawn(&format!("/Script/Game.{class}")).expect("spawned");
    values.iter().for_each(|(property, value)| set(host, object, property, value.clone()));
    object
}

fn set(host: &Runtime, object: ObjectHandle, property: &str, value: Value) {
    host.objects().set(object, property, &value).unwrap_or_else(|error| panic!("{property}: {error}"));
}

fn get(host: &Runtime, object: ObjectHandle, property: &str) -> Value {
    host.objects().get(object, property).unwrap_or_else(|error| panic!("{property}: {error}"))
}

/// Returns a struct with two numbers.
fn pair(first: (&str, f64), second: (&str, f64)) -> Value {
    Value::Struct([first, second].map(|(name, number)| (name.into(), Value::F64(number))).into())
}

fn line<'r>(report: &'r ReloadReport, property: &str) -> &'r PropertyChange {
    report.properties.iter().find(|change| change.property == property).unwrap_or_else(|| panic!("{report}"))
}

#[test]
fn each_own_value_is_converted_once() {
    let host = host(&[]);
    let [plain, warm, hot] = [20.0, 21.6, 98.4].map(|heat| gauge(&host, &[("heat", Value::F64(heat))]));
    let report = reload(&host, &["later"]);
    let heats = |host: &Runtime| [plain, warm, hot].map(|object| get(host, object, "heat"));
    assert_eq!(heats(&host), [20, 22, 98].map(Value::I32));
    assert_eq!(count(&host), Some(Value::U32(2)), "a default is not converted");
    let change = line(&report, "heat");
    assert_eq!((&*change.change, change.converted, change.followed), ("f64 → i32, converted by its module", 2, 1));
    assert_eq!(get(&host, gauge(&host, &[]), "heat"), Value::I32(20), "the class default object has the new default");
    reload(&host, &["later"]);
    assert_eq!(heats(&host), [20, 22, 98].map(Value::I32));
    assert_eq!(count(&host), Some(Value::U32(0)), "the values have their types");
}

#[test]
fn an_undo_restores_the_original_unless_it_was_written_since() {
    let host = host(&[]);
    let [kept, written, like_default] =
        [21.6, 50.2, 19.9].map(|heat| gauge(&host, &[("heat", Value::F64(heat)), ("filling", Value::I32(33))]));
    reload(&host, &["later"]);
    assert_eq!(get(&host, like_default, "heat"), Value::I32(20));
    set(&host, written, "heat", Value::I32(30));
    reload(&host, &["later"]);
    reload(&host, &[]);
    let heats = |host: &Runtime| [kept, written, like_default].map(|object| get(host, object, "heat"));
    assert_eq!(heats(&host), [21.6, 30.0, 19.9].map(Value::F64));
    assert_eq!(get(&host, kept, "filling"), Value::I32(33));
    assert_eq!(count(&host), Some(Value::U32(0)), "originals are restored, not converted");
    reload(&host, &["later"]);
    assert_eq!(heats(&host), [22, 30, 20].map(Value::I32));
    // Writes a value in the later build. The reload back to the first build converts this value.
    set(&host, kept, "filling", Value::F64(0.125));
    reload(&host, &[]);
    assert_eq!(get(&host, kept, "filling"), Value::I32(13));
    reload(&host, &["later"]);
    assert_eq!(get(&host, kept, "filling"), Value::F64(0.125));
}

#[test]
fn values_of_two_earlier_types_are_converted() {
    let host = host(&["oldest"]);
    let object = gauge(&host, &[("heat", Value::Text("37 C".to_owned()))]);
    reload(&host, &["later"]);
    assert_eq!(get(&host, object, "heat"), Value::I32(37));
    reload(&host, &["oldest"]);
    assert_eq!(get(&host, object, "heat"), Value::Text("37 C".to_owned()));
    // The conversion of the first build does not accept strings. The host therefore keeps the string until the later build returns.
    reload(&host, &[]);
    assert_eq!(get(&host, object, "heat"), Value::F64(20.0));
    reload(&host, &["later"]);
    assert_eq!(get(&host, object, "heat"), Value::I32(37));
}

#[test]
fn a_container_is_read_in_place_by_its_function() {
    let host = host(&[]);
    let weights = Value::Array([1.0, 2.0, 3.5].map(Value::F64).into());
    let object = gauge(&host, &[("weights", weights.clone())]);
    reload(&host, &["later"]);
    assert_eq!(get(&host, object, "weights"), Value::F64(6.5));
    reload(&host, &[]);
    assert_eq!(get(&host, object, "weights"), weights);
}

#[test]
fn whole_objects_of_an_earlier_declaration_are_converted() {
    let host = host(&[]);
    let plain = gauge(&host, &[]);
    let moved = gauge(&host, &[("east", Value::F64(3.0)), ("north", Value::F64(4.0))]);
    let report = reload(&host, &["later"]);
    let location =
        |host: &Runtime, object, properties: [&str; 2]| properties.map(|property| get(host, object, property));
    assert_eq!(location(&host, moved, ["distance", "north"]), [5.0, 8.0].map(Value::F64));
    assert_eq!(location(&host, plain, ["distance", "north"]), [1.0, 0.0].map(Value::F64), "defaults are not converted");
    assert_eq!(count(&host), Some(Value::U32(1)));
    let text = "Game.Gauge: objects are converted by their module, from /Script/Game.GaugeV1";
    assert!(report.structure.iter().any(|line| line == text), "{report}");
    assert_eq!((line(&report, "distance").converted, line(&report, "distance").followed), (1, 1));
    set(&host, moved, "distance", Value::F64(9.0));
    reload(&host, &["later"]);
    let values = [9.0, 8.0].map(Value::F64);
    assert_eq!(location(&host, moved, ["distance", "north"]), values, "this declaration has no such properties");

    reload(&host, &[]);
    assert_eq!(location(&host, moved, ["east", "north"]), [3.0, 8.0].map(Value::F64));
    set(&host, moved, "east", Value::F64(0.0));
    reload(&host, &["later"]);
    assert_eq!(get(&host, moved, "distance"), Value::F64(8.0), "the values of the first declaration are newer");
}

#[test]
fn a_class_that_declares_the_earlier_properties_itself_is_not_converted() {
    let host = host(&[]);
    let coordinates = [("east", Value::F64(3.0)), ("north", Value::F64(4.0))];
    let compass = spawn(&host, "Compass", &coordinates);
    for _ in 0..2 {
        reload(&host, &["later"]);
        assert_eq!(["distance", "east", "north"].map(|it| get(&host, compass, it)), [1.0, 3.0, 4.0].map(Value::F64));
        assert_eq!(count(&host), Some(Value::U32(0)));
    }
}

#[test]
fn the_argument_for_a_whole_object_gets_fields_added_since() {
    let host = host(&[]);
    let reading = Value::Struct(vec![("value".into(), Value::F64(2.0))]);
    let sensor = spawn(&host, "Sensor", &[("reading", reading.clone()), ("scale", Value::F64(1.5))]);
    reload(&host, &["later"]);
    assert_eq!(get(&host, sensor, "level"), Value::F64(103.0));
    reload(&host, &[]);
    assert_eq!(get(&host, sensor, "reading"), reading);
}

#[test]
fn an_own_value_that_became_the_default_is_converted_with_its_object() {
    let host = host(&["oldest"]);
    let [plain, own] = [2.0, 1.0].map(|scale| spawn(&host, "Sensor", &[("scale", Value::F64(scale))]));
    reload(&host, &[]);
    assert_eq!([plain, own].map(|sensor| get(&host, sensor, "scale")), [1.0; 2].map(Value::F64));
    reload(&host, &["later"]);
    assert_eq!([plain, own].map(|sensor| get(&host, sensor, "level")), [0.0, 100.0].map(Value::F64));
}

#[test]
fn each_undo_of_several_conversions_restores_its_original() {
    let host = host(&[]);
    let object = gauge(&host, &[("heat", Value::F64(2.6))]);
    let own = pair(("points", 1.0), ("mana", 2.0));
    let pilot = spawn(&host, "Pilot", &[("health", own.clone())]);
    let values = |host: &Runtime| (get(host, object, "heat"), get(host, pilot, "health"));
    let first = (Value::F64(2.6), own);
    let later = (Value::I32(3), pair(("points", 2.0), ("energy", 3.0)));
    let latest = (Value::F32(30.0), pair(("points", 2.5), ("magic", 1.0)));
    for (names, expected) in [
        ("later", &later),
        ("later", &later),
        ("latest", &latest),
        ("latest", &latest),
        ("later", &later),
        ("latest", &latest),
        ("oldest", &first),
        ("", &first),
        ("later", &later),
        ("", &first),
    ] {
        let names: Vec<_> = names.split_terminator(' ').collect();
        reload(&host, &names);
        if names != ["oldest"] {
            assert_eq!(values(&host), *expected, "{names:?}");
        }
    }
    set(&host, pilot, "health", pair(("points", 1.0), ("mana", 9.0)));
    reload(&host, &["later"]);
    assert_eq!(
        get(&host, pilot, "health"),
        pair(("points", 2.0), ("energy", 10.0)),
        "the redo converts a written value"
    );
    set(&host, pilot, "health", pair(("points", 7.0), ("energy", 10.0)));
    reload(&host, &[]);
    let expected = pair(("points", 7.0), ("mana", 0.0));
    assert_eq!(get(&host, pilot, "health"), expected, "a written value is carried by field");
}

#[test]
fn a_redo_without_a_function_restores_the_value_that_the_undo_replaced() {
    let host = host(&[]);
    let [kept, written] = [21.6, 50.2].map(|heat| gauge(&host, &[("heat", Value::F64(heat))]));
    reload(&host, &["later"]);
    reload(&host, &["latest"]);
    let heats = |host: &Runtime| [kept, written].map(|object| get(host, object, "heat"));
    assert_eq!(heats(&host), [220.0, 500.0].map(Value::F32));
    reload(&host, &[]);
    assert_eq!(heats(&host), [21.6, 50.2].map(Value::F64));
    set(&host, written, "heat", Value::F64(60.2));
    // This build has no conversion function for values that have the type of the first build.
    let report = reload(&host, &["latest"]);
    assert_eq!(heats(&host), [220.0, 200.0].map(Value::F32));
    assert_eq!((line(&report, "heat").converted, line(&report, "heat").defaulted), (1, 1));
    assert_eq!(count(&host), Some(Value::U32(0)));
    reload(&host, &["later"]);
    assert_eq!(heats(&host), [22, 60].map(Value::I32));
    reload(&host, &[]);
    assert_eq!(heats(&host), [21.6, 60.2].map(Value::F64));
}

#[test]
fn values_of_subobjects_and_of_recreated_objects_are_converted() {
    let host = host(&[]);
    let pilot = spawn(&host, "Pilot", &[]);
    let Value::Object(part) = get(&host, pilot, "gauge") else { panic!("it has a gauge") };
    set(&host, part, "heat", Value::F64(36.6));
    let buoy = spawn(&host, "Buoy", &[("depth", Value::F64(2.504))]);
    for _ in 0..2 {
        reload(&host, &["later"]);
        assert_eq!((get(&host, part, "heat"), get(&host, buoy, "depth")), (Value::I32(37), Value::I32(250)));
    }
    reload(&host, &[]);
    assert_eq!((get(&host, part, "heat"), get(&host, buoy, "depth")), (Value::F64(36.6), Value::F64(2.504)));
}

#[test]
fn references_are_converted_and_return_with_an_undo() {
    let host = host(&[]);
    let target = Value::Object(gauge(&host, &[]));
    let actor = Value::Object(host.objects().spawn("/Script/Engine.Actor").expect("spawned"));
    let buoy = Value::Object(spawn(&host, "Buoy", &[]));
    let pilot = spawn(&host, "Pilot", &[("target", target.clone()), ("guide", actor.clone())]);
    let follower = spawn(&host, "Pilot", &[("guide", buoy.clone())]);
    reload(&host, &["later"]);
    let none = Value::Object(ObjectHandle::NONE);
    assert_eq!((get(&host, pilot, "target"), get(&host, pilot, "guide")), (none, Value::Bool(true)));
    assert_eq!(count(&host), Some(Value::U32(2)));
    assert_eq!(get(&host, follower, "guide"), Value::Bool(false), "a buoy is an actor no longer");
    reload(&host, &["later"]);
    reload(&host, &[]);
    assert_eq!((get(&host, pilot, "target"), get(&host, pilot, "guide")), (target, actor));
    assert_eq!(get(&host, follower, "guide"), buoy);
}

#[test]
fn objects_of_a_returned_class_are_converted_by_their_earlier_type() {
    let host = host(&[]);
    let target = Value::Object(gauge(&host, &[]));
    let pilot = spawn(&host, "Pilot", &[("target", target.clone())]);
    reload(&host, &["oldest"]);
    reload(&host, &["later"]);
    assert_eq!(get(&host, pilot, "target"), Value::Object(ObjectHandle::NONE));
    assert_eq!(count(&host), Some(Value::U32(1)));
    set(&host, pilot, "target", Value::Object(pilot));
    for names in ["oldest", "later", "later"] {
        reload(&host, &[names]);
    }
    assert_eq!(get(&host, pilot, "target"), Value::Object(pilot), "its type is that of the property");
    assert_eq!(count(&host), Some(Value::U32(0)));
}

#[test]
fn a_conversion_cannot_change_objects() {
    let host = host(&[]);
    let other = gauge(&host, &[]);
    gauge(&host, &[("heat", Value::F64(99.5))]);
    let (refused, calls) = (Rc::new(RefCell::new(Vec::new())), Rc::new(Cell::new(0)));
    let (errors, counted) = (Rc::clone(&refused), Rc::clone(&calls));
    let touch = move |host: &Runtime, _: &[Value]| {
        counted.set(counted.get() + 1);
        let objects = host.objects();
        errors.borrow_mut().extend(objects.set(other, "filling", &Value::F64(0.75)).err().map(|it| it.to_string()));
        errors.borrow_mut().extend(objects.spawn(GAUGE).err().map(|it| it.to_string()));
        Ok(None)
    };
    host.calls().register_pure("host.touch", "".parse().expect("a signature"), touch).expect("a free name");
    let objects = host.objects().iter().count();
    reload(&host, &["later", "calls"]);
    assert_eq!(calls.get(), 1);
    let is_refused = match &refused.borrow()[..] {
        [write, spawn] => {
            write.starts_with("writing to Game.Gauge (Gauge_1) is refused before the commit")
                && spawn.starts_with("spawning an object is for a safe point")
        }
        _ => false,
    };
    assert!(is_refused, "{refused:?}");
    assert_eq!((get(&host, other, "filling"), host.objects().iter().count()), (Value::F64(0.5), objects));
}

#[test]
fn a_tick_during_a_reload_is_refused() {
    let record = support::record("alcedo_runtime::runtime::frames");
    let ticks = Rc::new(Cell::new(0));
    let counted = Rc::clone(&ticks);
    let builder = support::builder().ticker(move |_, _| counted.set(counted.get() + 1));
    let host = builder.build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[support::plugin("conversions", &[])]).unwrap_or_else(|error| panic!("{error}"));
    gauge(&host, &[("heat", Value::F64(99.5))]);
    let touch = |host: &Runtime, _: &[Value]| {
        host.tick(Budget::seconds(1.0));
        Ok(None)
    };
    host.calls().register_pure("host.touch", "".parse().expect("a signature"), touch).expect("a free name");
    reload(&host, &["later", "calls"]);
    assert_eq!((ticks.get(), host.game_time()), (0, Duration::ZERO));
    let refused = "a tick is for a safe point, and `a reload` has not returned: call `tick` again afterwards";
    let log = record.take();
    assert!(log.contains(refused), "{log}");
    host.tick(Budget::seconds(1.0));
    assert_eq!((ticks.get(), host.game_time()), (1, Duration::from_secs(1)));
}

#[test]
fn a_failing_conversion_rolls_the_reload_back() {
    for (switch, words) in [("fails", "returned the error \"too hot\" at "), ("panics", "panicked: \"it melts\" at ")] {
        let host = host(&[]);
        gauge(&host, &[("heat", Value::F64(99.5))]);
        let object = gauge(&host, &[("heat", Value::F64(2000.0))]);
        let path = host.objects().path_of(object).expect("it lives");
        let before = host.worlds().digest();
        let report = try_reload(&host, &["later", switch]);
        let Outcome::RolledBack { phase: Phase::Migrate, error } = &report.outcome else { panic!("{report}") };
        let start = format!("{path}: the conversion of heat, 2000 (f64 → i32), {words}");
        assert!(error.starts_with(&start), "{error}");
        assert!(error.ends_with("; correct the function of `#[migrate]`, or the value, and reload"), "{error}");
        let mut differences = before.differences(&host.worlds().digest());
        differences.retain(|line| !report.remainder.names_resolved.iter().any(|name| line.contains(&**name)));
        assert_eq!(differences, Vec::<String>::new());
        assert_eq!(get(&host, object, "heat"), Value::F64(2000.0));
        set(&host, object, "heat", Value::F64(20.6));
        reload(&host, &["later", switch]);
        assert_eq!(get(&host, object, "heat"), Value::I32(21));
    }
}

#[cfg(feature = "script")]
#[test]
fn objects_of_scripts_inherit_the_conversions() {
    use crate::scripts::{Package, builder};

    let package = Package::new("Tale", &[("Dial.uc", "class Dial extends Gauge;\n\nvar int Marks;\n")]);
    let modules = |names: &[&str]| [package.folder.clone(), support::plugin("conversions", names)];
    let host = builder().build().expect("a host");
    host.create_master(&modules(&[])).unwrap_or_else(|error| panic!("{error}"));
    let dial = host.objects().spawn("/Script/Tale.Dial").expect("spawned");
    set(&host, dial, "heat", Value::F64(36.6));
    set(&host, dial, "east", Value::F64(2.0));
    set(&host, dial, "Marks", Value::I32(7));
    let report = host.reload(&modules(&["later"])).expect("a Master");
    let report = report.into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(get(&host, dial, "heat"), Value::I32(37), "{report}");
    assert_eq!(get(&host, dial, "distance"), Value::F64(2.0), "{report}");
    assert_eq!(get(&host, dial, "Marks"), Value::I32(7));
}

#[test]
fn saved_values_are_converted_by_later_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("saved.world");
    let first = host(&[]);
    let object = gauge(&first, &[("heat", Value::F64(2000.4)), ("filling", Value::I32(25))]);
    let location = first.objects().path_of(object).expect("it lives");
    first.worlds().save(&path).expect("it is saved");

    let later = host(&["later"]);
    let report = later.worlds().load(&path).unwrap_or_else(|error| panic!("{error}"));
    let loaded = later.objects().at_path(&location).expect("it is loaded");
    assert_eq!(get(&later, loaded, "heat"), Value::I32(2000));
    assert_eq!(get(&later, loaded, "filling"), Value::F64(0.25));
    assert_eq!(report.properties.iter().map(|change| change.converted).sum::<u64>(), 2);
    reload(&later, &["later"]);
    assert_eq!((get(&later, loaded, "heat"), get(&later, loaded, "filling")), (Value::I32(2000), Value::F64(0.25)));
    reload(&later, &[]);
    assert_eq!((get(&later, loaded, "heat"), get(&later, loaded, "filling")), (Value::F64(2000.4), Value::I32(25)));

    let failing = host(&["later", "fails"]);
    let error = failing.worlds().load(&path).expect_err("it is too hot").to_string();
    assert!(error.contains("the conversion of heat, 2000.4 (f64 → i32), returned the error \"too hot\""), "{error}");
    assert_eq!(failing.objects().at_path(&location), None);
}

/// Loads a value with a soft reference, whose object is not in the file. The function of this value receives a strong reference. An object
/// that the load replaces has the path.
#[test]
fn a_conversion_receives_no_object_that_a_load_replaces() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("saved.world");
    let first = host(&[]);
    let escorted = Value::SoftObject(first.intern("/World/Escorted"));
    let pilot = spawn(&first, "Pilot", &[("orders", Value::Struct(vec![("escorted".into(), escorted)]))]);
    let location = first.objects().path_of(pilot).expect("it lives");
    first.worlds().save(&path).expect("it is saved");

    let later = host(&["later"]);
    let replaced = later.objects().spawn("/Script/Engine.Actor").expect("spawned");
    later.objects().rename(replaced, "Escorted", ObjectHandle::NONE).expect("a free name");
    later.worlds().load(&path).unwrap_or_else(|error| panic!("{error}"));
    let loaded = later.objects().at_path(&location).expect("it is loaded");
    assert_eq!((get(&later, loaded, "orders"), count(&later)), (Value::Bool(false), Some(Value::U32(0))));
}

#[test]
fn values_saved_while_their_class_was_missing_are_converted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("saved.world");
    let first = host(&[]);
    let object = gauge(&first, &[("heat", Value::F64(2000.4)), ("filling", Value::I32(25))]);
    let location = first.objects().path_of(object).expect("it lives");
    let without = first.reload(&[support::plugin("moods", &[])]).expect("a Master");
    without.into_result().unwrap_or_else(|report| panic!("{report}"));
    first.worlds().save(&path).expect("it is saved");
    let later = host(&["later"]);
    later.worlds().load(&path).unwrap_or_else(|error| panic!("{error}"));
    let loaded = later.objects().at_path(&location).expect("it is loaded");
    assert_eq!((get(&later, loaded, "heat"), get(&later, loaded, "filling")), (Value::I32(2000), Value::F64(0.25)));
}

#[test]
fn a_conversion_that_does_not_fit_its_class_is_refused() {
    let host = support::builder().build().expect("a host");
    let error = host.create_master(&[support::plugin("conversions", &["misfit"])]).expect_err("it is refused");
    let text = "conversions has a conversion for objects of Game.Scale that cannot be used: the class has no property \
                `kilograms: f64`, which /Script/Game.ScaleV2 sets: give the fields names and types of properties";
    assert!(error.to_string().contains(text), "{error}");
}

#[test]
fn tools_do_not_list_conversions() {
    let (_, declared) =
        ManifestInfo::peek_declared(&support::plugin("conversions", &["later"])).expect("it is a plugin");
    let class = declared.classes.iter().find(|class| class.path == GAUGE).expect("it is declared");
    assert_eq!((class.properties.len(), class.functions.len()), (5, 0));
}
