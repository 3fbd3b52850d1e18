//! Tests construction steps that change existing objects.

use alcedo_abi::kinds::PropertyKind;
use alcedo_base::handles::ObjectHandle;

use super::{COMPONENT, OBJECT, Recorder, f64, garage, part};
use crate::World;
use crate::construction::{add_subobject, destroy, make_cdo, reconstruct};
use crate::decl::{ClassDecl, PropertyDecl};
use crate::testing::{declare, dynamic, native, native_hook, world};
use crate::value::Value;

#[test]
fn a_living_object_can_get_one_more_subobject() {
    let (recorder, big) = garage();
    let object = recorder.construct(&big).unwrap();
    let objects = &recorder.world.objects;
    let gear = objects.subobject(object, "gear").unwrap();
    destroy(&recorder.world, &recorder, gear);
    assert_eq!(objects.subobject(object, "gear"), None);
    let cube = big.base.clone().unwrap();
    let before = objects.len();
    *recorder.fails.borrow_mut() = Some(("post_init Gear", "no"));
    assert!(add_subobject(&recorder.world, &recorder, object, &cube.subobjects[0]).is_err());
    assert_eq!((objects.len(), recorder.number(object, "gear")), (before, Value::Object(ObjectHandle::NONE)));
    *recorder.fails.borrow_mut() = None;
    let added = add_subobject(&recorder.world, &recorder, object, &cube.subobjects[0]).unwrap();
    assert_eq!(recorder.number(object, "gear"), Value::Object(added));
    assert_eq!(recorder.number(added, "teeth"), Value::F64(12.0));
}

#[test]
fn an_added_subobject_has_the_defaults_that_its_outermost_owner_overrides() {
    let world = world();
    let default_overrides = vec![("gear.pin.length".to_owned(), "7".to_owned())];
    let cube = dynamic("Cube", OBJECT, &[part("gear", "/Script/Game.Gear")]);
    let pin = dynamic("Pin", OBJECT, &[f64("length").with_default("2")]);
    let gear = dynamic("Gear", OBJECT, &[part("pin", "/Script/Game.Pin")]);
    declare(&world, [pin, gear, ClassDecl { default_overrides, ..cube }]);
    let recorder = Recorder::new(world);
    let [cube, gear] = ["/Script/Game.Cube", "/Script/Game.Gear"].map(|path| {
        let class = recorder.world.types.class_by_path(path);
        class.expect("declared above")
    });
    let object = recorder.construct(&cube).unwrap();
    let objects = &recorder.world.objects;
    let owner = objects.subobject(object, "gear").unwrap();
    let pin = objects.subobject(owner, "pin").unwrap();
    assert_eq!(recorder.number(pin, "length"), Value::F64(7.0));
    destroy(&recorder.world, &recorder, pin);
    let added = add_subobject(&recorder.world, &recorder, owner, &gear.subobjects[0]).unwrap();
    assert_eq!(recorder.number(added, "length"), Value::F64(7.0));
}

#[test]
fn an_added_subobject_refers_to_the_other_subobjects_of_its_owner() {
    let world = world();
    let friend = PropertyDecl::new("friend", PropertyKind::OBJECT).of_type(OBJECT);
    let parts = [part("gear", "/Script/Game.Gear"), part("pin", "/Script/Game.Pin")];
    declare(&world, [dynamic("Gear", OBJECT, &[]), dynamic("Pin", OBJECT, &[friend]), dynamic("Cube", OBJECT, &parts)]);
    let recorder = Recorder::new(world);
    let cube = recorder.world.types.class_by_path("/Script/Game.Cube").expect("declared above");
    let template = make_cdo(&recorder.world, &recorder, &cube).unwrap();
    let objects = &recorder.world.objects;
    let parts_of = |object| ["gear", "pin"].map(|name| objects.subobject(object, name).unwrap());
    let [gear, pin] = parts_of(template);
    objects.write_value(pin, "friend", &Value::Object(gear)).unwrap();
    let object = recorder.construct(&cube).unwrap();
    let [gear, pin] = parts_of(object);
    destroy(&recorder.world, &recorder, pin);
    let added = add_subobject(&recorder.world, &recorder, object, &cube.subobjects[1]).unwrap();
    assert_eq!(recorder.number(added, "friend"), Value::Object(gear));
}

#[test]
fn references_to_indirect_subobjects_are_replaced_for_an_existing_object() {
    let world = world();
    let friend = || PropertyDecl::new("friend", PropertyKind::OBJECT).of_type(OBJECT);
    let tooth = dynamic("Tooth", OBJECT, &[]);
    let gear = dynamic("Gear", OBJECT, &[part("tooth", "/Script/Game.Tooth")]);
    let cube = [part("gear", "/Script/Game.Gear"), part("pin", "/Script/Game.Pin"), friend()];
    declare(&world, [tooth, gear, dynamic("Pin", OBJECT, &[friend()]), dynamic("Cube", OBJECT, &cube)]);
    let recorder = Recorder::new(world);
    let cube = recorder.world.types.class_by_path("/Script/Game.Cube").expect("declared above");
    let template = make_cdo(&recorder.world, &recorder, &cube).unwrap();
    let objects = &recorder.world.objects;
    let tooth_of = |object| {
        let gear = objects.subobject(object, "gear").unwrap();
        Value::Object(objects.subobject(gear, "tooth").unwrap())
    };
    for holder in [template, objects.subobject(template, "pin").unwrap()] {
        objects.write_value(holder, "friend", &tooth_of(template)).unwrap();
    }
    let object = recorder.construct(&cube).unwrap();
    destroy(&recorder.world, &recorder, objects.subobject(object, "pin").unwrap());
    let added = add_subobject(&recorder.world, &recorder, object, &cube.subobjects[1]).unwrap();
    assert_eq!(recorder.number(added, "friend"), tooth_of(object));
    reconstruct(&recorder.world, &recorder, object, None).unwrap();
    assert_eq!(recorder.number(object, "friend"), tooth_of(object));
}

#[test]
fn a_reconstruction_keeps_the_values_of_subobjects() {
    fn sharpen(world: &World, object: ObjectHandle) -> Result<(), String> {
        let gear = world.objects.subobject(object, "gear").expect("it has one");
        world.objects.write_value(gear, "teeth", &Value::F64(3.0)).map_err(|error| error.to_string())
    }
    let world = world();
    let component = native("Component", OBJECT, &[f64("teeth").with_default("12")]);
    let tool = native("Tool", OBJECT, &[part("gear", COMPONENT)]);
    declare(&world, [component, ClassDecl { native_constructor: Some(native_hook(sharpen)), ..tool }]);
    let recorder = Recorder::new(world);
    let tool = recorder.world.types.class_by_path("/Script/Engine.Tool").expect("declared above");
    let object = recorder.construct(&tool).unwrap();
    let objects = &recorder.world.objects;
    let gear = objects.subobject(object, "gear").unwrap();
    objects.write_value(gear, "teeth", &Value::F64(7.0)).unwrap();
    reconstruct(&recorder.world, &recorder, object, None).unwrap();
    assert_eq!(objects.subobject(object, "gear"), Some(gear));
    assert_eq!(recorder.number(gear, "teeth"), Value::F64(7.0));
}
