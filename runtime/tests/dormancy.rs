//! Tests a class that one reload removes and a later reload restores. In between, the objects of the class are dormant. When the class
//! returns, the objects have their old state. If the class then has another native base class, its objects are constructed again and keep
//! their handles.

use crate::support;

use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{Budget, Error, ObjectHandle, ReloadReport, Runtime, Value};
use expect_test::{Expect, expect};

const GHOST: &str = "/Script/Game.Ghost";
const PHANTOM: &str = "/Script/Game.Phantom";
const DIVER: &str = "/Script/Game.Diver";
const ACTOR: &str = "/Script/Engine.Actor";

fn host() -> Runtime {
    support::host(&[support::plugin("migration", &[])])
}

fn reload(host: &Runtime, features: &[&str]) -> ReloadReport {
    let report = host.reload(&[support::plugin("migration", features)]).expect("a Master");
    report.into_result().unwrap_or_else(|report| panic!("{report}"))
}

/// Returns two ghosts. The first has only default values. The second differs in every value, and references the first ghost.
fn ghosts(host: &Runtime) -> [ObjectHandle; 2] {
    let [plain, changed] = [(); 2].map(|()| host.objects().spawn(GHOST).expect("a ghost"));
    host.objects().set(changed, "chill", &Value::F64(-4.5)).expect("a number");
    host.objects().set(changed, "look", &Value::Text("grim".to_owned())).expect("a text");
    host.objects().set(changed, "haunts", &Value::Object(plain)).expect("a reference");
    host.objects().set(changed, "label", &Value::Text("of the base".to_owned())).expect("a text");
    host.objects().call(changed, "moan", &[]).expect("it moans");
    host.objects().call(changed, "moan", &[]).expect("it moans");
    [plain, changed]
}

fn state_of(host: &Runtime, object: ObjectHandle, properties: &str) -> String {
    let line = |property: &str| match host.objects().get(object, property) {
        Ok(Value::Name(name)) => format!("{property} = Name({:?})\n", host.text(name)),
        Ok(value) => format!("{property} = {value:?}\n"),
        Err(error) => format!("{property}: {error}\n"),
    };
    let own = host.objects().call(object, "own", &[]).map_or_else(|error| error.to_string(), |own| format!("{own:?}"));
    properties.split_whitespace().map(line).collect::<String>() + &own + "\n"
}

fn check(host: &Runtime, object: ObjectHandle, properties: &str, expected: Expect) {
    expected.assert_eq(&state_of(host, object, properties));
}

fn subobject(host: &Runtime, object: ObjectHandle, property: &str) -> ObjectHandle {
    match host.objects().get(object, property) {
        Ok(Value::Object(part)) => part,
        other => panic!("{property} is a reference: {other:?}"),
    }
}

/// Returns the report lines about classes. Omits the lines about properties of the plugin's other classes.
fn classes(report: &ReloadReport) -> Vec<String> {
    report.classes.iter().map(|entry| format!("{} {}: {}", entry.class, entry.change, entry.objects)).collect()
}

#[test]
fn objects_of_a_removed_class_are_dormant_as_their_nearest_base() {
    let host = host();
    let [plain, changed] = ghosts(&host);
    let sheet = subobject(&host, changed, "sheet");
    let report = reload(&host, &["v2"]);
    assert_eq!(
        classes(&report),
        ["Game.Ghost is gone: its objects are dormant and seen as Engine.Actor until it returns: 2"]
    );
    assert_eq!((report.objects_kept, report.conjugates_rebuilt), (4, 0), "two ghosts and two sheets, all dormant");
    for ghost in [plain, changed] {
        assert!(host.objects().is_alive(ghost));
        assert_eq!(host.objects().class_of(ghost).as_deref(), Some(ACTOR));
        assert_eq!(host.objects().dormant_class(ghost).as_deref(), Some(GHOST));
        assert_eq!(host.conjugates().color_of(ghost), None, "it has no plugin part");
        assert_eq!(
            host.objects().get(ghost, "can_tick").expect("of the base"),
            Value::Bool(false),
            "a dormant object is not ticked"
        );
    }
    assert!(host.objects().is_alive(sheet), "objects inside a dormant object stay");
    check(
        &host,
        changed,
        "label chill",
        expect![[r#"
            label = Text("of the base")
            chill: /Script/Engine.Actor has no property `chill`
            /Script/Engine.Actor has no function `own`
        "#]],
    );
    let error = host.objects().spawn(GHOST).expect_err("the class is dormant");
    assert!(matches!(error, Error::UnknownClass { waiting: 2, .. }));
    expect!["class /Script/Game.Ghost not found: it is dormant, since the loaded modules no longer declare it; 2 objects wait for a reload that restores it"].assert_eq(&error.to_string());
    host.tick(Budget::frame());
}

#[test]
fn dormant_objects_wake_with_their_values_even_after_several_reloads() {
    let host = host();
    let [plain, changed] = ghosts(&host);
    let sheets = [plain, changed].map(|ghost| subobject(&host, ghost, "sheet"));
    reload(&host, &["v2"]);
    host.objects().set(changed, "label", &Value::Text("written in its sleep".to_owned())).expect("a text");
    let report = reload(&host, &["v2"]);
    assert_eq!(classes(&report), ["Game.Ghost is still gone: its objects are dormant and seen as Engine.Actor: 2"]);
    assert_eq!(host.collection().collect().expect("a safe point"), 0, "and what they refer to is held");
    let report = reload(&host, &[]);
    assert_eq!(classes(&report), ["Game.Ghost is back: its objects are awake: 2"]);
    assert_eq!((report.objects_kept, report.conjugates_rebuilt, report.class_constructors_rerun), (4, 2, 0));
    let properties = "chill look label can_tick";
    check(
        &host,
        changed,
        properties,
        expect![[r#"
            chill = F64(-4.5)
            look = Text("grim")
            label = Text("written in its sleep")
            can_tick = Bool(true)
            Some(Text("moans=2 steps=0"))
        "#]],
    );
    check(
        &host,
        plain,
        properties,
        expect![[r#"
            chill = F64(10.0)
            look = Text("pale")
            label = Text("")
            can_tick = Bool(true)
            Some(Text("moans=0 steps=0"))
        "#]],
    );
    assert_eq!(host.objects().get(changed, "haunts").expect("a reference"), Value::Object(plain));
    for (ghost, sheet) in [plain, changed].into_iter().zip(sheets) {
        assert_eq!(host.objects().class_of(ghost).as_deref(), Some(GHOST));
        assert_eq!(host.objects().dormant_class(ghost), None);
        assert!(host.conjugates().color_of(ghost).is_some());
        assert_eq!(subobject(&host, ghost, "sheet"), sheet, "the very one");
        assert_eq!(subobject(&host, ghost, "root_component"), sheet);
    }
}

#[test]
fn a_class_that_returns_changed_restores_matching_values() {
    let host = host();
    let [plain, changed] = ghosts(&host);
    let sheet = subobject(&host, changed, "sheet");
    reload(&host, &["v2"]);
    let report = reload(&host, &["ghost-later"]);
    let lines: Vec<_> = report
        .properties
        .iter()
        .filter(|change| change.class == "Game.Ghost")
        .map(|change| (change.property.as_str(), change.kept, change.followed, change.defaulted, change.dropped))
        .collect();
    assert_eq!(lines, [("cold", 1, 1, 0, 0), ("look", 1, 1, 0, 0), ("haunts", 1, 1, 0, 0)]);
    check(
        &host,
        changed,
        "cold look can_tick",
        expect![[r#"
            cold = F64(-4.5)
            look = Name("grim")
            can_tick = Bool(false)
            Some(Text("later moans=2"))
        "#]],
    );
    check(
        &host,
        plain,
        "cold look",
        expect![[r#"
            cold = F64(20.0)
            look = Name("")
            Some(Text("later moans=0"))
        "#]],
    );
    assert!(!host.objects().is_alive(sheet), "the class no longer has this subobject");
    let chain = subobject(&host, changed, "chain");
    assert_eq!((host.objects().is_alive(chain), host.objects().outer_of(chain)), (true, Some(changed)));
    assert_eq!(subobject(&host, changed, "root_component"), chain);
}

#[test]
fn a_dormant_object_appears_as_its_base_without_a_plugin_part() {
    let host = host();
    let phantom = host.objects().spawn(PHANTOM).expect("a phantom");
    host.objects().set(phantom, "veil", &Value::I32(9)).expect("a number");
    host.objects().set(phantom, "chill", &Value::F64(1.25)).expect("a number");
    host.objects().call(phantom, "moan", &[]).expect("it moans");
    host.objects().call(phantom, "appear", &[]).expect("it is seen");
    let report = reload(&host, &["ghost-later"]);
    assert_eq!(
        classes(&report),
        ["Game.Phantom is gone: its objects are dormant and seen as Game.Ghost until it returns: 1"]
    );
    assert_eq!(host.objects().class_of(phantom).as_deref(), Some(GHOST));
    check(
        &host,
        phantom,
        "cold",
        expect![[r#"
            cold = F64(1.25)
            the plugin part of Game.Ghost (Phantom_1), which is dormant until /Script/Game.Phantom returns, that `Game.Ghost:own` needs is not available: it does not exist yet, is being built or replaced, or has ended
        "#]],
    );
    let report = reload(&host, &["v2"]);
    assert_eq!(classes(&report), ["Game.Phantom is still gone: its objects are dormant and seen as Engine.Actor: 1"]);
    reload(&host, &[]);
    check(
        &host,
        phantom,
        "chill veil",
        expect![[r#"
            chill = F64(1.25)
            veil = I32(9)
            Some(Text("moans=1 steps=0"))
        "#]],
    );
    assert_eq!(host.objects().call(phantom, "appear", &[]).expect("it is seen"), Some(Value::U32(2)));
}

#[test]
fn a_value_set_during_dormancy_is_kept_on_waking() {
    let host = host();
    let phantom = host.objects().spawn(PHANTOM).expect("a phantom");
    host.objects().set(phantom, "chill", &Value::F64(1.25)).expect("a number");
    reload(&host, &["v2"]);
    reload(&host, &["ghost-later"]);
    host.objects().set(phantom, "cold", &Value::F64(2.5)).expect("a number of the base");
    reload(&host, &["v2"]);
    reload(&host, &[]);
    assert_eq!(host.objects().get(phantom, "chill").expect("a number"), Value::F64(2.5));
}

#[test]
fn a_dormant_object_waking_on_another_native_class_keeps_its_fields() {
    let host = host();
    let diver = host.objects().spawn(DIVER).expect("a diver");
    host.objects().set(diver, "depth", &Value::F64(40.0)).expect("a number");
    host.objects().call(diver, "dive", &[]).expect("it dives");
    let without = host.reload(&[support::plugin("magic-cube", &[])]).expect("a Master");
    without.into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(host.objects().dormant_class(diver).as_deref(), Some(DIVER));
    reload(&host, &["v2"]);
    assert!(host.objects().is_a(diver, "/Script/Engine.SceneComponent"));
    check(
        &host,
        diver,
        "depth constructed_as",
        expect![[r#"
            depth = F64(40.0)
            constructed_as = Text("component")
            Some(Text("component dives=1 breath=0"))
        "#]],
    );
}

#[test]
fn a_failed_reload_makes_no_object_dormant_and_wakes_none() {
    let host = host();
    let [_, changed] = ghosts(&host);
    let fail = |features: &[&str]| {
        let before = (host.worlds().digest(), state_of(&host, changed, "chill look"));
        let armed = faults::arm(Fault { step: ReloadStep::BeforeCommit, nth: 0, kind: FaultKind::Error });
        let report = host.reload(&[support::plugin("migration", features)]).expect("a Master");
        drop(armed);
        assert!(!report.is_committed(), "{report}");
        assert_eq!(report.classes, vec![]);
        assert_eq!(before.0.differences(&host.worlds().digest()), Vec::<String>::new());
        assert_eq!(state_of(&host, changed, "chill look"), before.1);
    };
    fail(&["v2"]);
    reload(&host, &["v2"]);
    fail(&[]);
    assert_eq!(host.objects().dormant_class(changed).as_deref(), Some(GHOST));
    reload(&host, &[]);
    assert_eq!(host.objects().dormant_class(changed), None);
}

#[test]
fn a_dormant_object_keeps_its_references_until_destroyed() {
    let host = host();
    let owner = host.objects().spawn(ACTOR).expect("an actor");
    let [_, changed] = ghosts(&host);
    let held = host.objects().spawn_in(ACTOR, owner).expect("an actor that only a reference keeps");
    host.objects().set(changed, "haunts", &Value::Object(held)).expect("a reference");
    reload(&host, &["v2"]);
    assert_eq!(host.collection().collect().expect("a safe point"), 0);
    assert!(host.objects().is_alive(held));
    host.objects().destroy(changed);
    assert!(!host.objects().is_alive(changed));
    host.collection().collect().expect("a safe point");
    assert!(!host.objects().is_alive(held), "its last reference is gone");
    let report = reload(&host, &[]);
    assert_eq!(classes(&report), ["Game.Ghost is back: its objects are awake: 1"]);
}

#[test]
fn an_unload_destroys_dormant_objects_too() {
    let host = host();
    let [plain, changed] = ghosts(&host);
    reload(&host, &["v2"]);
    let unload = host.unload_master().expect("a Master");
    assert_eq!(unload.objects_ended, 2);
    assert!(!host.objects().is_alive(plain) && !host.objects().is_alive(changed));
}

#[test]
fn an_object_whose_native_base_changes_is_recreated_under_its_handle() {
    let host = host();
    let [plain, changed] = [(); 2].map(|()| host.objects().spawn(DIVER).expect("a diver"));
    host.objects().set(changed, "depth", &Value::F64(40.0)).expect("a number");
    host.objects().set(changed, "can_tick", &Value::Bool(true)).expect("a property of both bases");
    host.objects().set(changed, "label", &Value::Text("gone with the actor".to_owned())).expect("a text");
    host.objects().call(changed, "dive", &[]).expect("it dives");
    host.tick(Budget::frame());
    let suits = [plain, changed].map(|diver| subobject(&host, diver, "suit"));
    let constructions = host.counters().constructions;
    let report = reload(&host, &["v2"]);
    assert_eq!(classes(&report), ["Game.Diver extends Engine.SceneComponent now: its objects were recreated: 2"]);
    assert_eq!((report.conjugates_rebuilt, report.class_constructors_rerun), (2, 0));
    assert_eq!(host.counters().constructions, constructions, "no object was constructed in addition");
    let properties = "depth constructed_as can_tick has_begun_play relative_location label";
    check(
        &host,
        changed,
        properties,
        expect![[r#"
            depth = F64(40.0)
            constructed_as = Text("component")
            can_tick = Bool(true)
            has_begun_play = Bool(false)
            relative_location = Struct([("x", F64(0.0)), ("y", F64(0.0)), ("z", F64(0.0))])
            label: /Script/Game.Diver has no property `label`
            Some(Text("component dives=1 breath=0"))
        "#]],
    );
    check(
        &host,
        plain,
        "depth can_tick",
        expect![[r#"
            depth = F64(3.0)
            can_tick = Bool(false)
            Some(Text("component dives=0 breath=0"))
        "#]],
    );
    for (diver, suit) in [plain, changed].into_iter().zip(suits) {
        assert!(host.objects().is_a(diver, "/Script/Engine.SceneComponent"));
        assert_eq!(subobject(&host, diver, "suit"), suit, "subobjects of both bases are kept");
        assert_eq!(host.objects().outer_of(suit), Some(diver));
    }
    host.tick(Budget::frame());
    assert_eq!(
        host.objects().get(plain, "has_begun_play").expect("a property"),
        Value::Bool(true),
        "play begins again"
    );
    reload(&host, &[]);
    assert_eq!(
        state_of(&host, changed, "depth constructed_as"),
        "depth = F64(40.0)\nconstructed_as = Text(\"actor\")\nSome(Text(\"actor dives=1 breath=0\"))\n"
    );
}

#[test]
fn references_reset_when_a_class_moves_and_return_with_the_class() {
    let holder = NativeClass::new("Test", "Keeper", "/Script/Core.Object")
        .property("keeps", (PropertyKind::OBJECT, ACTOR), 0, "")
        .property("hint", (PropertyKind::WEAK_OBJECT, ACTOR), 0, "")
        .property("any", (PropertyKind::OBJECT, "/Script/Core.Object"), 0, "")
        .property("all", (PropertyKind::ARRAY, "Object(/Script/Engine.Actor)"), 0, "");
    let natives = Natives::in_package("Test").class(holder);
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[support::plugin("migration", &[])]).unwrap_or_else(|error| panic!("{error}"));
    let [holder, busy] = [(); 2].map(|()| host.objects().spawn("/Script/Test.Keeper").expect("a keeper"));
    let (diver, actor) =
        (host.objects().spawn(DIVER).expect("a diver"), host.objects().spawn(ACTOR).expect("an actor"));
    let before = [
        ("keeps", Value::Object(diver)),
        ("hint", Value::WeakObject(diver)),
        ("any", Value::Object(diver)),
        ("all", Value::Array(vec![Value::Object(actor), Value::Object(diver)])),
    ];
    for (property, value) in &before {
        for holder in [holder, busy] {
            host.objects().set(holder, property, value).expect("the types match");
        }
    }
    let report = reload(&host, &["v2"]);
    let none = ObjectHandle::NONE;
    let after = [
        ("keeps", Value::Object(none)),
        ("hint", Value::WeakObject(none)),
        ("any", Value::Object(diver)),
        ("all", Value::Array(vec![])),
    ];
    for (property, value) in &after {
        assert_eq!(host.objects().get(holder, property).expect("a property"), *value, "{property}");
    }
    let line = "Test.Keeper.keeps: the referenced objects now have another class: 2 got the default".to_owned();
    assert!(report.structure.contains(&line), "{report}");
    host.objects().set(busy, "keeps", &Value::Object(actor)).expect("the types match");
    let report = reload(&host, &[]);
    for (property, value) in &before {
        assert_eq!(host.objects().get(holder, property).expect("a property"), *value, "{property}");
    }
    assert_eq!(host.objects().get(busy, "keeps").expect("a property"), Value::Object(actor), "it was given that since");
    let line =
        "Test.Keeper.keeps: the referenced objects now have another class: 1 got their own values back".to_owned();
    assert!(report.structure.contains(&line), "{report}");
}

/// Loads a world with two ghosts into a host without a Master. Returns the host and the changed ghost, which is dormant.
fn loaded_without_a_master() -> (Runtime, ObjectHandle) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("world");
    let first = host();
    let [_, changed] = ghosts(&first);
    let saved_path = first.objects().path_of(changed).expect("a path");
    first.worlds().save(&path).expect("it is saved");
    let second = support::builder().build().expect("a host");
    second.worlds().load(&path).expect("it is loaded");
    let changed = second.objects().at_path(&saved_path).expect("it was loaded");
    assert_eq!(second.objects().dormant_class(changed).as_deref(), Some(GHOST));
    (second, changed)
}

#[test]
fn an_own_value_equal_to_the_default_of_the_base_survives_files_and_dormancy() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("world");
    let first = host();
    let [ghost, _] = ghosts(&first);
    first.objects().set(ghost, "can_tick", &Value::Bool(false)).expect("a flag");
    let saved_path = first.objects().path_of(ghost).expect("a path");
    let can_tick = |host: &Runtime| {
        let ghost = host.objects().at_path(&saved_path).expect("it was loaded");
        host.objects().get(ghost, "can_tick").expect("a flag")
    };
    first.worlds().save(&path).expect("it is saved");
    let second = support::builder().build().expect("a host");
    for _ in 0..2 {
        second.worlds().load(&path).expect("it is loaded");
        second.worlds().save(&path).expect("it is saved");
    }
    second.create_master(&[support::plugin("migration", &[])]).expect("a Master");
    reload(&second, &[]);
    assert_eq!(can_tick(&second), Value::Bool(false), "the class has another default than its base");
    reload(&second, &["v2"]);
    second.worlds().save(&path).expect("it is saved");
    let third = host();
    third.worlds().load(&path).expect("it is loaded");
    assert_eq!(can_tick(&third), Value::Bool(false));
}

#[test]
fn objects_that_were_loaded_before_their_master_wake_in_its_first_reload() {
    let (host, changed) = loaded_without_a_master();
    host.create_master(&[support::plugin("migration", &[])]).expect("a Master");
    assert_eq!(
        host.objects().dormant_class(changed).as_deref(),
        Some(GHOST),
        "the creation of a Master wakes no objects"
    );
    let [_, other] = ghosts(&host);
    reload(&host, &[]);
    assert_eq!([changed, other].map(|ghost| host.objects().dormant_class(ghost)), [None, None]);
    let properties = "chill look label can_tick";
    assert_eq!(state_of(&host, changed, properties), state_of(&host, other, properties));
    host.collection().collect().expect("a safe point");
    host.shutdown().into_result().expect("a clean shutdown");
}
