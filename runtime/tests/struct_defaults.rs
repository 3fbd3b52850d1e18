//! Tests structs whose fields have default values. Covers all operations in which the host creates a value, Rust code in plugins, and
//! reloads that change the defaults.

use std::path::PathBuf;

use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{NativeClass, NativeStruct, Natives};
use alcedo_runtime::{ObjectHandle, Runtime, Value};

use crate::support;

const DEPOT: &str = "/Script/Game.Depot";
const NEW: &str = "2.5 -1 Air 0";

fn parcels(features: &[&str]) -> PathBuf {
    support::plugin("parcels", features)
}

fn depot(host: &Runtime) -> ObjectHandle {
    host.objects().spawn(DEPOT).unwrap_or_else(|error| panic!("{error}"))
}

/// Formats a value. Spaces separate the fields of a struct, and bars separate the elements of an array.
fn display(value: &Value) -> String {
    match value {
        Value::Struct(fields) => fields.iter().map(|(_, value)| display(value)).collect::<Vec<_>>().join(" "),
        Value::Array(values) => values.iter().map(display).collect::<Vec<_>>().join(" | "),
        Value::F64(number) => number.to_string(),
        Value::I32(number) => number.to_string(),
        Value::U8(number) => number.to_string(),
        Value::Enum(value) => value.to_string(),
        Value::Text(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

fn value_of(host: &Runtime, object: ObjectHandle, property: &str) -> String {
    display(&host.objects().get(object, property).unwrap_or_else(|error| panic!("{error}")))
}

fn display_call(host: &Runtime, object: ObjectHandle, function: &str, arguments: &[Value]) -> String {
    let result = host.objects().call(object, function, arguments).unwrap_or_else(|error| panic!("{error}"));
    display(&result.expect("a text"))
}

fn wide(width: i32) -> Value {
    Value::Struct(vec![("width".into(), Value::I32(width))])
}

#[test]
fn a_struct_starts_with_its_defaults_everywhere() {
    let host = support::host(&[parcels(&[])]);
    let depot = depot(&host);
    assert_eq!(value_of(&host, depot, "next"), format!("nobody 3 -1 Air 0 {NEW}"));
    assert_eq!(value_of(&host, depot, "large"), "2.5 -1 Air 9");
    host.objects().set(depot, "sizes", &Value::Array(vec![wide(7), wide(8)])).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(value_of(&host, depot, "sizes"), "2.5 7 Air 0 | 2.5 8 Air 0");
    let size =
        |height: f64, width: i32| format!("Size {{ height: {height:?}, width: {width}, route: Air, weight: 0 }}");
    let made = display_call(&host, depot, "made", &[]);
    let shipment = "Shipment { pallet: Pallet { size: Size { height: 2.5, width: -1, route: Air, weight: 5 } } }";
    assert_eq!(made, format!("{} | nobody {} {} | {shipment}", size(2.5, -1), size(3.0, -1), size(2.5, -1)));
    assert_eq!(display_call(&host, depot, "format_size", &[wide(5)]), size(2.5, 5));
    assert_eq!(display_call(&host, depot, "format_size", &[]), size(2.5, -1), "an omitted argument");
    assert_eq!(host.console(&format!("call {depot} format_size")), format!("\"{}\"", size(2.5, -1)));
    for (path, value, expected) in [
        ("/Script/Game.Size", wide(4), "2.5 4 Air 0"),
        ("/Script/Game.Pallet", Value::Struct(Vec::new()), "3 -1 Road 0"),
        ("/Script/Game.Shipment", Value::Struct(Vec::new()), "2.5 -1 Air 5"),
    ] {
        let black = host.conjugates().make(path, &value).unwrap_or_else(|error| panic!("{error}"));
        let read = host.conjugates().read(black).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(display(&read), expected, "{path}");
        host.conjugates().give_back(black);
    }
}

#[test]
fn changed_struct_values_survive_a_reload_and_others_follow_defaults() {
    let host = support::host(&[parcels(&[])]);
    let [kept, follows] = [depot(&host), depot(&host)];
    host.objects().set(kept, "large", &wide(7)).unwrap_or_else(|error| panic!("{error}"));
    let report = host.reload(&[parcels(&["later"])]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(value_of(&host, follows, "large"), "4 -1 Air 9", "the property specifies the route: {report:?}");
    assert_eq!(value_of(&host, follows, "next"), "nobody 3 -1 Road 0 4 -1 Road 0");
    assert_eq!(value_of(&host, kept, "large"), "2.5 7 Air 9", "an own value is kept completely");
    assert_eq!(value_of(&host, kept, "next"), "nobody 3 -1 Road 0 4 -1 Road 0");
}

#[test]
fn an_invalid_field_default_is_refused_with_its_location() {
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let refused = host.create_master(&[parcels(&["sad"])]).expect_err("no such entry").to_string();
    assert!(refused.contains("/Script/Game.Size:route") && refused.contains("Road, Air"), "{refused}");
}

#[test]
fn a_file_and_its_loaded_module_agree_on_field_defaults() {
    let host = support::host(&[parcels(&[])]);
    let loaded = host.types().declared_by("parcels").expect("it is loaded");
    let (_, from_file) = alcedo_runtime::ManifestInfo::peek_declared(&parcels(&[])).expect("a module");
    assert_eq!(loaded.structs, from_file.structs);
    let size = loaded.structs.iter().find(|found| found.path == "/Script/Game.Size").expect("the size");
    let declared: Vec<_> = size.fields.iter().map(|field| (&*field.name, &*field.default, &*field.doc)).collect();
    assert_eq!(
        declared,
        [
            ("height", "2.5", "Height."),
            ("width", "-1", "Width; negative if unknown."),
            ("route", "\"Air\"", "Route of transport."),
            ("weight", "", "Weight, without a declared default."),
        ]
    );
}

#[test]
fn a_struct_of_the_builder_begins_with_the_defaults_of_its_fields() {
    let point = NativeStruct::new("Test", "Point")
        .field_with_default("x", (PropertyKind::F64, ""), "1.5")
        .field("y", (PropertyKind::I32, ""));
    let owner = NativeClass::new("Test", "Owner", "/Script/Engine.Actor").property(
        "at",
        (PropertyKind::STRUCT, "/Script/Test.Point"),
        0,
        "",
    );
    let natives = Natives::in_package("Test").structure(point).class(owner);
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    let owner = host.objects().spawn("/Script/Test.Owner").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(value_of(&host, owner, "at"), "1.5 0");
}
