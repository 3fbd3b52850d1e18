//! Tests that every entry point that accepts values by name rejects an object of a wrong class. The error always contains the location, the
//! expected class, and the object with its class. Objects of a matching class, null references, and destroyed objects are accepted.

use crate::support;

use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{NativeClass, NativeType, Natives};
use alcedo_runtime::{CallError, Error, Frame, ObjectHandle, Runtime, Value, World, ZCallFunction};

const OBJECT: &str = "/Script/Core.Object";
const KEY: &str = "/Script/Test.Key";
const WALL: &str = "/Script/Test.Wall";
const LOCK: &str = "/Script/Test.Lock";
const OPENS: &str = "/Script/Test.Opens";

fn turn(_: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let _key: ObjectHandle = frame.take()?;
    frame.finish()
}

fn hang(_: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let _keys = frame.take_value()?;
    frame.finish()
}

/// Returns a host whose locks accept keys. With `anything`, the locks accept any object.
fn host(anything: bool) -> Runtime {
    let key: NativeType = (PropertyKind::OBJECT, if anything { OBJECT } else { KEY });
    let keys: NativeType = (PropertyKind::ARRAY, "Object(/Script/Test.Key)");
    let lock = NativeClass::new("Test", "Lock", OBJECT)
        .property("key", key, 0, "")
        .property("keys", keys, 0, "")
        .property("hint", (PropertyKind::WEAK_OBJECT, KEY), 0, "")
        .property("opener", (PropertyKind::SCRIPT_INTERFACE, OPENS), 0, "")
        .property("turned", (PropertyKind::DELEGATE, "Object(/Script/Test.Key)"), 0, "")
        .function("turn", &[("key", (PropertyKind::OBJECT, KEY))], None, 0, turn)
        .function("hang", &[("keys", keys)], None, 0, hang);
    let natives = Natives::in_package("Test")
        .class(NativeClass::new("Test", "Key", OBJECT).implements(OPENS))
        .class(NativeClass::new("Test", "Wall", OBJECT))
        .class(lock);
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    let signature = |text: &str| text.parse().expect("a signature");
    host.calls().register("turn", signature("Object(/Script/Test.Key)"), |_, _| Ok(None)).expect("the name is free");
    let pass_through = |_: &Runtime, values: &[Value]| Ok(values.first().cloned());
    host.calls()
        .register("give", signature("Object(/Script/Core.Object) -> Object(/Script/Test.Key)"), pass_through)
        .expect("the name is free");
    host.calls()
        .register("lend", signature("Object(/Script/Core.Object) -> Object(/Script/Core.Object)"), pass_through)
        .expect("the name is free");
    let given = signature("Object(/Script/Core.Object) -> Object(/Script/Test.Key)");
    let resolver = move |_: &Runtime, _: &str| Ok(ZCallFunction::new(given.clone(), pass_through));
    host.calls().add_value_resolver("db", resolver).expect("the protocol is free");
    host
}

fn spawn(host: &Runtime, class: &str) -> ObjectHandle {
    host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"))
}

/// Entry point that must check an object, with the location that its error must contain.
type EntryPoint = (&'static str, Box<dyn Fn(&Runtime, ObjectHandle, ObjectHandle) -> Result<(), Error>>);

fn entry_point(
    location: &'static str,
    operation: impl Fn(&Runtime, ObjectHandle, ObjectHandle) -> Result<(), Error> + 'static,
) -> EntryPoint {
    (location, Box::new(operation))
}

fn entry_points() -> Vec<EntryPoint> {
    let row = |object| Value::Array(vec![Value::Object(ObjectHandle::NONE), Value::Object(object)]);
    vec![
        entry_point("/Script/Test.Lock:key", |host, lock, key| host.objects().set(lock, "key", &Value::Object(key))),
        entry_point("/Script/Test.Lock:keys[1]", move |host, lock, key| host.objects().set(lock, "keys", &row(key))),
        entry_point("/Script/Test.Lock:hint", |host, lock, key| {
            host.objects().set(lock, "hint", &Value::WeakObject(key))
        }),
        entry_point("/Script/Test.Lock:opener", |host, lock, key| {
            host.objects().set(lock, "opener", &Value::ScriptInterface(key))
        }),
        entry_point("/Script/Test.Lock:key", |host, lock, key| Ok(host.world().set(lock, "key", key)?)),
        entry_point("/Script/Test.Lock:key", |host, lock, key| {
            Ok(host.world().write(lock, "key", &Value::Object(key))?)
        }),
        entry_point("/Script/Test.Lock:turn:key", |host, lock, key| {
            host.objects().call(lock, "turn", &[Value::Object(key)]).map(drop)
        }),
        entry_point("/Script/Test.Lock:hang:keys[1]", move |host, lock, key| {
            host.objects().call(lock, "hang", &[row(key)]).map(drop)
        }),
        entry_point("/Script/Test.Lock:turn:key", |host, lock, key| {
            host.links().broadcast(lock, "turned", &[Value::Object(key)]).map(drop)
        }),
        entry_point("`uf:/Script/Test.Lock:turn` (Object(/Script/Test.Key)): argument 1", |host, lock, key| {
            host.calls().call("uf:/Script/Test.Lock:turn", &[lock, key].map(Value::Object)).map(drop)
        }),
        entry_point("`uf!:/Script/Test.Lock:turn` (Object(/Script/Test.Key)): argument 1", |host, lock, key| {
            let handle = host.calls().resolve("uf!:/Script/Test.Lock:turn")?;
            host.calls().call_handle(handle, &[lock, key].map(Value::Object)).map(drop)
        }),
        entry_point(
            "`uf:/Script/Test.Lock:hang` (Array(Object(/Script/Test.Key))): argument 1[1]",
            move |host, lock, key| {
                host.calls().call("uf:/Script/Test.Lock:hang", &[Value::Object(lock), row(key)]).map(drop)
            },
        ),
        entry_point("`up:/Script/Test.Lock:key`", |host, lock, key| {
            host.calls().call("up:/Script/Test.Lock:key", &[lock, key].map(Value::Object)).map(drop)
        }),
        entry_point("`ex:/turn` (Object(/Script/Test.Key)): argument 0", |host, _, key| {
            host.calls().call("ex:/turn", &[Value::Object(key)]).map(drop)
        }),
        entry_point("the result of `ex:/give`", |host, _, key| {
            host.calls().call("ex:/give", &[Value::Object(key)]).map(drop)
        }),
        entry_point("the result of `db:/give`", |host, _, key| {
            host.calls().call("db:/give", &[Value::Object(key)]).map(drop)
        }),
        entry_point("a new value of Array(Object(/Script/Test.Key))[1]", move |host, _, key| {
            host.conjugates()
                .make("Array(Object(/Script/Test.Key))", &row(key))
                .map(|black| host.conjugates().give_back(black))
        }),
        entry_point("the value of a conjugate of Array(Object(/Script/Test.Key))[1]", move |host, _, key| {
            let black = host.conjugates().make("Array(Object(/Script/Test.Key))", &Value::Array(vec![]))?;
            let written = host.conjugates().write(black, &row(key));
            host.conjugates().give_back(black);
            written
        }),
    ]
}

#[test]
fn an_object_of_the_wrong_class_is_refused_at_every_entry_point() {
    let host = host(false);
    let [lock, key, wall, gone] = [LOCK, KEY, WALL, WALL].map(|class| spawn(&host, class));
    host.links().bind(lock, "turned", lock, "turn").expect("it fits");
    host.objects().destroy(gone);
    for (at, (expected, operation)) in entry_points().into_iter().enumerate() {
        for passes in [key, ObjectHandle::NONE, gone] {
            operation(&host, lock, passes).unwrap_or_else(|error| panic!("door {at}: {error}"));
        }
        let before = host.worlds().hash();
        let refused = operation(&host, lock, wall).expect_err("a wall is not a key");
        let Error::Call(CallError::WrongClass { place, handle, found, expected: class }) = &refused else {
            panic!("door {at}: {refused}");
        };
        assert_eq!((place.as_str(), *handle, found.as_str()), (expected, wall, WALL), "door {at}");
        assert!(class == KEY || *class == format!("class that implements {OPENS}"), "door {at}: {class}");
        let sentence = format!("{expected}: object {wall} is a {WALL}, not a {class}");
        assert_eq!(refused.to_string(), sentence, "door {at}");
        assert_eq!(host.worlds().hash(), before, "door {at}");
    }
}

#[test]
fn an_untyped_plugin_passes_no_wrong_objects_to_typed_code() {
    let host = host(false);
    host.create_master(&[support::plugin("values", &[])]).unwrap_or_else(|error| panic!("{error}"));
    let [lock, key, wall, ringer] = [LOCK, KEY, WALL, "/Script/Game.Ringer"].map(|class| spawn(&host, class));
    let bell = spawn(&host, "/Script/Game.Bell");
    let call_text = |function: &str, arguments: &[Value]| match host.objects().call(ringer, function, arguments) {
        Ok(Some(Value::Text(text))) => text,
        other => panic!("{other:?}"),
    };
    let text = |text: &str| Value::Text(text.to_owned());
    let pass = |name: &str, object| call_text("pass", &[text(name), Value::Object(object)]);
    assert_eq!(pass("ex:/turn", key), "passed");
    let refusal = |place: &str| format!("{place}: object {wall} is a {WALL}, not a {KEY}");
    assert_eq!(pass("ex:/turn", wall), refusal("`ex:/turn` (Object(/Script/Test.Key)): argument 0"));
    let put =
        |object| call_text("put", &[text("up:/Script/Test.Lock:key"), Value::Object(lock), Value::Object(object)]);
    assert_eq!(put(key), "passed");
    assert_eq!(put(wall), refusal("`up:/Script/Test.Lock:key`"));
    assert_eq!(host.objects().get(lock, "key").expect("a property"), Value::Object(key));
    // A call without a signature also checks its result.
    let take = |object| call_text("take_bell", &[Value::Object(object)]);
    assert_eq!(take(bell), "/Script/Game.Bell");
    assert_eq!(take(wall), format!("object {wall} is a {WALL}, not a /Script/Game.Bell"));
    // Calls the plugin's own function `take`, whose parameters have Rust types.
    assert_eq!(call_text("take", &[Value::Object(bell)]), "/Script/Game.Bell");
}

#[test]
fn a_world_with_mismatched_references_loads_without_them() {
    let path = support::test_dir().join("wrong_class.world");
    let old = host(true);
    let [lock, other, wall, key] = [LOCK, LOCK, WALL, KEY].map(|class| spawn(&old, class));
    old.objects().set(lock, "key", &Value::Object(wall)).expect("any object is accepted");
    old.objects().set(other, "key", &Value::Object(key)).expect("any object is accepted");
    old.worlds().save(&path).unwrap_or_else(|error| panic!("{error}"));
    drop(old);
    let host = host(false);
    let report = host.worlds().load(&path).unwrap_or_else(|error| panic!("{error}"));
    let at = |name: &str| host.objects().at_path(&format!("/World/{name}")).unwrap_or_else(|| panic!("{name} exists"));
    assert_eq!(host.objects().get(at("Lock_1"), "key").expect("a property"), Value::Object(ObjectHandle::NONE));
    assert_eq!(host.objects().get(at("Lock_2"), "key").expect("a property"), Value::Object(at("Key_1")));
    let expected = format!("Lock_1.key: {LOCK}:key: object {} is a {WALL}, not a {KEY}", at("Wall_1"));
    assert_eq!(report.unresolved, [expected], "{report}");
}
