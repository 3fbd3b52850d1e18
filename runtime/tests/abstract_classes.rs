//! Tests abstract classes. The class default object is the only object of an abstract class. Derived classes inherit the members of their
//! abstract base. If a reload makes a class abstract, the existing objects of the class survive.

use std::path::PathBuf;

use alcedo_runtime::kinds::{PropertyKind, class_flags, property_flags};
use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{ConstructionFailed, ConstructionStep, Error, ObjectHandle, Runtime, Value};
use expect_test::expect;

use crate::support;

const CARRIER: &str = "/Script/Game.Carrier";
const CART: &str = "/Script/Game.Cart";

fn parcels(features: &[&str]) -> PathBuf {
    support::plugin("parcels", features)
}

fn price(host: &Runtime, cart: ObjectHandle) -> Option<Value> {
    host.objects().call(cart, "price", &[Value::U32(3)]).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn abstract_class_cannot_be_spawned_and_the_error_names_concrete_subclasses() {
    let host = support::host(&[parcels(&[])]);
    let refused = host.objects().spawn(CARRIER).expect_err("it is abstract");
    expect![[r#"Game.Carrier was not created: class of Game.Carrier (a new object): "it is abstract: use a derived class (/Script/Game.Cart)""#]].assert_eq(&refused.to_string());
    let Error::Construction(ConstructionFailed { step, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(step, ConstructionStep::Abstract(CARRIER.to_owned()));
    let cart = host.objects().spawn(CART).expect("it is not");
    let count = host.objects().iter().len();
    let refused = host.objects().call(cart, "plain", &[]).expect_err("it is abstract");
    expect![[r#"Game.Carrier was not created: class of Game.Carrier (a new object): "it is abstract: use a derived class (/Script/Game.Cart)""#]].assert_eq(&refused.to_string());
    assert_eq!(host.objects().iter().len(), count, "neither leaves an object");
}

#[test]
fn subclasses_start_from_the_defaults_of_an_abstract_class() {
    let host = support::host(&[parcels(&[])]);
    let cart = host.objects().spawn(CART).expect("it is not abstract");
    assert_eq!(host.objects().get(cart, "room").expect("it has it"), Value::U32(10));
    assert_eq!(price(&host, cart), Some(Value::U32(3)));
    let declared = host.types().declared_by("parcels").expect("it is loaded");
    let carrier = declared.classes.iter().find(|class| class.path == CARRIER).expect("it is emitted");
    assert_eq!(carrier.flags, ["blueprintable", "abstract"]);
}

#[test]
fn objects_whose_class_becomes_abstract_stay_and_no_more_are_made() {
    let host = support::host(&[parcels(&[])]);
    let cart = host.objects().spawn(CART).expect("it is not abstract");
    host.objects().set(cart, "room", &Value::U32(4)).expect("it has it");

    host.reload(&[parcels(&["rusty"])]).expect("a Master").into_result().expect("it is committed");

    assert_eq!(host.objects().get(cart, "room").expect("it has it"), Value::U32(4));
    assert_eq!(price(&host, cart), Some(Value::U32(3)));
    let refused = host.objects().spawn(CART).expect_err("it is abstract now");
    expect![[r#"Game.Cart was not created: class of Game.Cart (a new object): "it is abstract: use a derived class (none is declared yet)""#]].assert_eq(&refused.to_string());

    host.reload(&[parcels(&[])]).expect("a Master").into_result().expect("it is committed");
    host.objects().spawn(CART).expect("it is none again");
}

#[test]
fn a_default_subobject_is_of_a_class_that_is_not_abstract() {
    let natives = |engine: &'static str| {
        Natives::in_package("Test")
            .class(NativeClass::new("Test", "Engine", "/Script/Core.Object").flags(class_flags::ABSTRACT))
            .class(NativeClass::new("Test", "Diesel", "/Script/Test.Engine"))
            .class(NativeClass::new("Test", "Car", "/Script/Core.Object").property(
                "engine",
                (PropertyKind::OBJECT, engine),
                property_flags::DEFAULT_SUBOBJECT,
                "",
            ))
    };
    let host =
        support::builder().natives(natives("/Script/Test.Diesel")).build().unwrap_or_else(|error| panic!("{error}"));
    host.objects().spawn("/Script/Test.Car").expect("its engine is a diesel");
    let refused = support::builder().natives(natives("/Script/Test.Engine")).build();
    let refused =
        refused.and_then(|host| host.objects().spawn("/Script/Test.Car")).expect_err("its engine is abstract");
    expect![[r#"Test.Car was not created: subobject engine of Test.Car (Default__Car): "its class /Script/Test.Engine: it is abstract: use a derived class (/Script/Test.Diesel)""#]].assert_eq(&refused.to_string());
}
