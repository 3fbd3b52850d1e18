//! Tests interfaces with functions. The declaring module, another module and the host have classes that implement the interfaces. The
//! functions are called through a reference, on an object, and by name, also after reloads. A class that lacks a declared function is
//! rejected.

use crate::support;

use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{NativeClass, NativeInterface, Natives};
use alcedo_runtime::{CallError, Error, Frame, ObjectHandle, Runtime, Value, World};

const LAMP: &str = "/Script/Game.Lamp";
const TWIN: &str = "/Script/Game.TwinLamp";
const CANDLE: &str = "/Script/Game.Candle";
const ROOM: &str = "/Script/Game.Room";
const SWITCHES: &str = "/Script/Test.Switches";

fn lamp_host() -> Runtime {
    support::host(&[support::plugin("lamps", &[]), support::plugin("lamps-plus", &[])])
}

fn spawn(host: &Runtime, class: &str) -> ObjectHandle {
    host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"))
}

/// Formats the result or the error of a call, without the call site.
fn call_text(host: &Runtime, object: ObjectHandle, function: &str, arguments: &[Value]) -> String {
    words(host.objects().call(object, function, arguments))
}

fn words(result: Result<Option<Value>, Error>) -> String {
    match result {
        Ok(Some(Value::Text(text))) => text,
        Ok(value) => format!("{value:?}"),
        Err(Error::Call(CallError::Returned { message, .. })) => format!("an error: {message}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_interface_reference_calls_any_implementing_class() {
    let host = lamp_host();
    let room = spawn(&host, ROOM);
    let light_up = |how| call_text(&host, room, "light_up", &[Value::F64(how)]);
    assert_eq!(light_up(0.5), "dark");
    let lights = [LAMP, TWIN, CANDLE].map(|class| spawn(&host, class));
    host.objects().set(lights[2], "room", &Value::Object(room)).expect("it is a property");
    let results = lights.map(|light| {
        host.objects().call(room, "put_up", &[Value::Object(light)]).expect("it shines");
        [light_up(0.05), light_up(0.75)]
    });
    let expected = [
        ["white 0.05 0", "white 0.75 0"],
        ["white 0.1 0", "an error: 1.5 is too bright for 1"],
        // The candle calls back into the room while the plugin part of the room is borrowed.
        ["yellow 0.1 1", "an error: a candle is not that bright"],
    ];
    assert_eq!(results, expected.map(|pair| pair.map(str::to_owned)));
    let refused = put_up_room(&host, room);
    assert!(refused.contains("/Script/Game.Room, not a"), "{refused}");
}

/// Calls a function with an object that does not implement the interface.
fn put_up_room(host: &Runtime, room: ObjectHandle) -> String {
    call_text(host, room, "put_up", &[Value::Object(room)])
}

#[test]
fn an_object_casts_to_the_interfaces_of_its_class() {
    let host = lamp_host();
    let (room, candle) = (spawn(&host, ROOM), spawn(&host, CANDLE));
    assert_eq!(call_text(&host, room, "inspect", &[Value::Object(candle)]), "yellow");
    let refused = call_text(&host, room, "inspect", &[Value::Object(room)]);
    assert!(refused.contains("a /Script/Game.Room, not a") && refused.contains("/Script/Game.Shines"), "{refused}");
    host.objects().call(room, "put_up", &[Value::Object(candle)]).expect("it shines");
    let gone = call_text(&host, room, "break_light", &[]);
    assert!(gone.contains("is gone"), "{gone}");
    assert_eq!(call_text(&host, room, "light_up", &[Value::F64(0.0)]), "dark");
}

#[test]
fn a_host_calls_a_function_of_an_interface_by_name() {
    let host = lamp_host();
    let (lamp, candle, room) = (spawn(&host, LAMP), spawn(&host, CANDLE), spawn(&host, ROOM));
    let color = host.calls().resolve("uf:/Script/Game.Shines:color").expect("there is such a function");
    let call = |object| words(host.calls().call_handle(color, &[Value::Object(object)]));
    assert_eq!([call(lamp), call(candle)], ["white", "yellow"]);
    assert!(call(room).contains("not a class that implements /Script/Game.Shines"), "{}", call(room));
    assert!(call(ObjectHandle::NONE).contains("is to no object"), "{}", call(ObjectHandle::NONE));
    let unknown = host.calls().resolve("uf:/Script/Game.Shines:colour").expect_err("it is misspelled");
    assert!(matches!(unknown, Error::Call(CallError::NotFound { .. })), "{unknown}");

    // A function handle ends with the generation that declares the interface.
    let lamps = [support::plugin("lamps", &[]), support::plugin("lamps-plus", &[])];
    host.reload(&lamps).unwrap_or_else(|error| panic!("{error}"));
    let dead = host.calls().call_handle(color, &[Value::Object(lamp)]).expect_err("its module has ended");
    assert!(matches!(dead, Error::Call(CallError::DeadHandle { .. })), "{dead}");
    assert_eq!(words(host.calls().call("uf:/Script/Game.Shines:color", &[Value::Object(lamp)])), "white");
}

#[test]
fn references_and_calls_survive_reloads_of_both_modules_and_of_one() {
    let host = lamp_host();
    let (room, candle) = (spawn(&host, ROOM), spawn(&host, CANDLE));
    host.objects().call(room, "put_up", &[Value::Object(candle)]).expect("it shines");
    let light_up = || call_text(&host, room, "light_up", &[Value::F64(0.01)]);
    assert_eq!(light_up(), "yellow 0.1 0");
    for _ in 0..2 {
        host.reload(&[support::plugin("lamps", &[]), support::plugin("lamps-plus", &[])])
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(light_up(), "yellow 0.1 0");
    }
    host.reload_changed(&[support::plugin("lamps", &[]), support::tagged("lamps-plus", &[], 2)])
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(light_up(), "yellow 0.1 0");
}

#[test]
fn a_class_missing_an_interface_function_is_refused_listing_both_sides() {
    let host = lamp_host();
    let (room, candle) = (spawn(&host, ROOM), spawn(&host, CANDLE));
    host.objects().call(room, "put_up", &[Value::Object(candle)]).expect("it shines");
    let refused = |lamps: &[&str], plus: &[&str]| {
        let libraries = [support::plugin("lamps", lamps), support::plugin("lamps-plus", plus)];
        let refused = host.reload(&libraries).map(|reload| format!("{reload}"));
        match refused {
            Err(error) => error.to_string(),
            Ok(report) => report,
        }
    };
    let error = refused(&["fades"], &[]);
    let expected = "/Script/Game.Candle implements /Script/Game.Shines, which declares fade(f64); /Script/Game.Candle has no \
                  function fade";
    assert!(error.contains(expected), "{error}");
    let error = refused(&[], &["drifted"]);
    let expected = "/Script/Game.Candle implements /Script/Game.Shines, which declares shine(f64 -> f64); /Script/Game.Candle has \
                  shine(f32 -> f64)";
    assert!(error.contains(expected), "{error}");
    // The rejected reloads have not changed the host.
    assert_eq!(call_text(&host, room, "light_up", &[Value::F64(0.01)]), "yellow 0.1 0");
}

fn switch(_: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let on: bool = frame.take()?;
    frame.finish()?;
    if on { frame.set_result("bulb on".to_owned()) } else { Err(CallError::returned("the bulb is stuck")) }
}

fn natives(result: PropertyKind) -> Natives {
    let switches = NativeInterface::new("Test", "Switches").doc("Switchable object.");
    let switches = switches.function("switch", &[("on", (PropertyKind::BOOL, ""))], Some((result, "")));
    let switches = switches.function_doc("switch", "Switches and returns the new state.");
    let bulb = NativeClass::new("Test", "Bulb", "/Script/Core.Object").implements(SWITCHES).function(
        "switch",
        &[("on", (PropertyKind::BOOL, ""))],
        Some((PropertyKind::STRING, "")),
        0,
        switch,
    );
    Natives::in_package("Test").interface_with_functions(switches).class(bulb)
}

#[test]
fn the_module_uses_them_by_glue() {
    support::glue_is_written(natives(PropertyKind::STRING), "Test", "lamps-plus", "switches.rs");
}

#[test]
fn native_classes_and_those_of_modules_implement_an_interface_of_the_host() {
    let host =
        support::builder().natives(natives(PropertyKind::STRING)).build().unwrap_or_else(|error| panic!("{error}"));
    let libraries = [support::plugin("lamps", &[]), support::plugin("lamps-plus", &["natives"])];
    host.create_master(&libraries).unwrap_or_else(|error| panic!("{error}"));
    let [first, second] = ["/Script/Game.Relay"; 2].map(|class| spawn(&host, class));
    let bulb = spawn(&host, "/Script/Test.Bulb");
    host.objects().set(first, "next", &Value::ScriptInterface(second)).expect("it switches");
    host.objects().set(second, "next", &Value::ScriptInterface(bulb)).expect("it switches");
    for generation in 1..=3 {
        let call = |on| {
            let arguments = [Value::Object(first), Value::Bool(on)];
            words(host.calls().call("uf:/Script/Test.Switches:switch", &arguments))
        };
        assert_eq!([call(true), call(false)], ["relay, relay, bulb on", "an error: the bulb is stuck"], "{generation}");
        host.reload(&libraries).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn an_interface_reference_to_a_dormant_object_is_loaded_and_saved() {
    let host = || {
        let panel = NativeClass::new("Test", "Panel", "/Script/Core.Object");
        let panel = panel.property("next", (PropertyKind::SCRIPT_INTERFACE, SWITCHES), 0, "");
        let natives = natives(PropertyKind::STRING).class(panel);
        support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"))
    };
    let create = |host: &Runtime| {
        let libraries = [support::plugin("lamps", &[]), support::plugin("lamps-plus", &["natives"])];
        host.create_master(&libraries).unwrap_or_else(|error| panic!("{error}"));
    };
    let (folder, first) = (tempfile::tempdir().expect("a folder"), host());
    let file = folder.path().join("world");
    create(&first);
    let objects = ["/Script/Test.Panel", "/Script/Game.Relay"].map(|class| spawn(&first, class));
    first.objects().set(objects[0], "next", &Value::ScriptInterface(objects[1])).expect("it switches");
    let paths = objects.map(|object| first.objects().path_of(object).expect("it is alive"));
    first.worlds().save(&file).expect("it is saved");
    for is_dormant in [true, false] {
        let host = host();
        if !is_dormant {
            create(&host);
        }
        let report = host.worlds().load(&file).unwrap_or_else(|error| panic!("{error}"));
        assert!(report.unresolved.is_empty(), "{report}");
        let [panel, relay] = paths.each_ref().map(|path| host.objects().at_path(path).expect("it was loaded"));
        assert_eq!(host.objects().dormant_class(relay).is_some(), is_dormant);
        assert_eq!(host.objects().get(panel, "next").expect("it has the property"), Value::ScriptInterface(relay));
        host.worlds().save(&file).expect("it is saved");
    }
}

#[test]
fn a_native_class_that_has_another_function_than_its_interface_is_refused() {
    let Err(error) = support::builder().natives(natives(PropertyKind::U32)).build() else {
        panic!("the signatures differ")
    };
    let expected = "/Script/Test.Bulb implements /Script/Test.Switches, which declares switch(bool -> u32); /Script/Test.Bulb has \
                  switch(bool -> String)";
    assert!(error.to_string().contains(expected), "{error}");
}
