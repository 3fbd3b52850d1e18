//! Tests classes that a host declares at run time. Function bodies access the declared members by handles, without lookups by name.

use crate::support;

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;

use alcedo_runtime::host::HostValue;
use alcedo_runtime::kinds::{PropertyKind, class_flags, function_flags, property_flags};
use alcedo_runtime::native::{
    AnyPropertyHandle, FunctionHandle, NativeClass, NativeInterface, NativeStruct, Natives, Obj, Object, PropertyHandle,
};
use alcedo_runtime::{CallError, Error, ObjectHandle, Runtime, Value};
use expect_test::expect;

const ADDER: &str = "/Script/Test.Adder";
const OBJECT: &str = "/Script/Core.Object";

/// Declares a class that a plugin extends, and a second class that calls functions of the first class.
fn adders() -> [Natives; 2] {
    let mut adder =
        NativeClass::new("Test", "Adder", OBJECT).doc("The host's own adder.").flags(class_flags::BLUEPRINTABLE);
    let total: PropertyHandle<i32> = adder.add_property("total", 0, "");
    let counted = total.clone();
    let flags = function_flags::NATIVE_EVENT | function_flags::CALLABLE;
    let sum_up =
        adder.add_function("sum_up", &["left", "right"], flags, move |world, adder, (left, right): (i32, i32)| {
            let sum = left.wrapping_add(right);
            counted.set(world, adder, counted.get(world, adder)?.wrapping_add(sum))?;
            Ok(sum)
        });
    let adder = adder.member_docs(&[
        ("total", "Sum of all additions."),
        ("sum_up", "The sum, computed by the host or by an override."),
    ]);
    let mut teacher = NativeClass::new("School", "Teacher", OBJECT);
    let _sum_twice = teacher.add_function("sum_twice", &["by"], 0, move |world, _teacher, (by,): (Obj<Object>,)| {
        let sum = sum_up.call(world, by.handle(), (1, 2))?;
        sum_up.call(world, by.handle(), (sum, sum))?;
        total.get(world, by.handle())
    });
    [Natives::in_package("Test").class(adder), Natives::in_package("School").class(teacher)]
}

fn detours(features: &[&str], tag: u64) -> PathBuf {
    support::tagged("detours", features, tag)
}

fn host(library: PathBuf) -> Runtime {
    let [adder, teacher] = adders();
    let host = support::builder().natives(adder).natives(teacher).build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[library]).unwrap_or_else(|error| panic!("{error}"));
    host
}

#[test]
fn the_glue_of_the_plugin_is_that_of_the_natives() {
    let [adder, _teacher] = adders();
    support::glue_is_written(adder, "Test", "detours", "adder.rs");
}

#[test]
fn a_body_accesses_properties_by_handle_in_subclasses_across_reloads() {
    let host = host(detours(&[], 1));
    let spawn = |class: &str| host.objects().spawn(class).expect("it is declared");
    let [teacher, adder, detour] = ["/Script/School.Teacher", ADDER, "/Script/Game.Detour"].map(spawn);
    let query = |object| host.objects().call(teacher, "sum_twice", &[Value::Object(object)]);
    let twice = |object| query(object).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!([adder, detour].map(twice), [const { Some(Value::I32(9)) }; 2], "3, and 3 + 3");
    host.reload(&[detours(&["override"], 2)]).expect("a Master").into_result().expect("it is committed");
    // A call through the handle of the event calls the override. The override then calls the host's body of the event.
    assert_eq!([adder, detour].map(twice), [Some(Value::I32(18)), Some(Value::I32(20))]);
    host.reload(&[detours(&[], 3)]).expect("a Master").into_result().expect("it is committed");
    assert_eq!(twice(detour), Some(Value::I32(29)));
    host.objects().destroy(detour);
    let gone = query(detour).expect_err("it is gone");
    assert!(matches!(gone, Error::Call(CallError::Stale { .. })), "{gone:?}");
    host.shutdown().into_result().expect("a clean shutdown");
}

/// Values that function bodies report to the test.
type Seen<T> = Rc<RefCell<Vec<T>>>;

#[test]
fn a_handle_is_an_error_for_another_class_with_equal_names() {
    let mut lamp = NativeClass::new("Test", "Lamp", OBJECT);
    let gain: PropertyHandle<f64> = lamp.add_property("gain", 0, "2.5");
    let lit: FunctionHandle<(f64,), ()> = lamp.add_event("lit", &["how"]);
    let of_lamps = gain.clone();
    let _gain_of = lamp.add_function("gain_of", &["other"], 0, move |world, _lamp, (other,): (Obj<Object>,)| {
        of_lamps.get(world, other.handle())
    });
    let of_lamps = gain.clone();
    let _set_in = lamp.add_function("set_in", &["other"], 0, move |world, _, (other,): (Obj<Object>,)| {
        of_lamps.set(world, other.handle(), 7.0)
    });
    let _light = lamp.add_function("light", &["other"], 0, move |world, _lamp, (other,): (Obj<Object>,)| {
        lit.call(world, other.handle(), (1.0,))
    });
    let cat = NativeClass::new("Test", "Cat", OBJECT)
        .property("gain", (PropertyKind::F64, ""), 0, "9")
        .event("lit", &[("how", (PropertyKind::F64, ""))]);
    let small = NativeClass::new("Test", "SmallLamp", "/Script/Test.Lamp");
    let natives = Natives::in_package("Test").class(lamp).class(cat).class(small);
    let host = Runtime::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    let spawn = |class: &str| host.objects().spawn(&format!("/Script/Test.{class}")).expect("it is declared");
    let [lamp, small, cat] = ["Lamp", "SmallLamp", "Cat"].map(spawn);
    let query = |function: &str, other| host.objects().call(lamp, function, &[Value::Object(other)]);
    assert_eq!(query("gain_of", small).expect("it is a lamp"), Some(Value::F64(2.5)));
    // Alternates between a cat and a lamp. A cached lookup for one class must not be used for an object of another class.
    for _ in 0..2 {
        for function in ["gain_of", "set_in", "light"] {
            let refused = query(function, cat).expect_err("it is a cat");
            let Error::Call(CallError::WrongClass { place, handle, found, expected }) = refused else {
                panic!("{refused:?}")
            };
            let member = if function == "light" { "/Script/Test.Lamp:lit" } else { "/Script/Test.Lamp:gain" };
            assert_eq!((&*place, handle, &*found, &*expected), (member, cat, "/Script/Test.Cat", "/Script/Test.Lamp"));
            query(function, small).expect("it is a lamp");
        }
    }
    assert_eq!(host.objects().get(cat, "gain").expect("it has one"), Value::F64(9.0), "nothing was written");
    assert_eq!(host.objects().get(small, "gain").expect("it has one"), Value::F64(7.0));
    let gone = query("gain_of", ObjectHandle::NONE).expect_err("there is none");
    assert!(matches!(gone, Error::Call(CallError::Stale { .. })), "{gone:?}");
    assert_eq!(format!("{gain:?}"), "/Script/Test.Lamp:gain");
}

#[test]
fn hooks_read_properties_of_other_kinds_as_values_by_handle() {
    let names: Seen<Value> = Rc::default();
    let mut crew = NativeClass::new("Test", "Crew", OBJECT);
    let all: AnyPropertyHandle =
        crew.add_any_property("all", (PropertyKind::ARRAY, "String"), property_flags::EDIT_ANYWHERE, "");
    let captain = crew.add_any_property("captain", (PropertyKind::OBJECT, "/Script/Test.Crew"), 0, "");
    let made = all.clone();
    let crew = crew.constructor(move |world, crew| {
        let one = Value::Array(vec![Value::Text("Ann".to_owned())]);
        made.write(world, crew, &one).map_err(|error| error.to_string())
    });
    let (seen, read) = (Rc::clone(&names), all.clone());
    let crew = crew.post_init_properties(move |world, crew| {
        captain.set(world, crew, crew).map_err(|error| error.to_string())?;
        assert_eq!(captain.get::<ObjectHandle>(world, crew), Ok(crew));
        let wrong = all.get::<f64>(world, crew).expect_err("it holds strings");
        assert!(matches!(wrong, CallError::Signature { .. }), "{wrong:?}");
        seen.borrow_mut().push(read.read(world, crew).map_err(|error| error.to_string())?);
        Ok(())
    });
    let host = Runtime::builder().natives(Natives::in_package("Test").class(crew)).build();
    let host = host.unwrap_or_else(|error| panic!("{error}"));
    host.objects().spawn("/Script/Test.Crew").expect("it is declared");
    let last = names.borrow().last().cloned();
    assert_eq!(last, Some(Value::Array(vec![Value::Text("Ann".to_owned())])));
}

#[test]
fn a_parameter_without_a_name_is_refused_when_the_host_is_built() {
    let mut lamp = NativeClass::new("Test", "Lamp", OBJECT);
    let _sum = lamp.add_function("sum", &["left"], 0, |_, _, (left, right): (i32, i32)| Ok(left.wrapping_add(right)));
    let refused = Runtime::builder()
        .natives(Natives::in_package("Test").class(lamp))
        .build()
        .map(drop)
        .expect_err("one has no name");
    expect![[r#"a native type cannot be declared: "" in /Script/Test.Lamp:sum cannot be a name: use letters, digits and _, not starting with a digit"#]].assert_eq(&refused.to_string());
}

#[test]
fn a_body_implements_an_interface_function_and_its_panic_is_an_error() {
    let opens = NativeInterface::new("Test", "Opens").function("open", &[("by", (PropertyKind::F64, ""))], None);
    let mut door = NativeClass::new("Test", "Door", OBJECT).implements("/Script/Test.Opens");
    let width: PropertyHandle<f64> = door.add_property("width", 0, "");
    let _open = door.add_function("open", &["by"], 0, move |world, door, (by,)| width.set(world, door, by));
    let _slam = door.add_function("slam", &[], 0, |_, _, ()| -> Result<(), CallError> { panic!("it is locked") });
    let natives = Natives::in_package("Test").class(door).interface_with_functions(opens);
    let host = Runtime::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    let door = host.objects().spawn("/Script/Test.Door").expect("it is declared");
    host.objects().call(door, "open", &[Value::F64(0.5)]).expect("it opens");
    assert_eq!(host.objects().get(door, "width").expect("it has one"), Value::F64(0.5));
    let slammed = host.objects().call(door, "slam", &[]).expect_err("it panics");
    assert!(slammed.to_string().contains("it is locked"), "{slammed}");
    assert_eq!(host.objects().get(door, "width").expect("alive"), Value::F64(0.5));
}

thread_local! {
    /// Code that the next conversion of a `Length` runs.
    static ON_CONVERSION: Cell<Option<Box<dyn FnOnce()>>> = const { Cell::new(None) };
}

fn converting() {
    if let Some(code) = ON_CONVERSION.take() {
        code();
    }
}

/// Field of a host struct. Its conversions run code of the test.
#[derive(Clone, PartialEq, Debug, Default)]
struct Length(f64);

impl HostValue for Length {
    type Raw = f64;

    fn from_raw(raw: f64) -> Self {
        converting();
        Self(raw)
    }

    fn into_raw(self) -> f64 {
        converting();
        self.0
    }
}

alcedo_runtime::host_struct! {
    struct Rod in "/Script/Test.Rod" {
        length "length": Length,
    }
}

#[test]
fn a_conversion_may_change_and_destroy_the_object_that_is_read_or_written() {
    let rod = NativeStruct::new("Test", "Rod").field("length", (PropertyKind::F64, ""));
    let rack =
        NativeClass::new("Test", "Rack", OBJECT).property("rods", (PropertyKind::ARRAY, "/Script/Test.Rod"), 0, "");
    let host = support::builder().natives(Natives::in_package("Test").structure(rod).class(rack)).build();
    let host = host.unwrap_or_else(|error| panic!("{error}"));
    let spawn = || host.objects().spawn("/Script/Test.Rack").unwrap_or_else(|error| panic!("{error}"));
    let rods = host.property::<Vec<Rod>>("up:/Script/Test.Rack:rods").unwrap_or_else(|error| panic!("{error}"));
    let all = |lengths: &[f64]| lengths.iter().map(|length| Rod { length: Length(*length) }).collect::<Vec<_>>();
    let on_conversion = |code: fn(&Runtime, ObjectHandle), rack| {
        let host = host.downgrade();
        ON_CONVERSION.set(Some(Box::new(move || code(&host.upgrade().expect("the host calls this code"), rack))));
    };
    // Frees the memory of the array.
    let empties = |host: &Runtime, rack: ObjectHandle| {
        host.objects().set(rack, "rods", &Value::Array(Vec::new())).expect("it is alive");
    };
    let destroys = |host: &Runtime, rack: ObjectHandle| {
        host.objects().destroy(rack);
        host.collection().collect().expect("a safe point");
    };
    for end in [empties as fn(&Runtime, ObjectHandle), destroys] {
        let rack = spawn();
        rods.set(rack, all(&[1.0, 2.0, 3.0])).expect("no code interferes");
        on_conversion(end, rack);
        assert_eq!(rods.get(rack).expect("the value is read first"), all(&[1.0, 2.0, 3.0]));
        assert!(rods.get(rack).map_or(true, |now| now.is_empty()), "the code has run");
    }
    let rack = spawn();
    rods.set(rack, all(&[1.0, 2.0, 3.0])).expect("no code interferes");
    on_conversion(empties, rack);
    rods.set(rack, all(&[4.0, 5.0])).expect("it is written last");
    assert_eq!(rods.get(rack).expect("it is read"), all(&[4.0, 5.0]));
    on_conversion(destroys, rack);
    let refused = rods.set(rack, all(&[6.0])).expect_err("the object is gone");
    assert!(matches!(refused, Error::Call(CallError::Stale { .. })), "{refused}");
}

#[test]
fn a_property_is_found_by_its_former_name() {
    let torch = NativeClass::new("Test", "Torch", OBJECT).property("glow", (PropertyKind::F64, ""), 0, "2.5");
    let host = support::builder().natives(Natives::in_package("Test").class(torch)).build();
    let host = host.unwrap_or_else(|error| panic!("{error}"));
    host.types().redirect("/Script/Test.Torch:shine", "/Script/Test.Torch:glow").expect("a valid redirect");
    let torch = host.objects().spawn("/Script/Test.Torch").unwrap_or_else(|error| panic!("{error}"));
    let glow = host.property::<f64>("up:/Script/Test.Torch:shine").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(glow.get(torch).unwrap_or_else(|error| panic!("{error}")), 2.5);
}
