//! Tests classes that override defaults of their bases, or defaults of the classes of their subobjects. Also tests classes that replace the
//! class of a subobject, and classes whose objects exist only inside other objects. Native classes and emitted classes are covered, also
//! across reloads.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use alcedo_runtime::native::{Natives, Obj, uclass, ustruct};
use alcedo_runtime::{ObjectHandle, RenameError, Runtime, Value, natives};

use crate::support;

fn host(features: &[&str]) -> Runtime {
    support::host(&[support::plugin("parcels", features)])
}

fn part(host: &Runtime, object: ObjectHandle, property: &str) -> ObjectHandle {
    match host.objects().get(object, property).expect("it is there") {
        Value::Object(part) => part,
        other => panic!("{other:?}"),
    }
}

fn class(host: &Runtime, object: ObjectHandle) -> String {
    host.objects().class_of(object).expect("it is alive")
}

fn text(host: &Runtime, sticker: ObjectHandle) -> String {
    match host.objects().get(sticker, "text").expect("it is there") {
        Value::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

fn height(host: &Runtime, lid: ObjectHandle) -> Value {
    let Value::Struct(fields) = host.objects().get(lid, "size").expect("it is there") else { panic!("a struct") };
    fields.iter().find(|(name, _)| &**name == "height").expect("it has one").1.clone()
}

#[test]
fn a_class_overrides_defaults_of_its_base_and_nested_subobjects() {
    let host = host(&[]);
    let [plain, big, huge] = ["Crate", "BigCrate", "HugeCrate"]
        .map(|name| host.objects().spawn(&format!("/Script/Game.{name}")).expect("it is declared"));
    let count = |object| host.objects().get(object, "count").expect("it is there");
    assert_eq!([plain, big, huge].map(count), [3, 7, 9].map(Value::U32));
    let lids = [plain, big, huge].map(|object| part(&host, object, "lid"));
    let classes = lids.map(|lid| class(&host, lid));
    assert_eq!(classes, ["/Script/Game.Lid", "/Script/Game.LockedLid", "/Script/Game.LockedLid"]);
    let weight = |lid| host.objects().get(lid, "weight").expect("it is there");
    assert_eq!(lids.map(weight), [1.0, 9.5, 9.5].map(Value::F64));
    assert_eq!(lids.map(|lid| height(&host, lid)), [2.5, 8.0, 8.0].map(Value::F64));
    assert_eq!(host.objects().get(lids[1], "digits").expect("it is there"), Value::U8(6));
    let stickers = [plain, big].map(|object| part(&host, object, "sticker"));
    assert_eq!(stickers.map(|sticker| text(&host, sticker)), ["fragile", "heavy"]);
    assert_eq!(host.objects().get(big, "wood").expect("it is there"), Value::Text("oak".to_owned()));
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn objects_follow_a_changed_override_where_they_had_the_old_one() {
    let host = host(&[]);
    let [follows, own] = [(); 2].map(|()| host.objects().spawn("/Script/Game.BigCrate").expect("it is declared"));
    host.objects().set(own, "count", &Value::U32(50)).expect("it is there");
    host.objects().set(part(&host, own, "lid"), "weight", &Value::F64(50.0)).expect("it is there");
    assert!(host.reload(&[support::plugin("parcels", &["later"])]).expect("it is done").is_committed());
    let count = |object| host.objects().get(object, "count").expect("it is there");
    assert_eq!([follows, own].map(count), [8, 50].map(Value::U32));
    let weight = |object| host.objects().get(part(&host, object, "lid"), "weight").expect("it is there");
    assert_eq!([follows, own].map(weight), [10.5, 50.0].map(Value::F64));
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn subobjects_keep_overridden_defaults_while_the_class_of_their_owner_is_missing() {
    let host = host(&[]);
    let big = host.objects().spawn("/Script/Game.BigCrate").expect("it is declared");
    let sticker = part(&host, big, "sticker");
    for features in [&["small"][..], &["small"], &[]] {
        let report = host.reload(&[support::plugin("parcels", features)]).expect("a Master");
        report.into_result().unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(text(&host, sticker), "heavy", "{features:?}");
    }
    assert_eq!((class(&host, big).as_str(), part(&host, big, "sticker")), ("/Script/Game.BigCrate", sticker));
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn subobjects_keep_own_values_when_the_classes_of_their_owners_merge() {
    let host = host(&[]);
    let classes = ["BigCrate", "HugeCrate", "BigCrate", "HugeCrate"];
    let crates = classes.map(|name| host.objects().spawn(&format!("/Script/Game.{name}")).expect("it is declared"));
    let stickers = crates.map(|object| part(&host, object, "sticker"));
    // The own value of each object equals the default in the other class.
    for (sticker, own) in [(stickers[2], "huge"), (stickers[3], "heavy")] {
        host.objects().set(sticker, "text", &Value::Text(own.to_owned())).expect("it is there");
    }
    for name in ["BigCrate", "HugeCrate"] {
        host.types().redirect(&format!("/Script/Game.{name}"), "/Script/Game.Crate").expect("a valid redirect");
    }
    let report = host.reload(&[support::plugin("parcels", &["small"])]).expect("a Master");
    report.into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(crates.map(|object| class(&host, object)), ["/Script/Game.Crate"; 4]);
    assert_eq!(stickers.map(|sticker| text(&host, sticker)), ["fragile", "fragile", "huge", "heavy"]);
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn a_subobject_is_replaced_if_its_owner_overrides_its_class() {
    let host = host(&["racks"]);
    let chest = host.objects().spawn("/Script/Game.Chest").expect("it is declared");
    let [lid, sticker] = ["lid", "sticker"].map(|property| part(&host, chest, property));
    host.objects().set(sticker, "text", &Value::Text("own".to_owned())).expect("it is there");
    let reload = |features: &[&str]| {
        let report = host.reload(&[support::plugin("parcels", features)]).expect("a Master");
        report.into_result().unwrap_or_else(|report| panic!("{report}"))
    };
    let report = reload(&["racks", "later"]);
    let locked = part(&host, chest, "lid");
    assert_eq!(class(&host, locked), "/Script/Game.LockedLid", "{report}");
    assert_eq!(host.objects().get(locked, "digits").expect("it is there"), Value::U8(5));
    assert!(!host.objects().is_alive(lid));
    reload(&[]);
    reload(&["racks", "later"]);
    assert_eq!(part(&host, chest, "lid"), locked, "the class of the owner was missing");
    assert_eq!(host.objects().get(locked, "digits").expect("it is there"), Value::U8(5));
    reload(&["racks"]);
    assert_eq!(class(&host, part(&host, chest, "lid")), "/Script/Game.Lid");
    assert_eq!((part(&host, chest, "sticker"), text(&host, sticker).as_str()), (sticker, "own"));
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn a_removed_subobject_is_destroyed_with_its_own_subobjects_and_not_rebuilt() {
    let ended = Rc::new(RefCell::new(Vec::new()));
    let noted = Rc::clone(&ended);
    let natives = Natives::default().before_destroy(move |host, object| {
        assert!(host.objects().is_alive(object), "the object is still alive");
        noted.borrow_mut().push(object);
    });
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[support::plugin("parcels", &["racks"])]).unwrap_or_else(|error| panic!("{error}"));
    let huge = host.objects().spawn("/Script/Game.HugeCrate").expect("it is declared");
    let kept = ["lid", "sticker"].map(|property| part(&host, huge, property));
    let rack = part(&host, huge, "rack");
    let inside = part(&host, rack, "sticker");
    let report = host.reload(&[support::plugin("parcels", &[])]).expect("a Master");
    let report = report.into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!((report.objects_kept, report.conjugates_rebuilt), (3, 3), "the crate, its lid and its sticker");
    assert_eq!(kept.map(|part| host.objects().is_alive(part)), [true; 2]);
    assert_eq!([rack, inside].map(|part| host.objects().is_alive(part)), [false; 2]);
    assert_eq!(*ended.borrow(), [rack, inside], "the host was notified of both");
    host.shutdown().into_result().expect("a clean shutdown");
}

/// The hook of a sticker reloads the plugin, which removes the rack that contains the sticker.
#[test]
fn a_reload_in_a_hook_destroys_a_removed_subobject_that_contains_the_object() {
    let (inside, after) = (Rc::new(Cell::new(ObjectHandle::NONE)), Rc::new(Cell::new(None)));
    let (ending, noted) = (Rc::clone(&inside), Rc::clone(&after));
    let natives = Natives::default().before_destroy(move |host, object| {
        if object == ending.get() {
            let rack = host.objects().outer_of(object).expect("it is in a rack");
            let report = host.reload(&[support::plugin("parcels", &[])]);
            let is_committed = report.is_ok_and(|report| report.is_committed());
            noted.set(Some((is_committed, host.objects().is_alive(rack))));
        }
    });
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[support::plugin("parcels", &["racks"])]).unwrap_or_else(|error| panic!("{error}"));
    let huge = host.objects().spawn("/Script/Game.HugeCrate").expect("it is declared");
    let rack = part(&host, huge, "rack");
    inside.set(part(&host, rack, "sticker"));
    host.objects().destroy(inside.get());
    assert_eq!(after.get(), Some((true, false)), "the reload is committed, and the rack is destroyed");
    let are_alive = [huge, rack, inside.get()].map(|object| host.objects().is_alive(object));
    assert_eq!(are_alive, [true, false, false]);
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn a_default_for_a_missing_member_refuses_the_load_with_its_path() {
    let runtime = support::builder().build().expect("a host");
    let refused = runtime.create_master(&[support::plugin("parcels", &["wrong-default"])]).expect_err("no digits");
    let message = refused.to_string();
    for part in ["BigCrate", "`lid.digits`", "Game.Lid has no property digits"] {
        assert!(message.contains(part), "{part} in {message}");
    }
    assert!(!runtime.types().has("/Script/Game.Crate"), "no type of the batch is registered");
}

#[test]
fn an_object_of_a_contextual_class_needs_an_outer() {
    let host = host(&[]);
    for class in ["/Script/Game.Sticker", "/Script/Game.ColorSticker"] {
        let message = host.objects().spawn(class).expect_err("it needs an outer").to_string();
        assert!(message.contains("contextual") && message.contains("outer"), "{message}");
    }
    let outer = host.objects().spawn("/Script/Game.Crate").expect("it is declared");
    let inside = host.objects().spawn_in("/Script/Game.ColorSticker", outer).expect("it is inside");
    assert_eq!(host.world().outer_of(inside), Some(outer));
    let left = host.objects().rename(inside, "Free", ObjectHandle::NONE);
    assert_eq!(left, Err(RenameError::Contextual { object: inside }));
    assert_eq!(host.objects().outer_of(inside), Some(outer));
    let stuck = host.objects().call(outer, "stick", &[]).expect("it sticks");
    let Some(Value::Text(message)) = stuck else { panic!("{stuck:?}") };
    assert!(message.starts_with("fragile") && message.contains("contextual"), "{message}");
    let declared = host.types().declared_by("parcels").expect("it is loaded");
    let sticker = declared.classes.iter().find(|class| class.path == "/Script/Game.Sticker").expect("it is there");
    assert!(sticker.flags.iter().any(|flag| flag == "contextual"), "{:?}", sticker.flags);
    host.shutdown().into_result().expect("a clean shutdown");
}

/// Location of an object.
#[ustruct(package = "Test", pod)]
#[derive(Default, PartialEq, Debug)]
pub(crate) struct Spot {
    /// Across.
    pub x: f64,
    /// Up.
    pub y: f64,
}

/// A wheel.
#[uclass(package = "Test")]
pub(crate) struct Wheel {
    /// Width.
    #[uproperty(default = 1.5)]
    width: f64,
    /// Location.
    #[uproperty]
    spot: Spot,
}

/// A wheel that grips.
#[uclass(package = "Test", base = Wheel)]
pub(crate) struct Tire {}

/// A car.
#[uclass(package = "Test")]
pub(crate) struct Car {
    /// The first.
    #[uproperty(default_subobject)]
    wheel: Obj<Wheel>,
}

/// A racing car.
#[uclass(package = "Test", base = Car, subobjects(wheel = Tire), defaults(wheel.width = 3.5, wheel.spot = (x = 1.0), wheel.spot.y = 2.0))]
pub(crate) struct Racer {}

#[test]
fn native_classes_use_equal_syntax_for_default_overrides() {
    let host = support::builder().natives(natives![Spot, Wheel, Tire, Car, Racer]).build().expect("a host");
    let racer = host.objects().spawn_as::<Racer>().expect("it is declared");
    let wheel = host.objects().with(racer, |racer| racer.wheel()).expect("it is alive");
    assert_eq!(class(&host, wheel.handle()), "/Script/Test.Tire");
    let found = host.objects().with(wheel, |wheel| (wheel.width(), wheel.spot())).expect("it is alive");
    assert_eq!(found, (3.5, Spot { x: 1.0, y: 2.0 }));
    let car = host.objects().spawn_as::<Car>().expect("it is declared");
    let wheel = host.objects().with(car, |car| car.wheel()).expect("it is alive");
    assert_eq!(host.objects().with(wheel, |wheel| wheel.width()).expect("it is alive"), 1.5);
}
