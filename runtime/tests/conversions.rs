//! Functions of a plugin, `#[migrate]`, convert values at a reload: once for each own value, and undone with the edit. If one fails, the
//! reload is rolled back.

use crate::support;

use alcedo_runtime::{ManifestInfo, ObjectHandle, Outcome, Phase, PropertyChange, ReloadReport, Runtime, Value};

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

/// Returns the number of conversions in the current build.
fn count(host: &Runtime) -> Option<Value> {
    host.calls().call("ex:/conversions.count", &[]).expect("it counts")
}

fn gauge(host: &Runtime, values: &[(&str, Value)]) -> ObjectHandle {
    let object = host.objects().spawn(GAUGE).expect("spawned");
    values.iter().for_each(|(property, value)| set(host, object, property, value.clone()));
    object
}

fn set(host: &Runtime, object: ObjectHandle, property: &str, value: Value) {
    host.objects().set(object, property, &value).unwrap_or_else(|error| panic!("{property}: {error}"));
}

fn get(host: &Runtime, object: ObjectHandle, property: &str) -> Value {
    host.objects().get(object, property).unwrap_or_else(|error| panic!("{property}: {error}"))
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
    // A value that was written in the later build is converted to the first one.
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
    // The first declaration has no function for strings, so the value is put aside until the later one.
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
    assert_eq!(location(&host, moved, ["distance", "north"]), [5.0, 4.0].map(Value::F64));
    assert_eq!(location(&host, plain, ["distance", "north"]), [1.0, 0.0].map(Value::F64), "defaults are not converted");
    assert_eq!(count(&host), Some(Value::U32(1)));
    let text = "Game.Gauge: objects are converted by their module, from /Script/Game.GaugeV1";
    assert!(report.structure.iter().any(|line| line == text), "{report}");
    assert_eq!((line(&report, "distance").converted, line(&report, "distance").followed), (1, 1));
    set(&host, moved, "distance", Value::F64(9.0));
    reload(&host, &["later"]);
    assert_eq!(get(&host, moved, "distance"), Value::F64(9.0), "this declaration has no such properties");

    reload(&host, &[]);
    assert_eq!(location(&host, moved, ["east", "north"]), [3.0, 4.0].map(Value::F64));
    set(&host, moved, "east", Value::F64(0.0));
    reload(&host, &["later"]);
    assert_eq!(get(&host, moved, "distance"), Value::F64(4.0), "the values of the first declaration are newer");
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

    let failing = host(&["later", "fails"]);
    let error = failing.worlds().load(&path).expect_err("it is too hot").to_string();
    assert!(error.contains("the conversion of heat, 2000.4 (f64 → i32), returned the error \"too hot\""), "{error}");
    assert_eq!(failing.objects().at_path(&location), None);
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
