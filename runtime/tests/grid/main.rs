//! Tests every protocol in both directions, with every kind of value and every kind of error, on a loaded library. The tests form a grid:
//! each cell is a call with a checked answer, or states the reason why the call is omitted.

pub(crate) mod natives;
mod sheet;

use std::path::PathBuf;
use std::rc::Rc;

use alcedo_runtime::host::TypedFunction;
use alcedo_runtime::native::{Obj, Object};
use alcedo_runtime::{CallError, EnumValue, ObjectHandle, ReloadReport, Runtime, Value};
use expect_test::expect;
use sheet::{DIRECTIONS, PROTOCOLS, Sheet};

use crate::support;

/// Host with the plugin, and one object of each class that the tests call.
struct Scene {
    host: Runtime,
    cell: ObjectHandle,
    loud: ObjectHandle,
    probe: ObjectHandle,
    loud_probe: ObjectHandle,
}

fn library(tag: u64) -> PathBuf {
    support::tagged("grid", &[], tag)
}

/// Returns the module `switchboard`, whose functions the plugin looks up and keeps.
fn adder(tag: u64) -> PathBuf {
    support::tagged("switchboard", &[], tag)
}

impl Scene {
    fn new() -> Self {
        let builder = support::builder().natives(natives::declared());
        let host = builder.build().unwrap_or_else(|error| panic!("{error}"));
        register(&host);
        host.create_master(&[library(1), adder(1)]).unwrap_or_else(|error| panic!("{error}"));
        let spawn = |class: &str| host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"));
        let (cell, loud) = (spawn("/Script/Game.Cell"), spawn("/Script/Game.LoudCell"));
        let (probe, loud_probe) = (spawn("/Script/Game.Probe"), spawn("/Script/Game.LoudProbe"));
        Self { host, cell, loud, probe, loud_probe }
    }

    /// Calls a function by name from the host, and formats the result or the error.
    fn call(&self, name: &str, arguments: &[Value]) -> String {
        text_of(self.host.calls().call(name, arguments))
    }

    /// Makes the plugin call a function by name, through a method of the class `Probe`.
    fn probe(&self, object: ObjectHandle, method: &str, arguments: &[&str]) -> String {
        let arguments: Vec<_> = arguments.iter().map(|text| Value::Text((*text).to_owned())).collect();
        match self.host.objects().call(object, method, &arguments) {
            Ok(Some(Value::Text(text))) => text,
            other => panic!("`{method}` returns a string, not {other:?}"),
        }
    }
}

fn text_of(returned: Result<Option<Value>, alcedo_runtime::Error>) -> String {
    match returned {
        Ok(None) => "nothing".to_owned(),
        Ok(Some(Value::Enum(EnumValue { number, .. }))) => format!("enum {number}"),
        Ok(Some(Value::Struct(fields))) => {
            let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name} {value:?}")).collect();
            fields.join(", ")
        }
        Ok(Some(value)) => format!("{value:?}"),
        Err(error) => format!("refused: {error}"),
    }
}

/// Registers host functions that have the names of the plugin's functions.
fn register(host: &Runtime) {
    let add = |_: &Runtime, (a, b, c, d, e, f): (u8, i16, u32, f32, f64, bool)| {
        f64::from(a) + f64::from(b) + f64::from(c) + f64::from(d) + e + f64::from(u8::from(f))
    };
    host.calls().register_typed("host.numbers", add).expect("it is free");
    let fail =
        |_: &Runtime, (number,): (i32,)| if number < 0 { Err(format!("{number} is negative")) } else { Ok(number) };
    host.calls().register_typed("host.fail", fail).expect("it is free");
    let crash = |_: &Runtime, (number,): (i32,)| {
        assert!(number >= 0, "{number} is negative");
        number
    };
    host.calls().register_typed("host.crash", crash).expect("it is free");
    let with_values = |name: &str, signature: &str, body: fn(Value) -> Value| {
        let signature = signature.parse().unwrap_or_else(|error| panic!("{error}"));
        let one = move |_: &Runtime, values: &[Value]| match values {
            [value] => Ok(Some(body(value.clone()))),
            _ => Err(CallError::other("one value was promised")),
        };
        host.calls().register(name, signature, one).unwrap_or_else(|error| panic!("{error}"));
    };
    with_values("host.same", "Object -> Object", |object| object);
    with_values("host.other", "Enum(/Script/Test.Suit) -> Enum(/Script/Test.Suit)", |returned| match returned {
        Value::Enum(EnumValue { number: 0, .. }) => suit(7, "Spades"),
        other => other,
    });
    with_values("host.turn", "/Script/Test.Point -> /Script/Test.Point", |point| match point {
        Value::Struct(fields) => match fields.as_slice() {
            [(x, right), (y, Value::F64(down))] => {
                let _ = right;
                Value::Struct(vec![(x.clone(), Value::F64(*down)), (y.clone(), Value::F64(-1.0))])
            }
            other => panic!("{other:?}"),
        },
        other => other,
    });
    with_values("host.greet", "String -> String", |text| match text {
        Value::Text(text) => Value::Text(format!("{text}, from ex of the host")),
        other => other,
    });
    with_values("host.backwards", "Array(i64) -> Array(i64)", |list| match list {
        Value::Array(list) => Value::Array(list.into_iter().rev().collect()),
        other => other,
    });
}

fn reloaded(report: Result<ReloadReport, alcedo_runtime::Error>) {
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    report.into_result().unwrap_or_else(|report| panic!("{report}"));
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn point() -> Value {
    Value::Struct(vec![("x".into(), Value::F64(1.0)), ("y".into(), Value::F64(2.0))])
}

fn list() -> Value {
    Value::Array([1, 2, 3].map(Value::I64).to_vec())
}

fn numbers() -> Vec<Value> {
    let [a, b, c] = [Value::U8(1), Value::I16(-2), Value::U32(3)];
    vec![a, b, c, Value::F32(0.5), Value::F64(0.25), Value::Bool(true)]
}

fn suit(number: i128, text: &str) -> Value {
    Value::Enum(EnumValue { number, text: text.into() })
}

fn hearts() -> Value {
    suit(0, "Hearts")
}

/// Calls functions of the plugin whose names begin with this prefix. If there is an object, calls them on the object.
fn functions_of_the_plugin(
    sheet: &mut Sheet,
    scene: &Scene,
    protocol: &str,
    names: &str,
    object: Option<ObjectHandle>,
) {
    let with = |arguments: Vec<Value>| object.map(Value::Object).into_iter().chain(arguments).collect::<Vec<_>>();
    let call = |function: &str, arguments: Vec<Value>| scene.call(&format!("{names}{function}"), &with(arguments));
    let mut check =
        |kind: &str, answer: String, expected: &str| sheet.check(protocol, "host calls", kind, &answer, &[expected]);
    check("numbers", call("numbers", numbers()), "F64(3.75)");
    let own = Value::Object(scene.probe);
    check("object", call("same", vec![own.clone()]), &format!("{own:?}"));
    check("enum", call("other", vec![hearts()]), "enum 7");
    check("struct", call("turn", vec![point()]), "x F64(2.0), y F64(-1.0)");
    check("array", call("backwards", vec![list()]), "Array([I64(3), I64(2), I64(1)])");
    let error = call("fail", vec![Value::I32(-1)]);
    sheet.check(protocol, "host calls", "error", &error, &["returned the error \"-1 is negative\"", "grid/src/"]);
    assert_eq!(call("fail", vec![Value::I32(1)]), "I32(1)");
    let panic = call("crash", vec![Value::I32(-1)]);
    sheet.check(protocol, "host calls", "panic", &panic, &["panicked", "-1 is negative", "grid/src/lib.rs"]);
    assert_eq!(call("crash", vec![Value::I32(1)]), "I32(1)");
    let wrong = call("crash", vec![Value::F64(1.0)]);
    let name = format!("`{names}crash`");
    sheet.check(protocol, "host calls", "wrong slot", &wrong, &[&name, "is f64", "must be i32"]);
    // Makes a typed call, which creates no `Value`.
    let by_types = match object {
        None => scene.host.function::<(i32,), i32>(&format!("{names}crash")).and_then(|crash| crash.call((7,))),
        Some(object) => scene
            .host
            .function::<(Obj<Object>, i32), i32>(&format!("{names}crash"))
            .and_then(|crash| crash.call((Obj::new(object), 7))),
    };
    assert_eq!(by_types.unwrap_or_else(|error| panic!("{error}")), 7);
    let other_types =
        scene.host.function::<(f64,), i32>(&format!("{names}crash")).expect_err("other types").to_string();
    assert!(other_types.contains("i32 -> i32"), "{other_types}");
}

/// Makes the plugin call functions whose names begin with this prefix.
fn functions_for_the_plugin(sheet: &mut Sheet, scene: &Scene, protocol: &str, names: &str, location: &str) {
    let query = |function: &str, kind: &str| scene.probe(scene.probe, "query", &[&format!("{names}{function}"), kind]);
    let mut check =
        |kind: &str, answer: String, expected: &[&str]| sheet.check(protocol, "plugin calls", kind, &answer, expected);
    check("numbers", query("numbers", "numbers"), &["3.75"]);
    check("object", query("same", "object"), &["true"]);
    check("enum", query("other", "enum"), &["Spades"]);
    check("struct", query("turn", "struct"), &["Point { x: 2.0, y: -1.0 }"]);
    check("error", query("fail", "negative"), &["FailureKind(17)", "-1 is negative", location]);
    assert_eq!(query("fail", "fine"), "1");
    // Only a panic in a plugin adds its location to the error. The host's panic hook reports the location of a panic in the host.
    let location = if location.contains("src/lib.rs") { location } else { "" };
    check("panic", query("crash", "negative"), &["FailureKind(1)", "-1 is negative", location]);
    assert_eq!(query("crash", "fine"), "1");
    let name = format!("{names}crash");
    // Without slot types, the callee reads the slot as its own type. The number is then wrong, but no other effect may occur.
    let wrong: &[&str] = if support::SLOT_TYPES { &[&name, "slot", "f64", "i32"] } else { &["0"] };
    check("wrong slot", query("crash", "wrong slot"), wrong);
    let signature = query("crash", "wrong signature");
    assert!(signature.contains("FailureKind(7)") && signature.contains("i32 -> i32"), "{signature}");
}

fn properties(sheet: &mut Sheet, scene: &Scene) {
    let call = |property: &str, arguments: &[Value]| {
        let with: Vec<_> = [Value::Object(scene.cell)].iter().chain(arguments).cloned().collect();
        scene.call(&format!("up:/Script/Game.Cell:{property}"), &with)
    };
    let probe = Value::Object(scene.probe);
    for (kind, property, before, new, after) in [
        ("numbers", "number", "I64(5)", Value::I64(6), "I64(6)".to_owned()),
        ("object", "object", "Object(none)", probe.clone(), format!("{probe:?}")),
        ("enum", "suit", "enum 0", suit(7, "Spades"), "enum 7".into()),
        ("struct", "point", "x F64(0.0), y F64(0.0)", point(), "x F64(1.0), y F64(2.0)".into()),
        ("string", "text", "Text(\"cell\")", text("new"), "Text(\"new\")".into()),
        ("array", "list", "Array([])", list(), format!("{:?}", list())),
    ] {
        assert_eq!(call(property, &[]), before, "{property}");
        assert_eq!(call(property, &[new]), "nothing", "{property}");
        sheet.check("up", "host calls", kind, &call(property, &[]), &[&after]);
        let name = format!("up:/Script/Test.{}:{property}", if property == "list" { "Rack" } else { "Desk" });
        let expected = match kind {
            "numbers" => "5 then 6",
            "object" => "true then true",
            "enum" => "Hearts then Spades",
            "struct" => "Point { x: 0.0, y: 0.0 } then Point { x: 1.0, y: 2.0 }",
            "string" => "\"desk\" then \"new\"",
            _ => "[] then [1, 2]",
        };
        sheet.check("up", "plugin calls", kind, &scene.probe(scene.probe, "exchange", &[&name, kind]), &[expected]);
    }
    let wrong = call("number", &[text("six")]);
    sheet.check("up", "host calls", "wrong slot", &wrong, &["up", "i64"]);
    let wrong = scene.probe(scene.probe, "exchange", &["up:/Script/Test.Desk:number", "wrong slot"]);
    sheet.check("up", "plugin calls", "wrong slot", &wrong, &["FailureKind(7)", "up:/Script/Test.Desk:number", "i64"]);
}

fn delegates(sheet: &mut Sheet, scene: &Scene) {
    let links = scene.host.links();
    let bind = |property: &str, target: ObjectHandle, function: &str| {
        links.bind(scene.probe, property, target, function).unwrap_or_else(|error| panic!("{error}"));
    };
    let rows = [
        ("numbers", "on_numbers", "numbers", numbers(), "F64(3.75)", "3.75 3.75"),
        ("object", "on_object", "same", vec![Value::Object(scene.probe)], "Object(", "true true"),
        ("enum", "on_suit", "other", vec![hearts()], "enum 7", "Spades"),
        ("struct", "on_point", "turn", vec![point()], "x F64(2.0), y F64(-1.0)", "Point { x: 2.0, y: -1.0 }"),
        (
            "array",
            "on_list",
            "backwards",
            vec![list()],
            "Array([I64(3), I64(2), I64(1)])",
            "\"(3, 2, 1)\" \"(3, 2, 1)\"",
        ),
        (
            "string",
            "on_text",
            "greet",
            vec![text("a")],
            "Text(\"a, says the cell\")",
            "\"a, from the host\" \"b, from the host\"",
        ),
    ];
    for (kind, property, function, arguments, to_host, to_plugin) in rows {
        // Calls plugin code from the host.
        bind(property, scene.cell, function);
        let bound = scene.host.objects().get(scene.probe, property).unwrap_or_else(|error| panic!("{error}"));
        let with: Vec<_> = [bound].into_iter().chain(arguments).collect();
        sheet.check("nd", "host calls", kind, &scene.call("nd:/", &with), &[to_host]);
        // Calls host code from the plugin.
        bind(property, scene.probe, function);
        sheet.check("nd", "plugin calls", kind, &scene.probe(scene.probe, "pass", &[kind]), &[to_plugin]);
    }
    let bound = |target: ObjectHandle, function: &str| {
        bind("on_number", target, function);
        scene.host.objects().get(scene.probe, "on_number").unwrap_or_else(|error| panic!("{error}"))
    };
    let pass = |kind: &str| scene.probe(scene.probe, "pass", &[kind]);
    for (kind, function, expected) in [("error", "fail", "returned the error"), ("panic", "crash", "panicked")] {
        let with = [bound(scene.cell, function), Value::I32(-1)];
        sheet.check("nd", "host calls", kind, &scene.call("nd:/", &with), &[expected, "-1 is negative", "grid/src/"]);
        bound(scene.probe, function);
        sheet.check("nd", "plugin calls", kind, &pass("negative"), &["-1 is negative"]);
        assert_eq!(pass("fine"), "1");
    }
    let with = [bound(scene.cell, "crash"), Value::F64(1.0)];
    sheet.check("nd", "host calls", "wrong slot", &scene.call("nd:/", &with), &["f64", "i32"]);
    let wrong: &[&str] = if support::SLOT_TYPES { &["nd:/", "slot 1", "f64", "i32"] } else { &["0"] };
    sheet.check("nd", "plugin calls", "wrong slot", &pass("wrong slot"), wrong);
    // Calls a function that is bound to a destroyed object.
    let gone = scene.host.objects().spawn("/Script/Game.Cell").expect("spawned");
    let with = [bound(gone, "crash"), Value::I32(1)];
    scene.host.objects().destroy(gone);
    sheet.check(
        "nd",
        "host calls",
        "stale handle",
        &scene.call("nd:/", &with),
        &["is not bound to a function of a living object"],
    );
    sheet.check("nd", "plugin calls", "stale handle", &pass("fine"), &["is bound to a destroyed object"]);
}

/// Checks strings, out parameters, and the override that each protocol resolves to.
fn strings_and_out_parameters(sheet: &mut Sheet, scene: &Scene) {
    let ex = scene.call("ex:/grid.greet", &[text("a")]);
    sheet.check("ex", "host calls", "string", &ex, &["Text(\"a, says ex\")"]);
    let nm = scene.call("nm:/grid:Sorts:greet", &[text("a")]);
    sheet.check("nm", "host calls", "string", &nm, &["Text(\"a, says nm\")"]);
    let virtually = scene.call("uf:/Script/Game.Cell:greet", &[Value::Object(scene.loud), text("a")]);
    sheet.check("uf", "host calls", "string", &virtually, &["Text(\"a, SAYS THE CELL\")"]);
    let finally = scene.call("uf!:/Script/Game.Cell:greet", &[Value::Object(scene.loud), text("a")]);
    sheet.check("uf!", "host calls", "string", &finally, &["Text(\"a, says the cell\")"]);
    let query = |object, name: &str, kind: &str| scene.probe(object, "query", &[name, kind]);
    let ex = query(scene.probe, "ex:/host.greet", "string");
    sheet.check("ex", "plugin calls", "string", &ex, &["\"a, from ex of the host\""]);
    let nm = query(scene.probe, "nm:/grid:Sorts:greet", "string");
    sheet.check("nm", "plugin calls", "string", &nm, &["\"a, says nm\""]);
    let virtually = query(scene.loud_probe, "uf:/Script/Test.Desk:greet", "string");
    sheet.check("uf", "plugin calls", "string", &virtually, &["\"a, says the probe\""]);
    let finally = query(scene.loud_probe, "uf!:/Script/Test.Desk:greet", "string");
    sheet.check("uf!", "plugin calls", "string", &finally, &["\"a, from the host\""]);
    for (protocol, names) in [("ex", "ex:/host."), ("nm", "nm:/grid:Sorts:")] {
        let name = format!("{names}backwards");
        sheet.check(protocol, "plugin calls", "array", &query(scene.probe, &name, "array"), &["[3, 2, 1]"]);
    }
    for protocol in ["uf", "uf!"] {
        let rack = query(scene.probe, &format!("{protocol}:/Script/Test.Rack:backwards"), "array");
        sheet.check(protocol, "plugin calls", "array", &rack, &["[3, 2, 1]"]);
        let name = format!("{protocol}:/Script/Game.Cell:split");
        let arguments = [Value::Object(scene.cell), Value::U32(17), Value::U32(5)];
        let returned = scene.host.calls().call_with_out_parameters(&name, &arguments);
        let result = returned.map_or_else(|error| error.to_string(), |returned| format!("{returned:?}"));
        sheet.check(protocol, "host calls", "out", &result, &["(Some(U32(3)), [U32(2)])"]);
        let plugin = query(scene.probe, &format!("{protocol}:/Script/Test.Desk:split"), "out");
        sheet.check(protocol, "plugin calls", "out", &plugin, &["(3, 2)"]);
        let double = format!("{protocol}:/Script/Game.Cell:double");
        assert_eq!(scene.call(&double, &[Value::I32(21)]), "I32(42)", "a static function needs no object");
    }
}

/// Checks calls through handles from ended generations, and calls on destroyed objects.
fn stale(sheet: &mut Sheet, scene: &Scene) {
    let Scene { host, cell, probe, .. } = scene;
    let names = [
        ("ex", "ex:/grid.crash", None),
        ("nm", "nm:/grid:Sorts:crash", None),
        ("uf", "uf:/Script/Game.Cell:crash", Some(*cell)),
        ("uf!", "uf!:/Script/Game.Cell:crash", Some(*cell)),
        ("up", "up:/Script/Game.Cell:number", Some(*cell)),
    ];
    let handles = names.map(|(_, name, _)| host.calls().resolve(name).unwrap_or_else(|error| panic!("{error}")));
    let gone = |name: &str| scene.probe(*probe, "query", &[name, "gone"]);
    for (protocol, name) in [
        ("uf", "uf:/Script/Test.Desk:crash"),
        ("uf!", "uf!:/Script/Test.Desk:crash"),
        ("up", "up:/Script/Test.Desk:number"),
    ] {
        sheet.check(protocol, "plugin calls", "stale handle", &gone(name), &["FailureKind(3)", "is gone"]);
    }
    // Functions of the host end with the host. Functions of another module end with that module's generation.
    for name in ["ex:/switchboard.add", "nm:/switchboard:Line:sum"] {
        assert_eq!(scene.probe(*probe, "keep", &[name]), "()");
    }
    assert_eq!(scene.probe(*probe, "call_kept", &[]), "3; 3");
    reloaded(host.reload_changed(&[library(1), adder(2)]));
    let kept = scene.probe(*probe, "call_kept", &[]);
    for (protocol, answer) in ["ex", "nm"].into_iter().zip(kept.split("; ")) {
        sheet.check(
            protocol,
            "plugin calls",
            "stale handle",
            answer,
            &["FailureKind(15)", "is dead, its module has ended"],
        );
    }
    reloaded(host.reload(&[library(2), adder(2)]));
    for ((protocol, name, object), handle) in names.into_iter().zip(handles) {
        let arguments: Vec<_> = object.map(Value::Object).into_iter().chain([Value::I32(1)]).collect();
        let dead =
            text_of(host.calls().call_handle(handle, &arguments[..if protocol == "up" { 1 } else { arguments.len() }]));
        sheet.check(protocol, "host calls", "stale handle", &dead, &["is dead, its module has ended"]);
        let again = host.calls().resolve(name).unwrap_or_else(|error| panic!("{error}"));
        assert_ne!(again, handle, "{name}: a number is never used again");
    }
}

fn threads(sheet: &mut Sheet, scene: &Scene) {
    for (protocol, name) in [("ex", "ex:/host.crash"), ("nm", "nm:/grid:Sorts:crash"), ("nd", "nd:/")] {
        let answer = scene.probe(scene.probe, "query_on_thread", &[name]);
        sheet.check(protocol, "plugin calls", "wrong thread", &answer, &["FailureKind(4)", "resolving a ZCall"]);
    }
    for (protocol, name) in [("uf", "uf:/Script/Test.Desk:crash"), ("uf!", "uf!:/Script/Test.Desk:crash")] {
        let answer = scene.probe(scene.probe, "query_on_thread", &[name]);
        sheet.check(protocol, "plugin calls", "wrong thread", &answer, &["is called on an object"]);
    }
    let answer = scene.probe(scene.probe, "query_on_thread", &["up:/Script/Test.Desk:number"]);
    sheet.check("up", "plugin calls", "wrong thread", &answer, &["FailureKind(4)", "resolving a ZCall"]);
    // The call objects of a host cannot be moved to another thread. The compiler checks this rule.
    let is_bound = sheet::is_thread_bound!(Runtime) && sheet::is_thread_bound!(TypedFunction<(i32,), i32>);
    for protocol in PROTOCOLS {
        sheet.check(protocol, "host calls", "wrong thread", &is_bound.to_string(), &["true"]);
    }
}

/// Passes numbers in place of handles, with and without slot types.
#[test]
fn numbers_in_place_of_handles_are_refused_or_resolve_to_nothing() {
    let scene = Scene::new();
    let own = Value::Object(scene.probe);
    for number in [0, 7, u64::from(u32::MAX), u64::MAX, 1 << 63] {
        for (name, typed, bare) in [
            (
                "up:/Script/Test.Desk:number",
                ["slot 0 holds u64, the call expects conjugate", "`up:/Script/Test.Desk:number`"],
                if number == 0 { "is to no object" } else { "is gone" },
            ),
            ("nd:/", ["u64", "conjugate"], "FailureKind("),
            ("ex:/host.same", ["slot 0 holds u64, the call expects conjugate", "`ex:/host.same`"], ""),
        ] {
            let arguments = [text(name), Value::U64(number)];
            let answer = text_of(scene.host.objects().call(scene.probe, "forge", &arguments));
            let expected = if support::SLOT_TYPES { typed } else { [bare, ""] };
            assert!(expected.iter().all(|expected| answer.contains(expected)), "{name} {number:#x}: {answer}");
        }
    }
    let same = scene.call("uf:/Script/Test.Desk:same", &[own.clone(), own.clone()]);
    assert_eq!(same, format!("{own:?}"), "the host is as it was");
}

#[test]
fn every_protocol_accepts_every_kind_of_value_and_reports_mismatches() {
    let scene = Scene::new();
    let mut sheet = Sheet::default();
    functions_of_the_plugin(&mut sheet, &scene, "ex", "ex:/grid.", None);
    functions_of_the_plugin(&mut sheet, &scene, "nm", "nm:/grid:Sorts:", None);
    functions_of_the_plugin(&mut sheet, &scene, "uf", "uf:/Script/Game.Cell:", Some(scene.cell));
    functions_of_the_plugin(&mut sheet, &scene, "uf!", "uf!:/Script/Game.Cell:", Some(scene.cell));
    functions_for_the_plugin(&mut sheet, &scene, "ex", "ex:/host.", "grid/main.rs");
    functions_for_the_plugin(&mut sheet, &scene, "nm", "nm:/grid:Sorts:", "grid/src/lib.rs");
    functions_for_the_plugin(&mut sheet, &scene, "uf", "uf:/Script/Test.Desk:", "grid/natives.rs");
    functions_for_the_plugin(&mut sheet, &scene, "uf!", "uf!:/Script/Test.Desk:", "grid/natives.rs");
    properties(&mut sheet, &scene);
    delegates(&mut sheet, &scene);
    strings_and_out_parameters(&mut sheet, &scene);
    threads(&mut sheet, &scene);
    stale(&mut sheet, &scene);
    for direction in DIRECTIONS {
        for protocol in ["ex", "nm"] {
            sheet.empty(protocol, direction, "out", "such a function returns all values as its result (ALC0112)");
        }
        sheet.empty("up", direction, "out", "a property has no parameters");
        sheet.empty("up", direction, "error", "a property runs no code of an author's");
        sheet.empty("up", direction, "panic", "a property runs no code of an author's");
        sheet.empty("nd", direction, "out", "the signature of a delegate has none");
    }
    sheet.passes();
    let printed = sheet.to_string();
    print(&printed);
    expect![[r#"
        host calls      ex  uf uf!  up  nm  nd
          numbers        +   +   +   +   +   +
          object         +   +   +   +   +   +
          enum           +   +   +   +   +   +
          out          (1)   +   + (2) (1) (3)
          struct         +   +   +   +   +   +
          string         +   +   +   +   +   +
          array          +   +   +   +   +   +
          error          +   +   + (4)   +   +
          panic          +   +   + (4)   +   +
          stale handle   +   +   +   +   +   +
          wrong slot     +   +   +   +   +   +
          wrong thread   +   +   +   +   +   +
        plugin calls    ex  uf uf!  up  nm  nd
          numbers        +   +   +   +   +   +
          object         +   +   +   +   +   +
          enum           +   +   +   +   +   +
          out          (1)   +   + (2) (1) (3)
          struct         +   +   +   +   +   +
          string         +   +   +   +   +   +
          array          +   +   +   +   +   +
          error          +   +   + (4)   +   +
          panic          +   +   + (4)   +   +
          stale handle   +   +   +   +   +   +
          wrong slot     +   +   +   +   +   +
          wrong thread   +   +   +   +   +   +
        (1) such a function returns all values as its result (ALC0112)
        (2) a property has no parameters
        (3) the signature of a delegate has none
        (4) a property runs no code of an author's
        132 of 144 cells asserted, 12 empty for a reason, 0 without one
    "#]]
    .assert_eq(&printed);
    let host = Rc::new(scene.host);
    Rc::into_inner(host).expect("the only one").shutdown().into_result().unwrap_or_else(|error| panic!("{error}"));
}

#[expect(clippy::print_stdout, reason = "the grid is printed for readers")]
fn print(grid: &str) {
    println!("{grid}");
}
