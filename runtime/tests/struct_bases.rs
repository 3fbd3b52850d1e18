//! Tests structs that extend other structs. Covers inherited fields in objects, in plugins and in the host, reloads that move fields to the
//! base struct, and host structs whose base differs from the base in the plugin.

use std::path::PathBuf;

use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{NativeStruct, Natives};
use alcedo_runtime::{ObjectHandle, Runtime, Value};

use crate::support;

const DRAWER: &str = "/Script/Game.Drawer";
const SPOT: &str = "/Script/Game.Spot";

fn parcels(features: &[&str]) -> PathBuf {
    support::plugin("parcels", features)
}

fn spawn(host: &Runtime, class: &str) -> ObjectHandle {
    host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"))
}

fn fields(host: &Runtime, object: ObjectHandle, property: &str) -> Vec<(String, Value)> {
    match host.objects().get(object, property) {
        Ok(Value::Struct(fields)) => fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect(),
        other => panic!("a struct, not {other:?}"),
    }
}

fn named(pairs: &[(&str, Value)]) -> Vec<(String, Value)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn note(host: &Runtime, depot: ObjectHandle, name: &str, number: u32) -> String {
    let arguments = [Value::Text(name.to_owned()), Value::U32(number)];
    match host.objects().call(depot, "note", &arguments) {
        Ok(Some(Value::Text(text))) => text,
        other => panic!("a text, not {other:?}"),
    }
}

#[test]
fn a_struct_starts_with_base_fields_which_are_used_in_place() {
    let host = support::host(&[parcels(&[])]);
    let depot = spawn(&host, "/Script/Game.Depot");
    let begins = named(&[
        ("name", Value::Text("here".into())),
        ("numbers", Value::Array(vec![])),
        ("level", Value::U8(2)),
        ("height", Value::F64(0.0)),
        ("is_open", Value::Bool(false)),
    ]);
    assert_eq!(fields(&host, depot, "drawer"), begins);
    assert_eq!(note(&host, depot, "there", 7), "there (7) 1.5");
    assert_eq!(note(&host, depot, "there", 8), "there (7, 8) 1.5");
    let after = fields(&host, depot, "drawer");
    assert_eq!(after[1].1, Value::Array(vec![Value::U32(7), Value::U32(8)]));
    assert_eq!((&after[0].1, &after[4].1), (&Value::Text("there".into()), &Value::Bool(true)));
    let extends = |one, two| host.types().struct_extends(one, two);
    assert!(extends(DRAWER, SPOT) && extends(DRAWER, "/Script/Game.Shelf") && extends(SPOT, SPOT));
    assert!(!extends(SPOT, DRAWER) && !extends(DRAWER, "/Script/Game.Size"));
}

#[test]
fn a_field_that_moved_to_the_base_keeps_its_value() {
    let host = support::host(&[parcels(&[])]);
    let [own, untouched] = [0; 2].map(|_| spawn(&host, "/Script/Game.Depot"));
    note(&host, own, "there", 7);
    let level = Value::Struct(vec![("level".into(), Value::U8(5))]);
    host.objects().set(own, "drawer", &level).unwrap_or_else(|error| panic!("{error}"));
    host.reload(&[parcels(&["moved"])]).unwrap_or_else(|error| panic!("{error}"));
    let moved = |name: &str, numbers, level, height, is_open| {
        named(&[
            ("name", Value::Text(name.to_owned())),
            ("numbers", Value::Array(numbers)),
            ("level", Value::U8(level)),
            ("height", Value::F64(height)),
            ("is_open", Value::Bool(is_open)),
        ])
    };
    assert_eq!(fields(&host, own, "drawer"), moved("there", vec![Value::U32(7)], 5, 1.5, true));
    assert_eq!(fields(&host, untouched, "drawer"), moved("here", vec![], 2, 0.0, false));
    assert_eq!(note(&host, own, "elsewhere", 8), "elsewhere (7, 8) 1.5");
}

/// Declares the struct `Place`. If `base` is not empty, `Place` extends the struct with this path.
fn places(base: &str) -> Natives {
    let place = NativeStruct::new("Test", "Place").doc("Location declared by the host.").extends(base);
    Natives::in_package("Test").structure(place.field("x", (PropertyKind::F64, "")))
}

#[test]
fn the_glue_of_the_plugin_is_that_of_the_natives() {
    support::glue_is_written(places(""), "Test", "parcels", "place.rs");
}

#[test]
fn a_module_struct_extends_a_host_struct_and_refuses_another_base() {
    let build = |base: &str| {
        let corner = NativeStruct::new("Test", "Corner").field("side", (PropertyKind::I32, ""));
        support::builder().natives(places(base).structure(corner)).build().unwrap_or_else(|error| panic!("{error}"))
    };
    let host = build("");
    host.create_master(&[parcels(&["foreign"])]).unwrap_or_else(|error| panic!("{error}"));
    let letterbox = spawn(&host, "/Script/Game.Letterbox");
    let shoved = host.objects().call(letterbox, "shove", &[Value::F64(2.5)]);
    assert_eq!(shoved.unwrap_or_else(|error| panic!("{error}")), Some(Value::F64(2.5)));
    let address = named(&[("x", Value::F64(2.5)), ("street", Value::Text(String::new()))]);
    assert_eq!(fields(&host, letterbox, "address"), address);
    for (base, features, expected) in [
        ("", "stale", "which extends nothing here and /Script/Game.Spot in the module"),
        ("/Script/Test.Corner", "seen", "which extends /Script/Test.Corner here and nothing in the module"),
        ("/Script/Test.Corner", "foreign", "/Script/Game.Address is (extends /Script/Test.Place: side: i32 at 0"),
    ] {
        let refused = build(base).create_master(&[parcels(&[features])]).expect_err("another base").to_string();
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn invalid_struct_bases_are_refused_with_their_paths() {
    let refused = |structs: Vec<NativeStruct>| {
        let natives = structs.into_iter().fold(Natives::in_package("Test"), Natives::structure);
        support::builder().natives(natives).build().map(drop).expect_err("it cannot be").to_string()
    };
    let named = |name: &str, base: &str| NativeStruct::new("Test", name).extends(base);
    let cycle = refused(vec![named("A", "/Script/Test.B"), named("B", "/Script/Test.A")]);
    assert!(cycle.contains("/Script/Test.A → /Script/Test.B → /Script/Test.A"), "{cycle}");
    let held = named("A", "").field("b", (PropertyKind::STRUCT, "/Script/Test.B"));
    let cycle = refused(vec![held, named("B", "/Script/Test.A")]);
    assert!(cycle.contains("/Script/Test.A → /Script/Test.B → /Script/Test.A"), "{cycle}");
    let unknown = refused(vec![named("A", "/Script/Test.None")]);
    assert!(unknown.contains("/Script/Test.A is derived from /Script/Test.None"), "{unknown}");
    let x = |of: NativeStruct| of.field("x", (PropertyKind::F64, ""));
    let twice = refused(vec![x(named("A", "")), x(named("B", "/Script/Test.A"))]);
    assert!(twice.contains("/Script/Test.B") && twice.contains("two members of the name x"), "{twice}");
}

#[test]
fn a_file_and_its_loaded_module_agree_on_struct_bases() {
    let host = support::host(&[parcels(&[])]);
    let loaded = host.types().declared_by("parcels").expect("it is loaded");
    let (_, from_file) = alcedo_runtime::ManifestInfo::peek_declared(&parcels(&[])).expect("a module");
    assert_eq!(loaded.structs, from_file.structs);
    let drawer = loaded.structs.iter().find(|found| found.path == DRAWER).expect("the drawer");
    let own: Vec<_> = drawer.fields.iter().map(|field| &*field.name).collect();
    assert_eq!((&*drawer.base, own), ("/Script/Game.Shelf", vec!["is_open"]));
}
