//! Tests structs that are sent to another machine. A host or a module can serialize a struct by custom code. Without such code, each field
//! is serialized.

use std::cell::RefCell;
use std::collections::HashMap;

use alcedo_runtime::kinds::{PropertyKind, property_flags};
use alcedo_runtime::native::{NativeClass, NativeStruct, Natives, NetArchive, NetMap, Obj, uclass, ustruct};
use alcedo_runtime::{CallError, Error, NetNames, ObjectHandle, Runtime, Value, natives};

use crate::support;

const ACTOR: &str = "/Script/Engine.Actor";

/// Names of the objects on one machine. Each machine has its own copies of the objects, with equal names.
#[derive(Default)]
struct Shared(RefCell<HashMap<u64, ObjectHandle>>);

impl Shared {
    fn of(objects: &[(u64, ObjectHandle)]) -> Self {
        Self(RefCell::new(objects.iter().copied().collect()))
    }
}

impl NetNames for Shared {
    fn id(&self, object: ObjectHandle) -> Option<u64> {
        self.0.borrow().iter().find(|(_, known)| **known == object).map(|(id, _)| *id)
    }

    fn object(&self, id: u64) -> Option<ObjectHandle> {
        self.0.borrow().get(&id).copied()
    }
}

fn parcels() -> Runtime {
    support::host(&[support::plugin("parcels", &[])])
}

fn spawn(host: &Runtime) -> ObjectHandle {
    host.objects().spawn("/Script/Game.Depot").expect("it is declared")
}

fn field(value: &Value, name: &str) -> Value {
    let Value::Struct(fields) = value else { panic!("{value:?} is a struct") };
    fields.iter().find(|(known, _)| **known == *name).map(|(_, value)| value.clone()).expect("it has the field")
}

fn with(value: &Value, name: &str, new: Value) -> Value {
    let Value::Struct(mut fields) = value.clone() else { panic!("{value:?} is a struct") };
    fields.iter_mut().find(|(known, _)| **known == *name).expect("it has the field").1 = new;
    Value::Struct(fields)
}

#[test]
fn constructors_start_with_the_struct_defaults() {
    let host = parcels();
    let made = host.objects().call(spawn(&host), "constructed", &[]).expect("it makes them");
    let expected = "me Size { height: 6.0, width: -1, route: Air, weight: 0 } Size { height: 2.5, width: -1, route: Air, weight: 0 } | \
                    Size { height: 1.0, width: -1, route: Road, weight: 0 }";
    assert_eq!(made, Some(Value::Text(expected.to_owned())));
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn a_module_struct_with_custom_serialization_keeps_fields_not_sent() {
    let (here, there) = (parcels(), parcels());
    let (from, to) = (spawn(&here), spawn(&there));
    let (sender, sender_there) = (spawn(&here), spawn(&there));
    let (names, names_there) = (Shared::of(&[(5, sender)]), Shared::of(&[(5, sender_there)]));
    let label = here.objects().get(from, "label").expect("it is there");
    let label = with(&label, "sender", Value::Object(sender));
    let label = with(&with(&label, "words", Value::Text("hello".to_owned())), "secret", Value::U32(1));
    here.objects().set(from, "label", &label).expect("it is there");
    let secret = with(&there.objects().get(to, "label").expect("there"), "secret", Value::U32(2));
    there.objects().set(to, "label", &secret).expect("it is there");

    let bytes = here.net_write(from, "label", &names).expect("it is written");
    there.net_read(to, "label", &bytes, &names_there).expect("it is read");
    let read = there.objects().get(to, "label").expect("it is there");
    assert_eq!(field(&read, "sender"), Value::Object(sender_there));
    assert_eq!(field(&read, "words"), Value::Text("hello".to_owned()));
    assert_eq!(field(&read, "secret"), Value::U32(2), "it was not sent");
    // The receiver has no name for the object.
    there.net_read(to, "label", &bytes, &Shared::default()).expect("it is read");
    let read = there.objects().get(to, "label").expect("it is there");
    assert_eq!(field(&read, "sender"), Value::Object(ObjectHandle::NONE));
    // Sends a struct whose custom serialization writes two bytes after the header.
    let large = with(&here.objects().get(from, "large").expect("there"), "height", Value::F64(3.5));
    here.objects().set(from, "large", &large).expect("it is there");
    let bytes = here.net_write(from, "large", &names).expect("it is written");
    assert_eq!(bytes.len(), 1 + 4 + 2);
    there.net_read(to, "large", &bytes, &names).expect("it is read");
    assert_eq!(field(&there.objects().get(to, "large").expect("there"), "height"), Value::F64(3.5));
    assert!(here.reload(&[support::tagged("parcels", &[], 2)]).expect("it is done").is_committed());
    assert_eq!(here.net_write(from, "large", &names).expect("by the new code"), bytes);
    for host in [here, there] {
        host.shutdown().into_result().expect("a clean shutdown");
    }
}

#[test]
fn structs_without_custom_serialization_are_sent_field_by_field() {
    let (here, there) = (parcels(), parcels());
    let (from, to) = (spawn(&here), spawn(&there));
    let none = Shared::default();
    here.objects().call(from, "note", &[Value::Text("shelf".to_owned()), Value::U32(9)]).expect("it notes");
    let bytes = here.net_write(from, "drawer", &none).expect("it is written");
    there.net_read(to, "drawer", &bytes, &none).expect("it is read");
    let read = |host: &Runtime, object, property| host.objects().get(object, property).expect("it is there");
    assert_eq!(read(&there, to, "drawer"), read(&here, from, "drawer"));
    let flat = with(&read(&here, from, "large"), "height", Value::F64(0.0));
    here.objects().set(from, "large", &flat).expect("it is there");
    let bytes = here.net_write(from, "large", &none).expect("it is written");
    assert_eq!(bytes[0], 0, "by fields");
    there.net_read(to, "large", &bytes, &none).expect("it is read");
    assert_eq!(read(&there, to, "large"), flat);
    for host in [here, there] {
        host.shutdown().into_result().expect("a clean shutdown");
    }
}

/// Returns a host with a class `Ship`, whose crew is a struct with references, and a ship of this host.
fn ship() -> (Runtime, ObjectHandle) {
    let crew = NativeStruct::new("Test", "Crew")
        .field("captain", (PropertyKind::OBJECT, ACTOR))
        .field("members", (PropertyKind::SET, "Object(/Script/Engine.Actor)"));
    let ship = NativeClass::new("Test", "Ship", "/Script/Core.Object");
    let ship = ship.property("crew", (PropertyKind::STRUCT, "/Script/Test.Crew"), 0, "");
    let natives = Natives::in_package("Test").structure(crew).class(ship);
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    let ship = host.objects().spawn("/Script/Test.Ship").expect("it is declared");
    (host, ship)
}

/// Sends references to an object with a small id, and to two objects that exist only on one machine.
#[test]
fn references_are_sent_field_by_field() {
    let ((here, from), (there, to)) = (ship(), ship());
    let actor = |host: &Runtime| host.objects().spawn(ACTOR).expect("it is declared");
    let ([captain, cook, pilot], captain_there) = ([(); 3].map(|()| actor(&here)), actor(&there));
    let members = Value::Set([captain, cook, pilot].map(Value::Object).to_vec());
    let crew = Value::Struct(vec![("captain".into(), Value::Object(captain)), ("members".into(), members)]);
    here.objects().set(from, "crew", &crew).expect("it is there");

    let bytes = here.net_write(from, "crew", &Shared::of(&[(1, captain)])).expect("it is written");
    there.net_read(to, "crew", &bytes, &Shared::of(&[(1, captain_there)])).expect("it is read");
    let read = there.objects().get(to, "crew").expect("it is there");
    assert_eq!(field(&read, "captain"), Value::Object(captain_there));
    let members = [captain_there, ObjectHandle::NONE].map(Value::Object);
    assert_eq!(field(&read, "members"), Value::Set(members.to_vec()));
    for host in [here, there] {
        host.shutdown().into_result().expect("a clean shutdown");
    }
}

#[test]
fn failed_or_broken_serialization_is_an_error_without_changes() {
    let host = parcels();
    let depot = spawn(&host);
    let none = Shared::default();
    let empty = host.net_write(depot, "label", &none).expect_err("an empty label is refused");
    assert!(matches!(&empty, Error::Call(CallError::Returned { .. })), "{empty}");
    let size = host.objects().get(depot, "large").expect("it is there");
    for (weight, expected) in [(99, "did not succeed"), (77, "broken on purpose")] {
        host.objects().set(depot, "large", &with(&size, "weight", Value::U8(weight))).expect("it is there");
        let error = host.net_write(depot, "large", &none).expect_err("serialization fails").to_string();
        assert!(error.contains(expected), "{error}");
    }
    host.objects().set(depot, "large", &size).expect("it is there");
    let bytes = host.net_write(depot, "large", &none).expect("it is written");
    for broken in
        [&bytes[..bytes.len() - 1], &bytes[..3], &[], &[2, 0], &[1, 255, 255, 255, 255], &[0, 255], b"\0(x=1)"]
    {
        host.net_read(depot, "large", broken, &none).expect_err("it is broken");
        assert_eq!(host.objects().get(depot, "large").expect("it is there"), size);
    }
    let other = host.net_write(depot, "sizes", &none).expect_err("an array").to_string();
    assert!(other.contains("a struct"), "{other}");
    host.net_write(ObjectHandle::NONE, "large", &none).expect_err("no object");
    host.shutdown().into_result().expect("a clean shutdown");
}

/// Location of a walker.
#[ustruct(package = "Test", pod)]
#[derive(PartialEq, Debug)]
pub(crate) struct Place {
    /// Horizontal coordinate.
    #[uproperty(default = 1.5)]
    pub x: f32,
    /// Not sent.
    pub local: u32,
}

#[ustruct]
impl Place {
    /// Doubles the distance.
    #[constructor]
    pub(crate) fn far(&mut self, local: u32) {
        self.x *= 2.0;
        self.local = local;
    }

    #[net_serialize]
    fn net_serialize(&mut self, archive: &mut NetArchive, _map: &mut NetMap) -> (bool, bool) {
        archive.number(&mut self.x);
        (true, self.x >= 0.0)
    }
}

/// Object with a location.
#[uclass(package = "Test")]
#[derive(Default)]
pub(crate) struct Walker {
    /// Current location.
    #[uproperty]
    place: Place,
}

#[test]
fn a_host_struct_has_custom_serialization_too() {
    let host = support::builder().natives(natives![Place, Walker]).build().expect("a host");
    let [one, two] = [(); 2].map(|()| host.objects().spawn_as::<Walker>().expect("it is declared"));
    assert_eq!(Place::far(7), Place { x: 3.0, local: 7 });
    let set = |object: Obj<Walker>, place: Place| {
        host.objects().with(object, |walker| walker.set_place(place)).expect("it is alive")
    };
    set(one, Place::far(7));
    let none = Shared::default();
    let bytes = host.net_write(one.handle(), "place", &none).expect("it is written");
    assert_eq!(bytes.len(), 1 + 4 + 4);
    host.net_read(two.handle(), "place", &bytes, &none).expect("it is read");
    assert_eq!(host.objects().with(two, |walker| walker.place()).expect("alive"), Place { x: 3.0, local: 0 });
    set(one, Place { x: -1.0, local: 0 });
    host.net_write(one.handle(), "place", &none).expect_err("no success");
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn a_property_flag_marks_enums_that_are_bytes_in_scripts() {
    let host = support::host(&[support::plugin("moods", &[])]);
    let flags = host.types().member_flags("/Script/Game.Person:rights").expect("it is there");
    assert_eq!(flags & property_flags::ENUM_AS_BYTE, property_flags::ENUM_AS_BYTE);
    let declared = host.types().declared_by("moods").expect("it is loaded");
    let rights = declared.classes[0].properties.iter().find(|property| property.name == "rights").expect("there");
    assert!(rights.flags.iter().any(|flag| flag == "enum_as_byte"), "{:?}", rights.flags);
}
