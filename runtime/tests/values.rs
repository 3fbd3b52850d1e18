//! Tests every kind of value with a real plugin and a real host, and compares the output as text.

use crate::support;

use alcedo_runtime::{Budget, Error, ObjectHandle, Outcome, Runtime, Value};
use expect_test::{Expect, expect};

const CABINET: &str = "/Script/Game.Cabinet";
const RINGER: &str = "/Script/Game.Ringer";

fn host() -> Runtime {
    support::host(&[support::plugin("values", &[])])
}

fn cabinet(host: &Runtime) -> ObjectHandle {
    host.objects().spawn(CABINET).unwrap_or_else(|error| panic!("{error}"))
}

fn query(host: &Runtime, cabinet: ObjectHandle, function: &str) -> String {
    match host.objects().call(cabinet, function, &[]) {
        Ok(Some(Value::Text(text))) => text,
        Ok(other) => panic!("`{function}` returns a string, not {other:?}"),
        Err(error) => format!("refused: {error}"),
    }
}

fn check(function: &str, expected: Expect) {
    let host = host();
    let cabinet = cabinet(&host);
    expected.assert_eq(&query(&host, cabinet, function));
    assert_eq!(host.conjugates().owned_values().count(), 0, "values made by `{function}` are released");
}

#[test]
fn strings_are_written_in_place() {
    check(
        "texts",
        expect![[
            r#"empty | a box of wood | wîde | närrow | Quit | '€' is not a one-byte character: a UAnsiString cannot hold "€""#
        ]],
    );
}

#[test]
fn arrays_grow_sort_and_nest() {
    check("arrays", expect![[r#"11 | (2, 3) | (("a", "d"), ("b", "c")) | ((x=4, y=2))"#]]);
}

#[test]
fn sets_maps_and_optionals_hold_anything() {
    check(
        "keyed",
        expect![[
            r#"(round) | (("Ada", 37), ("Eve", 5)) | some(2.5) | ((first, ((strength=3, motto="", titles=("king"), spot=none, friend=none))))"#
        ]],
    );
}

#[test]
fn a_struct_is_used_in_place_and_copied_by_clone() {
    check("structs", expect![[r#"1.5 | onwards | ("first", "second")"#]]);
}

#[test]
fn containers_of_std_are_copied_in_and_out() {
    check("std_types", expect![[r#"["a", "b"] {"a": 1, "b": 2} {7} Some(3)"#]]);
}

#[test]
fn references_resolve_to_an_object_until_it_is_destroyed() {
    let host = host();
    let (one, other) = (cabinet(&host), cabinet(&host));
    let answer =
        host.objects().call(one, "references", &[Value::Object(other)]).unwrap_or_else(|error| panic!("{error}"));
    expect![[r#"Some(Text("[true, true, true] true false"))"#]].assert_eq(&format!("{answer:?}"));
}

#[test]
fn classes_are_named_by_path_and_spawned_from() {
    check("classes", expect!["true /Script/Game.Cabinet /Script/Game.Cabinet /Script/Game.Latest true"]);
}

#[test]
fn delegates_call_their_bound_functions() {
    check("delegates", expect![[r#"[false, true] ["news", "red 2"]"#]]);
}

#[test]
fn a_field_path_reads_and_writes_its_property() {
    check("field_paths", expect!["/Script/Game.Cabinet:perhaps Optional(u8) Some(9)"]);
}

#[test]
fn parameters_are_read_in_place_and_results_are_owned() {
    check("calls", expect![[r#"("b", "c", "end") ("x", "y", "z", "end")"#]]);
    check("calls_with_structs", expect!["1 7"]);
}

#[test]
fn an_expired_view_returns_an_error() {
    check(
        "expires",
        expect![
            "a red Array(String) from 2 changes of its container ago has expired: to keep a value beyond its call, use `to_owned()`"
        ],
    );
    check(
        "expires_uncaught",
        expect![
            "refused: a red Array(String) from 1 change of its container ago has expired: to keep a value beyond its call, use `to_owned()`"
        ],
    );
}

#[test]
fn a_borrowed_slice_refuses_calls() {
    check("lends", expect!["true true true"]);
}

#[test]
fn values_kept_by_a_plugin_survive_rollbacks_but_not_reloads() {
    let host = host();
    let cabinet = cabinet(&host);
    host.objects().call(cabinet, "keep", &[]).unwrap_or_else(|error| panic!("{error}"));
    let kept = |numbers: &str| format!("{numbers} | 7 | [\"one\", \"two\"]");
    assert_eq!(query(&host, cabinet, "kept"), kept("(1, 2, 9)"));
    assert_eq!(query(&host, cabinet, "kept"), kept("(1, 2, 9, 9)"));
    assert_eq!(host.conjugates().owned_values().count(), 4);
    let numbers = host.objects().get(cabinet, "numbers").unwrap_or_else(|error| panic!("{error}"));

    let report = host.reload(&[support::plugin("values", &["failing"])]).expect("there is a Master");
    assert_ne!(report.outcome, Outcome::Committed, "{report}");
    assert_eq!(query(&host, cabinet, "kept"), kept("(1, 2, 9, 9, 9)"));
    assert_eq!(host.conjugates().owned_values().count(), 4, "the values were set aside and restored");

    let report = host.reload(&[support::plugin("values", &["second"])]).expect("there is a Master");
    assert_eq!(report.outcome, Outcome::Committed, "{report}");
    assert_eq!(host.objects().call(cabinet, "build", &[]).expect("it answers"), Some(Value::U32(2)));
    assert_eq!(query(&host, cabinet, "kept"), "nothing");
    assert_eq!(host.conjugates().owned_values().count(), 0, "the values were dropped with their generation");
    assert_eq!(host.objects().get(cabinet, "numbers").expect("carried over"), numbers);
    assert_eq!(query(&host, cabinet, "structs"), "1.5 | onwards | (\"first\", \"second\")");
    drop(host.shutdown());
}

#[test]
fn values_may_be_dropped_on_any_thread() {
    let host = host();
    let cabinet = cabinet(&host);
    host.objects().call(cabinet, "drops_on_threads", &[Value::U32(8)]).unwrap_or_else(|error| panic!("{error}"));
    support::until("all drops are released", || {
        host.tick(Budget::frame());
        host.conjugates().owned_values().count() == 0 && host.conjugates().owned_values().queued == 0
    });
    assert_eq!(host.conjugates().owned_values().made, 8 * 5);
}

#[test]
fn a_value_of_each_kind_survives_a_reload() {
    let host = host();
    let cabinet = cabinet(&host);
    for function in ["texts", "arrays", "keyed", "structs", "std_types"] {
        let answer = query(&host, cabinet, function);
        assert!(!answer.starts_with("refused"), "{function}: {answer}");
    }
    let values = |host: &Runtime| {
        let one = |name: &String| format!("{name} = {:?}", host.objects().get(cabinet, name));
        host.objects().properties_of(cabinet).iter().map(one).collect::<Vec<_>>()
    };
    let before = values(&host);
    assert!(before.len() > 20, "{before:#?}");
    let report = host.reload(&[support::plugin("values", &["second"])]).expect("there is a Master");
    assert_eq!(report.outcome, Outcome::Committed, "{report}");
    assert_eq!(values(&host), before);
    drop(host.shutdown());
}

#[test]
fn a_value_of_each_kind_is_parsed_from_its_text_by_its_declared_type() {
    let host = host();
    let cabinet = cabinet(&host);
    for function in ["texts", "arrays", "keyed", "structs", "std_types"] {
        query(&host, cabinet, function);
    }
    let declared = host.types().declared_by("values").expect("it is loaded");
    let class = declared.classes.iter().find(|class| class.path == CABINET).expect("it declares one");
    for property in &class.properties {
        let name = &property.name;
        let round_trip = || {
            let value = host.objects().get(cabinet, name)?;
            let parsed = host.types().parse(&property.ty, &host.types().print(&value))?;
            host.objects().set(cabinet, name, &parsed)?;
            Ok::<_, Error>((parsed, value))
        };
        let (parsed, value) = round_trip().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(parsed, value, "{name}");
    }
    let error = host.types().parse("Array(/Script/Game.Nothing)", "()").expect_err("no such type");
    assert!(error.to_string().contains("unknown struct /Script/Game.Nothing"), "{error}");
    drop(host.shutdown());
}

#[test]
fn an_interface_reference_resolves_to_any_implementing_class() {
    let host = host();
    let ringer = host.objects().spawn(RINGER).unwrap_or_else(|error| panic!("{error}"));
    expect!["true true (true, true) [true, true]: not a class that implements /Script/Game.Rings"]
        .assert_eq(&query(&host, ringer, "try_all"));
    for (class, rings) in [("Bell", true), ("Chime", true), ("Ringer", false)] {
        let class = format!("/Script/Game.{class}");
        assert!(host.types().has(&class), "{class} is declared");
        assert_eq!(host.types().implements(&class, "/Script/Game.Rings"), rings, "{class}");
    }
    host.types().redirect("/Script/Game.Tinkles", "/Script/Game.Rings").unwrap_or_else(|error| panic!("{error}"));
    assert!(host.types().implements("/Script/Game.Bell", "/Script/Game.Tinkles"), "a former path of the interface");
    // An owned value keeps the chime alive. Only the property keeps the bell alive, so clearing the property makes the bell unreachable.
    host.objects().set(ringer, "bell", &Value::ScriptInterface(ObjectHandle::NONE)).expect("it refers to no object");
    let objects = host.counters().objects;
    host.collection().collect().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(host.counters().objects, objects - 1, "the bell is unreferenced");
    drop(host.shutdown());
}

#[test]
fn a_class_dropping_an_interface_resets_references_by_it() {
    let host = host();
    let (ringer, bell) =
        (host.objects().spawn(RINGER).expect("a ringer"), host.objects().spawn("/Script/Game.Bell").expect("a bell"));
    let take = || host.objects().call(ringer, "take", &[Value::Object(bell)]).map(|value| format!("{value:?}"));
    assert_eq!(take().expect("it answers"), "Some(Text(\"/Script/Game.Bell\"))");
    let reload = |build: &str| {
        let report = host.reload(&[support::plugin("values", &[build])]).expect("there is a Master");
        assert_eq!(report.outcome, Outcome::Committed, "{report}");
        (query(&host, ringer, "rings"), report.structure.join("\n"))
    };
    let rings = || ("/Script/Game.Bell".to_owned(), String::new());
    assert_eq!(reload("second"), rings(), "the interface was declared again, unchanged");
    let (rung, answer) = reload("mute");
    assert_eq!(rung, "nobody");
    expect!["Game.Bell no longer implements /Script/Game.Rings: references by it no longer resolve to its objects"]
        .assert_eq(&answer);
    expect![[r#"Some(Text("not a class that implements /Script/Game.Rings"))"#]]
        .assert_eq(&take().expect("it answers"));
    assert_eq!(host.links().resolve(ringer, "bell").expect("a reference"), ObjectHandle::NONE);
    let value = host.objects().get(ringer, "bell").expect("a value");
    assert_eq!(value, Value::ScriptInterface(ObjectHandle::NONE), "it is put aside");
    assert_eq!(reload("second"), rings(), "it returns with the interface");
    drop(host.shutdown());
}

fn shelf(function: &str, expected: &str) {
    let host = host();
    let shelf = host.objects().spawn("/Script/Game.Shelf").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(query(&host, shelf, function), expected);
    let kept = u64::from(function == "owned_values");
    support::until("the created values are released", || {
        host.tick(Budget::frame());
        host.conjugates().owned_values().count() == kept
    });
    if kept == 1 {
        assert_eq!(query(&host, shelf, "uses_kept"), "[1.0, 2.0, 3.0]");
    }
    host.objects().destroy(shelf);
    support::until("the finalizer releases the kept values", || {
        host.tick(Budget::frame());
        host.conjugates().owned_values().count() == 0
    });
}

#[test]
fn container_verbs_match_those_of_std() {
    shelf("arrays", "10 (7) false");
    shelf("nests", r#"(("a", "b", "d"), ("c")) ((7, (4, 5)))"#);
    shelf("sets_and_maps", r#"("round") (("Ada", 37), ("Eve", 5), ("Kay", 1))"#);
    shelf("texts_and_optionals", "short some(2.5)");
    shelf("std_types", r#"[1, 2] {"a": 1, "b": 2} Some(3)"#);
}

#[test]
fn a_setter_of_a_plugin_keeps_the_length_of_a_fixed_array() {
    shelf(
        "fixed_arrays",
        "[1, 2] (3) copied is a fixed array of 2 elements and cannot have 3: overwrite its elements; \
         fixed is a fixed array of 1 elements and cannot have 2: overwrite its elements; \
         fixed is a fixed array of 1 elements and cannot have 0: overwrite its elements",
    );
}

#[test]
fn plugin_code_owns_copies_and_drops_them_anywhere() {
    shelf("owned_values", "(1, 2, 3) (57) read");
}

#[test]
fn an_expired_view_reports_its_type_and_age() {
    shelf(
        "expires",
        "a red Array(String) from 2 changes of its container ago has expired: to keep a value beyond its call, \
         use `to_owned()`",
    );
}

#[test]
fn a_borrowed_slice_excludes_calls_and_writes() {
    shelf(
        "lends",
        "Array(f64) is refused while a slice of host memory is lent: finish the closure of `with_slice` first, and let it \
         return what is to be done",
    );
}

#[test]
fn every_kind_of_write_checks_the_type() {
    let host = host();
    let [one, other] =
        [(); 2].map(|()| host.objects().spawn("/Script/Game.Shelf").unwrap_or_else(|error| panic!("{error}")));
    host.objects().set(one, "other", &Value::Object(other)).unwrap_or_else(|error| panic!("{error}"));
    host.objects()
        .set(other, "numbers", &Value::Array(vec![Value::F64(7.0)]))
        .unwrap_or_else(|error| panic!("{error}"));
    let report = host.reload(&[support::plugin("values", &["second"])]).expect("there is a Master");
    assert_eq!(report.outcome, Outcome::Committed, "{report}");
    assert_eq!(query(&host, one, "refused_writes"), "all");
}
