//! Tests signatures of functions that a host can call off the game thread. Covers every kind that `#[zmethod]` accepts.

use alcedo_runtime::{ObjectHandle, Value};

use super::{runtime, support, text};

#[test]
fn slim_functions_take_slot_values_and_strings_and_lookup_refuses_others() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("kinds").expect("the name is free");
    slim.load_path(support::plugin("relay", &[])).unwrap_or_else(|error| panic!("{error}"));
    let called = |method: &str, signature: &str, arguments: &[Value]| {
        let function = slim.function("Kinds", method, signature).unwrap_or_else(|error| panic!("{method}: {error}"));
        function.call(arguments).unwrap_or_else(|error| panic!("{method}: {error}"))
    };
    let none = Value::Object(ObjectHandle::NONE);
    for signature in [
        "Object(/Script/Core.Object) -> Object(/Script/Core.Object)",
        "Object -> Object",
        "Object -> Object(/Script/Core.Object)",
    ] {
        assert_eq!(called("object", signature, std::slice::from_ref(&none)), Some(none.clone()), "{signature}");
    }
    let name = Value::Name(alcedo_runtime::Name::default());
    assert_eq!(called("name", "Name -> Name", std::slice::from_ref(&name)), Some(name));
    let numbers = [
        Value::U8(1),
        Value::U16(2),
        Value::U32(3),
        Value::U64(4),
        Value::I8(-5),
        Value::I16(-6),
        Value::I32(-7),
        Value::I64(-8),
    ];
    let answer = called("plain", "u8, u16, u32, u64, i8, i16, i32, i64 -> String", &numbers);
    assert_eq!(answer, Some(text("1 2 3 4 -5 -6 -7 -8")));
    let answer = called("more", "f32, f64, bool -> String", &[Value::F32(0.5), Value::F64(1.5), Value::Bool(true)]);
    assert_eq!(answer, Some(text("0.5 1.5 true")));

    for (method, signature, which) in [
        ("array", "Array(f64)", "Array(f64)"),
        ("list", "Array(f64)", "Array(f64)"),
        ("optional", "Optional(f64)", "Optional(f64)"),
        ("localized", "Text", "Text"),
        ("soft_object", "SoftObject(/Script/Core.Object)", "SoftObject(/Script/Core.Object)"),
        ("subclass", "SubclassOf(/Script/Core.Object)", "SubclassOf(/Script/Core.Object)"),
        ("numbers", "-> Array(f64)", "Array(f64)"),
    ] {
        let refused =
            slim.function("Kinds", method, signature).map(drop).expect_err("it needs a memory layout").to_string();
        let expected = format!(
            "`nm:/relay:Kinds:{method}` ({signature}): a {which} is in memory whose layout the Master's types define, and they belong to \
             the game thread: pass numbers, `bool`, `String`, `Name` and `Object` instead"
        );
        assert_eq!(refused, expected, "{method}");
    }
}
