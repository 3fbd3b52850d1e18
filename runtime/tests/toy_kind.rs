//! Tests a kind of value that exists only for tests. The file `values/toy.rs` and one list entry in `alcedo-reflect` define the kind. The
//! tests use this kind for properties, elements, defaults, parameters and results, and in a saved world. `reload/carry/tests.rs` tests
//! reloads of objects with such values.

use crate::support;

use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{CallError, Runtime, Signature, Value};

const TOY: PropertyKind = PropertyKind(200);
const BOX: &str = "/Script/Test.Box";

/// Returns a host whose boxes contain a single value and a list of values.
fn boxes(one: (PropertyKind, &'static str), all: &'static str) -> Runtime {
    let class = NativeClass::new("Test", "Box", "/Script/Core.Object");
    let class = class.property("one", one, 0, "").property("all", (PropertyKind::ARRAY, all), 0, "");
    let builder = support::builder().natives(Natives::in_package("Test").class(class));
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_new_kind_is_a_parameter_and_a_result() {
    let host = boxes((TOY, ""), "Toy");
    let signature: Signature = "Toy, Array(Toy) -> Toy".parse().expect("a signature");
    let pick = |_: &Runtime, values: &[Value]| match values {
        [Value::Toy(one), Value::Array(all)] => Ok(Some(Value::Toy(one + all.len() as u32))),
        other => Err(CallError::NotFound { message: format!("{other:?}") }),
    };
    host.calls().register("pick", signature, pick).expect("the name is free");
    let all = Value::Array(vec![Value::Toy(1), Value::Toy(2)]);
    assert_eq!(host.calls().call("ex:/pick", &[Value::Toy(40), all.clone()]).unwrap(), Some(Value::Toy(42)));
    host.calls().call("ex:/pick", &[Value::U32(40), all]).expect_err("a number is not a toy");
}

#[test]
fn a_new_kind_is_in_a_world_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("saved.world");
    let first = boxes((TOY, ""), "Toy");
    let object = first.objects().spawn(BOX).expect("a box");
    let all = |values: [Value; 2]| Value::Array(values.to_vec());
    first.objects().set(object, "one", &Value::Toy(7)).expect("a toy");
    first.objects().set(object, "all", &all([Value::Toy(8), Value::Toy(9)])).expect("toys");
    let object_path = first.objects().path_of(object).expect("alive");
    first.worlds().save(&path).expect("it is saved");

    for (one, list, expected) in [
        ((TOY, ""), "Toy", (Value::Toy(7), all([Value::Toy(8), Value::Toy(9)]))),
        ((PropertyKind::I64, ""), "u8", (Value::I64(7), all([Value::U8(8), Value::U8(9)]))),
    ] {
        let second = boxes(one, list);
        second.worlds().load(&path).unwrap_or_else(|error| panic!("{error}"));
        let object = second.objects().at_path(&object_path).expect("it was loaded");
        let found = (
            second.objects().get(object, "one").expect("it has one"),
            second.objects().get(object, "all").expect("it has all"),
        );
        assert_eq!(found, expected, "{list}");
    }
}
