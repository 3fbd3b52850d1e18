//! Tests references to objects in saved worlds: references of a changed kind, to destroyed and replaced objects, and to the namesake of an
//! orphan.

use crate::support;
use crate::world::{ACTOR, file, load};

use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{ObjectHandle, Runtime, Value};

const KEY: &str = "/Script/Test.Key";

/// Returns a host with a class `Key`. The four properties of the class have these reference kinds.
fn keys(kinds: [(PropertyKind, &'static str); 4]) -> Runtime {
    let key = NativeClass::new("Test", "Key", "/Script/Core.Object");
    let key =
        ["one", "two", "three", "all"].iter().zip(kinds).fold(key, |key, (name, kind)| key.property(name, kind, 0, ""));
    let builder = support::builder().natives(Natives::in_package("Test").class(key));
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn references_of_a_changed_kind_resolve_to_equal_objects() {
    let (_folder, path) = file();
    let first = keys([
        (PropertyKind::OBJECT, ACTOR),
        (PropertyKind::SOFT_OBJECT, ACTOR),
        (PropertyKind::WEAK_OBJECT, ACTOR),
        (PropertyKind::ARRAY, "Object(/Script/Engine.Actor)"),
    ]);
    let spawn = |class| first.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"));
    let (key, doors) = (spawn(KEY), [spawn(ACTOR), spawn(ACTOR), spawn(ACTOR)]);
    let paths = doors.map(|door| first.objects().path_of(door).expect("alive"));
    for (property, value) in [
        ("one", Value::Object(doors[0])),
        ("two", Value::SoftObject(first.intern(&paths[1]))),
        ("three", Value::WeakObject(doors[2])),
        ("all", Value::Array(doors.map(Value::Object).to_vec())),
    ] {
        first.objects().set(key, property, &value).unwrap_or_else(|error| panic!("{property}: {error}"));
    }
    let key = first.objects().path_of(key).expect("alive");
    first.worlds().save(&path).expect("it is saved");

    let second = keys([
        (PropertyKind::SOFT_OBJECT, ACTOR),
        (PropertyKind::OBJECT, ACTOR),
        (PropertyKind::SOFT_OBJECT, ACTOR),
        (PropertyKind::ARRAY, "SoftObject(/Script/Engine.Actor)"),
    ]);
    let report = load(&second, &path);
    let changes: Vec<_> = report.properties.iter().map(|change| (change.kept, change.defaulted)).collect();
    assert_eq!(changes, [(1, 0); 4], "{report}");
    let key = second.objects().at_path(&key).expect("it was loaded");
    let soft = |path: &String| Value::SoftObject(second.intern(path));
    for (property, expected) in [
        ("one", soft(&paths[0])),
        ("two", Value::Object(second.objects().at_path(&paths[1]).expect("it was loaded"))),
        ("three", soft(&paths[2])),
        ("all", Value::Array(paths.iter().map(soft).collect())),
    ] {
        assert_eq!(second.objects().get(key, property).expect("it has the property"), expected, "{property}");
    }
}

/// Loads a soft reference, whose object is not in the file, as a reference by handle and by id. An object that the load replaces has this
/// path.
#[test]
fn a_path_does_not_become_a_reference_to_an_object_that_the_load_replaces() {
    let (_folder, path) = file();
    let soft = (PropertyKind::SOFT_OBJECT, ACTOR);
    let first = keys([soft; 4]);
    let key = first.objects().spawn(KEY).expect("a key");
    first.objects().set(key, "one", &Value::SoftObject(first.intern("/World/Actor_1"))).expect("a path");
    first.worlds().save(&path).expect("it is saved");

    for kind in [PropertyKind::OBJECT, PropertyKind::LAZY_OBJECT] {
        let second = keys([(kind, ACTOR), soft, soft, soft]);
        let replaced = second.objects().spawn(ACTOR).expect("an actor");
        assert_eq!(second.objects().path_of(replaced).as_deref(), Some("/World/Actor_1"));
        let report = load(&second, &path);
        let changes: Vec<_> = report.properties.iter().map(|change| (change.kept, change.defaulted)).collect();
        assert_eq!(changes, [(0, 1)], "{kind:?}: {report}");
    }
}

/// Saves a set and a map, each with keys that refer to two destroyed objects and to an existing object.
#[test]
fn containers_keep_their_objects_although_several_keys_refer_to_destroyed_objects() {
    const WEAK: &str = "WeakObject(/Script/Engine.Actor)";
    let (_folder, path) = file();
    let host = keys([
        (PropertyKind::SET, WEAK),
        (PropertyKind::MAP, "WeakObject(/Script/Engine.Actor), u32"),
        (PropertyKind::ARRAY, WEAK),
        (PropertyKind::OBJECT, ACTOR),
    ]);
    let spawn = |class| host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"));
    let (key, [lost, door, other]) = (spawn(KEY), [spawn(ACTOR), spawn(ACTOR), spawn(ACTOR)]);
    let all = [lost, door, other].map(Value::WeakObject).to_vec();
    let numbers = all.iter().cloned().zip((1..).map(Value::U32)).collect();
    for (property, value) in
        [("one", Value::Set(all.clone())), ("two", Value::Map(numbers)), ("three", Value::Array(all))]
    {
        host.objects().set(key, property, &value).unwrap_or_else(|error| panic!("{property}: {error}"));
    }
    let [key, door] = [key, door].map(|object| host.objects().path_of(object).expect("alive"));
    for object in [lost, other] {
        host.objects().destroy(object);
    }
    host.safe_point();
    host.worlds().save(&path).expect("it is saved");
    let report = load(&host, &path);
    assert_eq!(report.unresolved, Vec::<String>::new(), "{report}");
    let [key, door] = [key, door].map(|path| host.objects().at_path(&path).expect("it was loaded"));
    let [none, door] = [ObjectHandle::NONE, door].map(Value::WeakObject);
    for (property, expected) in [
        ("one", Value::Set(vec![none.clone(), door.clone()])),
        ("two", Value::Map(vec![(none.clone(), Value::U32(1)), (door.clone(), Value::U32(2))])),
        ("three", Value::Array(vec![none.clone(), door, none])),
    ] {
        assert_eq!(host.objects().get(key, property).expect("it has the property"), expected, "{property}");
    }
}

/// Saves an object that has no path, because its outer object is destroyed. A newer object has an equal name.
#[test]
fn a_soft_reference_resolves_to_its_object_although_an_orphan_has_its_name() {
    let (_folder, path) = file();
    let host = keys([(PropertyKind::SOFT_OBJECT, ACTOR); 4]);
    let label = |object: ObjectHandle| host.objects().get(object, "label").expect("an actor has a label");
    let named = |object: ObjectHandle, outer: ObjectHandle| {
        let text = if outer.is_none() { "hero" } else { "orphan" };
        host.objects().rename(object, "Hero", outer).expect("a free name");
        host.objects().set(object, "label", &Value::Text(text.to_owned())).expect("a text");
    };
    let outer = host.objects().spawn(ACTOR).expect("an actor");
    named(host.objects().spawn_in(ACTOR, outer).expect("an actor"), outer);
    let hero = host.objects().spawn(ACTOR).expect("an actor");
    named(hero, ObjectHandle::NONE);
    let key = host.objects().spawn(KEY).expect("a key");
    host.links().point(key, "one", hero).expect("a reference");
    let key = host.objects().path_of(key).expect("alive");
    host.objects().destroy(outer);
    host.safe_point();
    let count = host.objects().iter().len();
    for _ in 0..2 {
        host.worlds().save(&path).expect("it is saved");
        let report = load(&host, &path);
        assert_eq!(report.unresolved, Vec::<String>::new(), "{report}");
        assert_eq!(host.objects().iter().len(), count);
        let key = host.objects().at_path(&key).expect("it was loaded");
        let hero = host.links().resolve(key, "one").expect("a reference");
        assert_eq!(host.objects().path_of(hero).as_deref(), Some("/World/Hero"));
        assert_eq!(label(hero), Value::Text("hero".to_owned()));
        let other = host.objects().at_path("/World/Hero_1").expect("the orphan has a free name");
        assert_eq!(label(other), Value::Text("orphan".to_owned()));
    }
}
