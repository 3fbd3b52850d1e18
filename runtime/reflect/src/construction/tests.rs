//! Tests of construction and destruction with recording hooks.

mod living;
mod plain_ends;
mod plans;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, property_flags};
use alcedo_base::handles::ObjectHandle;

use super::{
    ConstructionArgs, ConstructionFailed, ConstructionHooks, StepError, construct, destroy, make_cdo,
    run_class_constructor,
};
use crate::World;
use crate::class::Class;
use crate::decl::{ClassDecl, PropertyDecl};
use crate::origin::Origin;
use crate::testing::{declare, dynamic, end_hook, native, native_hook, world};
use crate::value::Value;
use plans::describe_outermost;

const OBJECT: &str = "/Script/Engine.Object";
const ACTOR: &str = "/Script/Engine.Actor";
const COMPONENT: &str = "/Script/Engine.Component";

/// Records each hook call. At configured steps, fails or writes a value.
struct Recorder {
    world: World,
    order: RefCell<Vec<String>>,
    /// Step that fails (such as `red Cube`), and the failure of the step.
    fails: RefCell<Option<(&'static str, &'static str)>>,
    /// Values to write. Each entry has the step, the property and the value.
    writes: RefCell<Vec<(&'static str, &'static str, f64)>>,
    /// True if dynamic classes have no class constructors.
    has_no_constructors: Cell<bool>,
    /// True if hook calls are recorded with all values that they observe.
    describes: Cell<bool>,
}

thread_local! {
    /// Recorded calls of native hooks. These hooks are plain functions without access to the `Recorder`.
    static NATIVE: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn native_constructor(world: &World, object: ObjectHandle) -> Result<(), String> {
    NATIVE.with_borrow_mut(|order| order.push(format!("native {}", name(world, object))));
    Ok(())
}

fn native_post_init(world: &World, object: ObjectHandle) -> Result<(), String> {
    NATIVE.with_borrow_mut(|order| order.push(format!("native post_init {}", name(world, object))));
    Ok(())
}

fn name(world: &World, object: ObjectHandle) -> String {
    world.names.text(world.objects.name(object).expect("alive")).to_string()
}

impl Recorder {
    fn new(world: World) -> Self {
        NATIVE.take();
        let (order, writes, has_no_constructors, describes) = Default::default();
        Self { world, order, fails: RefCell::new(None), writes, has_no_constructors, describes }
    }

    fn hook(&self, what: &str, object: ObjectHandle, class: &Class) -> Result<(), StepError> {
        self.order.borrow_mut().extend(NATIVE.take());
        let key = format!("{what} {}", class.name);
        self.order.borrow_mut().push(format!("{key} {}", name(&self.world, object)));
        if self.describes.get() {
            self.order.borrow_mut().push(describe_outermost(&self.world, object));
        }
        for (_, property, value) in self.writes.borrow().iter().filter(|(at, ..)| *at == key) {
            self.world.objects.write_value(object, property, &Value::F64(*value)).expect("a property of the class");
        }
        let fails = *self.fails.borrow();
        match fails.filter(|(at, _)| *at == key) {
            Some((_, "panic")) => panic!("{key} panicked"),
            Some((_, "destroy")) => destroy(&self.world, self, object),
            Some((_, "destroy outer")) => destroy(&self.world, self, self.world.objects.outer(object).expect("alive")),
            Some((_, message)) => return Err(StepError::new(message)),
            None => {}
        }
        Ok(())
    }

    fn take_order(&self) -> Vec<String> {
        let mut order = self.order.take();
        order.extend(NATIVE.take());
        order
    }

    fn construct(&self, class: &Rc<Class>) -> Result<ObjectHandle, ConstructionFailed> {
        construct(&self.world, self, class, ConstructionArgs::default())
    }

    fn number(&self, object: ObjectHandle, property: &str) -> Value {
        self.world.objects.read_value(object, property).expect("a property of the class")
    }
}

impl ConstructionHooks for Recorder {
    fn build_conjugate(&self, object: ObjectHandle, class: &Rc<Class>) -> Result<(), StepError> {
        for part in class.dynamic_chain() {
            let built = self.hook("red", object, &part);
            built.map_err(|error| error.of(&part.path))?;
        }
        Ok(())
    }

    fn class_constructor(&self, object: ObjectHandle, class: &Rc<Class>) -> Result<(), StepError> {
        self.hook("class", object, class)
    }

    fn has_class_constructor(&self, _class: &Rc<Class>) -> bool {
        !self.has_no_constructors.get()
    }

    fn has_post_init(&self, _class: &Rc<Class>) -> bool {
        true
    }

    fn plugin_post_init(&self, object: ObjectHandle, class: &Rc<Class>) -> Result<(), StepError> {
        self.hook("post_init", object, class)
    }

    fn end_conjugate(&self, object: ObjectHandle) {
        self.order.borrow_mut().extend(NATIVE.take());
        self.order.borrow_mut().push(format!("end {}", name(&self.world, object)));
    }
}

fn f64(name: &str) -> PropertyDecl {
    PropertyDecl::new(name, PropertyKind::F64)
}

fn part(name: &str, class: &str) -> PropertyDecl {
    PropertyDecl::new(name, PropertyKind::OBJECT).of_type(class).with_flags(property_flags::DEFAULT_SUBOBJECT)
}

/// Declares the classes Object ← Component ← Gear (dynamic), and Object ← Actor { root: Component } ← Cube { gear: Gear } ← Big (dynamic).
fn garage() -> (Recorder, Rc<Class>) {
    let world = world();
    let hooked = |decl| ClassDecl {
        native_constructor: Some(native_hook(native_constructor)),
        native_post_init: Some(native_hook(native_post_init)),
        ..decl
    };
    let reference = PropertyDecl::new("focus", PropertyKind::OBJECT).of_type(OBJECT);
    let classes = declare(
        &world,
        [
            dynamic("Big", "/Script/Game.Cube", &[f64("mass").with_default("9")]),
            dynamic("Cube", ACTOR, &[part("gear", "/Script/Game.Gear"), f64("speed").with_default("180")]),
            dynamic("Gear", COMPONENT, &[f64("teeth").with_default("12")]),
            hooked(native("Actor", OBJECT, &[f64("seed").with_default("1"), part("root", COMPONENT), reference])),
            native("Component", OBJECT, &[f64("height").with_default("2")]),
        ],
    );
    let big = classes.into_iter().find(|class| &*class.name == "Big").expect("declared above");
    (Recorder::new(world), big)
}

#[test]
fn construction_runs_its_steps_in_order() {
    let (recorder, big) = garage();
    make_cdo(&recorder.world, &recorder, &big).unwrap();
    recorder.take_order();
    recorder.construct(&big).unwrap();
    assert_eq!(
        recorder.take_order(),
        [
            "red Cube Big_1",
            "red Big Big_1",
            "native Big_1",
            "red Gear gear",
            "class Gear gear",
            "class Cube Big_1",
            "class Big Big_1",
            "post_init Gear gear",
            "post_init Big Big_1",
            "native post_init Big_1",
        ]
    );
}

#[test]
fn a_cdo_is_created_after_those_of_base_and_subobjects() {
    let (recorder, big) = garage();
    let cdo = make_cdo(&recorder.world, &recorder, &big).unwrap();
    assert_eq!(make_cdo(&recorder.world, &recorder, &big), Ok(cdo));
    assert_eq!(
        recorder.take_order(),
        [
            "native Default__Actor",
            "native post_init Default__Actor",
            "red Cube Default__Cube",
            "native Default__Cube",
            "red Gear Default__Gear",
            "class Gear Default__Gear",
            "post_init Gear Default__Gear",
            "red Gear gear",
            "class Gear gear",
            "class Cube Default__Cube",
            "post_init Gear gear",
            "post_init Cube Default__Cube",
            "native post_init Default__Cube",
            "red Cube Default__Big",
            "red Big Default__Big",
            "native Default__Big",
            "red Gear gear",
            "class Gear gear",
            "class Cube Default__Big",
            "class Big Default__Big",
            "post_init Gear gear",
            "post_init Big Default__Big",
            "native post_init Default__Big",
        ]
    );
}

#[test]
fn an_object_starts_with_its_defaults_and_its_own_subobjects() {
    let (recorder, big) = garage();
    let object = recorder.construct(&big).unwrap();
    let objects = &recorder.world.objects;
    for (property, value) in [("seed", 1.0), ("speed", 180.0), ("mass", 9.0)] {
        assert_eq!(recorder.number(object, property), Value::F64(value));
    }
    let (root, gear) = (objects.subobject(object, "root").unwrap(), objects.subobject(object, "gear").unwrap());
    assert_eq!(objects.children(object), [root, gear]);
    assert_eq!(recorder.number(object, "gear"), Value::Object(gear));
    assert_eq!((recorder.number(gear, "teeth"), objects.outer(gear)), (Value::F64(12.0), Some(object)));
    assert_ne!(objects.subobject(big.cdo.get(), "gear"), Some(gear));
}

#[test]
fn a_class_constructor_shapes_the_cdo_and_instances_follow_the_cdo() {
    let (recorder, big) = garage();
    // The CDO keeps the values that its constructor writes. In an instance, the CDO's values overwrite the values that the constructor
    // writes.
    recorder.writes.borrow_mut().extend([("class Big", "speed", 240.0), ("class Big", "mass", 7.0)]);
    let first = recorder.construct(&big).unwrap();
    recorder.writes.borrow_mut().clear();
    recorder.writes.borrow_mut().push(("class Big", "mass", 1.0));
    let second = recorder.construct(&big).unwrap();
    for object in [first, second] {
        assert_eq!(recorder.number(object, "speed"), Value::F64(240.0));
        assert_eq!(recorder.number(object, "mass"), Value::F64(7.0));
    }
    let cube = big.base.clone().unwrap();
    assert_eq!(recorder.number(cube.cdo.get(), "speed"), Value::F64(180.0));
}

#[test]
fn post_init_may_change_values_of_subobjects_too() {
    let (recorder, big) = garage();
    make_cdo(&recorder.world, &recorder, &big).unwrap();
    recorder.writes.borrow_mut().extend([("post_init Big", "mass", 5.0), ("post_init Gear", "teeth", 99.0)]);
    let object = recorder.construct(&big).unwrap();
    let gear = recorder.world.objects.subobject(object, "gear").unwrap();
    assert_eq!((recorder.number(object, "mass"), recorder.number(gear, "teeth")), (Value::F64(5.0), Value::F64(99.0)));
    assert_eq!(recorder.number(big.cdo.get(), "mass"), Value::F64(9.0));
}

#[test]
fn subobjects_of_an_archetype_are_copied_by_value() {
    let (recorder, big) = garage();
    let objects = &recorder.world.objects;
    let archetype = recorder.construct(&big).unwrap();
    let (root, gear) = (objects.subobject(archetype, "root").unwrap(), objects.subobject(archetype, "gear").unwrap());
    objects.write_value(gear, "teeth", &Value::F64(40.0)).unwrap();
    objects.write_value(archetype, "mass", &Value::F64(3.0)).unwrap();
    objects.write_value(archetype, "focus", &Value::Object(root)).unwrap();
    let args = ConstructionArgs { archetype: Some(archetype), root: true, ..ConstructionArgs::default() };
    let object = construct(&recorder.world, &recorder, &big, args).unwrap();
    let (own_root, own_gear) = (objects.subobject(object, "root").unwrap(), objects.subobject(object, "gear").unwrap());
    assert_eq!(recorder.number(own_gear, "teeth"), Value::F64(40.0));
    assert_eq!(recorder.number(object, "mass"), Value::F64(3.0));
    assert_eq!(recorder.number(object, "gear"), Value::Object(own_gear));
    assert_eq!(recorder.number(object, "focus"), Value::Object(own_root), "a reference to a part is to the own part");
    assert!(objects.is_root(object) && !objects.is_root(archetype));
}

#[test]
fn a_construction_that_fails_leaves_nothing_behind() {
    for (at, how, expected) in [
        ("red Cube", "no fuel", "red constructor of Game.Cube (Big_1): \"no fuel\""),
        ("red Big", "panic", "red constructor of Game.Big (Big_1): \"red Big panicked\""),
        ("red Gear", "panic", "red constructor of Game.Gear (gear): \"red Gear panicked\""),
        ("class Gear", "no oil", "class constructor of Game.Gear (gear): \"no oil\""),
        ("class Cube", "panic", "class constructor of Game.Cube (Big_1): \"class Cube panicked\""),
        ("class Big", "no", "class constructor of Game.Big (Big_1): \"no\""),
        ("post_init Gear", "no", "PostInitProperties of Game.Gear (gear): \"no\""),
        ("post_init Big", "panic", "PostInitProperties of Game.Big (Big_1): \"post_init Big panicked\""),
        ("class Gear", "destroy", ""),
        ("class Gear", "destroy outer", ""),
        ("class Big", "destroy", ""),
        ("post_init Gear", "destroy outer", ""),
        ("post_init Big", "destroy", ""),
    ] {
        let (recorder, big) = garage();
        make_cdo(&recorder.world, &recorder, &big).unwrap();
        let before = recorder.world.objects.alive();
        *recorder.fails.borrow_mut() = Some((at, how));
        let failed = recorder.construct(&big).unwrap_err();
        if expected.is_empty() {
            assert_eq!(failed.message, "the object was destroyed in the middle of its construction", "{at}");
        } else {
            assert_eq!(failed.to_string(), format!("Game.Big was not created: {expected}"));
        }
        assert_eq!(recorder.world.objects.alive(), before, "{at}");
        let ends = recorder.take_order().iter().filter(|line| line.starts_with("end")).count();
        assert!((1..=3).contains(&ends), "{at}: {ends} conjugates ended");
        assert_eq!(recorder.world.counters.constructions.get(), 0, "{at}");
        *recorder.fails.borrow_mut() = None;
        recorder.construct(&big).unwrap();
        assert_eq!(recorder.world.objects.len(), before.len() + 3, "{at}");
    }
}

#[test]
fn a_native_hook_fails_a_construction_too() {
    let world = world();
    let fail: fn(&World, ObjectHandle) -> Result<(), String> = |_, _| Err("no engine".to_owned());
    let classes = declare(
        &world,
        [
            ClassDecl { native_constructor: Some(native_hook(fail)), ..native("Early", OBJECT, &[]) },
            ClassDecl { native_post_init: Some(native_hook(fail)), ..native("Late", OBJECT, &[]) },
        ],
    );
    let recorder = Recorder::new(world);
    for (class, expected) in classes.iter().zip([
        "Engine.Early was not created: native constructor of Engine.Early (Default__Early): \"no engine\"",
        "Engine.Late was not created: native PostInitProperties of Engine.Late (Default__Late): \"no engine\"",
    ]) {
        assert_eq!(recorder.construct(class).unwrap_err().to_string(), expected);
    }
    assert_eq!(recorder.world.objects.len(), 1, "only the CDO of the base is there");
}

#[test]
fn a_subobject_of_its_own_class_is_refused() {
    let world = world();
    let classes = declare(
        &world,
        [
            dynamic("Egg", OBJECT, &[part("hen", "/Script/Game.Hen")]),
            dynamic("Hen", OBJECT, &[part("egg", "/Script/Game.Egg")]),
            dynamic("Chick", "/Script/Game.Nest", &[]),
            dynamic("Nest", OBJECT, &[part("chick", "/Script/Game.Chick")]),
        ],
    );
    let recorder = Recorder::new(world);
    for class in &classes {
        let failed = recorder.construct(class).unwrap_err();
        assert!(failed.message.contains("cannot contain a") || failed.message.contains("it needs itself"), "{failed}");
    }
    assert_eq!(recorder.world.objects.len(), 1, "only the CDO of the base is there");
}

#[test]
fn subclasses_may_override_subobject_classes() {
    let (recorder, _) = garage();
    let root = ("root".to_owned(), "/Script/Game.Gear".to_owned());
    let geared = ClassDecl { subobjects: vec![root], ..dynamic("Geared", ACTOR, &[]) };
    let class = declare(&recorder.world, [geared]).remove(0);
    let actor = class.base.clone().unwrap();
    let actor_cdo = make_cdo(&recorder.world, &recorder, &actor).unwrap();
    let its_root = recorder.world.objects.subobject(actor_cdo, "root").unwrap();
    recorder.world.objects.write_value(its_root, "height", &Value::F64(50.0)).unwrap();
    let object = recorder.construct(&class).unwrap();
    let root = recorder.world.objects.subobject(object, "root").unwrap();
    assert_eq!(&*recorder.world.objects.class(root).unwrap().path, "/Script/Game.Gear");
    assert_eq!((recorder.number(root, "teeth"), recorder.number(root, "height")), (Value::F64(12.0), Value::F64(50.0)));
}

#[test]
fn overriding_a_subobject_class_keeps_the_values_of_nested_subobjects() {
    let (recorder, _) = garage();
    let aim = PropertyDecl::new("aim", PropertyKind::OBJECT).of_type(OBJECT);
    let instead = ("lamp".to_owned(), "/Script/Game.Wide".to_owned());
    declare(
        &recorder.world,
        [
            dynamic("Bulb", COMPONENT, &[aim]),
            dynamic("Lamp", COMPONENT, &[part("bulb", "/Script/Game.Bulb")]),
            dynamic("Wide", "/Script/Game.Lamp", &[part("spare", "/Script/Game.Bulb")]),
            dynamic("Post", ACTOR, &[part("lamp", "/Script/Game.Lamp")]),
            ClassDecl { subobjects: vec![instead], ..dynamic("Tall", "/Script/Game.Post", &[]) },
        ],
    );
    let (world, objects) = (&recorder.world, &recorder.world.objects);
    let class = |path: &str| world.types.class_by_path(path).unwrap();
    let [post, wide] =
        ["/Script/Game.Post", "/Script/Game.Wide"].map(|path| make_cdo(world, &recorder, &class(path)).unwrap());
    let own = |owner, name: &str| objects.subobject(owner, name).unwrap();
    let post_lamp = own(post, "lamp");
    objects.write_value(own(post_lamp, "bulb"), "height", &Value::F64(50.0)).unwrap();
    objects.write_value(own(post_lamp, "bulb"), "aim", &Value::Object(post_lamp)).unwrap();
    objects.write_value(own(wide, "spare"), "aim", &Value::Object(wide)).unwrap();
    let lamp = own(recorder.construct(&class("/Script/Game.Tall")).unwrap(), "lamp");
    assert_eq!(&*objects.class(lamp).unwrap().path, "/Script/Game.Wide");
    assert_eq!(recorder.number(own(lamp, "bulb"), "height"), Value::F64(50.0));
    for name in ["bulb", "spare"] {
        assert_eq!(recorder.number(own(lamp, name), "aim"), Value::Object(lamp), "{name}");
    }
}

#[test]
fn destroying_ends_subobjects_first_and_only_once() {
    let (recorder, big) = garage();
    let object = recorder.construct(&big).unwrap();
    let left = recorder.world.objects.len() - 3;
    recorder.take_order();
    destroy(&recorder.world, &recorder, object);
    destroy(&recorder.world, &recorder, object);
    assert_eq!(recorder.take_order(), ["end gear", "end root", "end Big_1"]);
    assert_eq!((recorder.world.objects.len(), recorder.world.counters.deaths.get()), (left, 3));
}

#[test]
fn a_destroyed_cdo_is_created_again_on_demand() {
    let (recorder, big) = garage();
    let cdo = make_cdo(&recorder.world, &recorder, &big).unwrap();
    destroy(&recorder.world, &recorder, cdo);
    assert_eq!(big.cdo.get(), ObjectHandle::NONE);
    recorder.construct(&big).unwrap();
    assert!(recorder.world.objects.is_alive(big.cdo.get()));
}

#[test]
fn an_archetype_of_another_class_is_refused() {
    let (recorder, big) = garage();
    let gear = recorder.world.types.class_by_path("/Script/Game.Gear").unwrap();
    let archetype = recorder.construct(&gear).unwrap();
    let args = ConstructionArgs { archetype: Some(archetype), ..ConstructionArgs::default() };
    let failed = construct(&recorder.world, &recorder, &big, args).unwrap_err();
    assert_eq!(failed.message, "a /Script/Game.Gear has no values for a /Script/Game.Big");
    let args = ConstructionArgs { archetype: Some(ObjectHandle::new(99, 1)), ..ConstructionArgs::default() };
    assert!(construct(&recorder.world, &recorder, &big, args).unwrap_err().message.contains("is gone"));
}

/// Sets defaults as a script class does: of an own property, of an inherited property and of a subobject.
fn set_script_defaults(world: &World, object: ObjectHandle) -> Result<(), String> {
    let gear = world.objects.subobject(object, "gear").ok_or("no gear")?;
    let write = |of, property: &str, value| world.objects.write_value(of, property, &Value::F64(value));
    let written = write(object, "mass", 5.0).and_then(|()| write(object, "seed", 7.0));
    written.and_then(|()| write(gear, "height", 6.0)).map_err(|error| error.to_string())
}

#[test]
fn an_archetype_of_a_base_class_leaves_the_defaults_that_it_lacks() {
    let (recorder, _) = garage();
    let script = ClassDecl {
        properties: vec![f64("mass"), part("gear", COMPONENT)],
        script_defaults: Some(native_hook(set_script_defaults)),
        ..ClassDecl::new("Game", "Scripted", ACTOR, Origin::Script)
    };
    let script = declare(&recorder.world, [script]).remove(0);
    let actor = recorder.world.types.class_by_path(ACTOR).unwrap();
    let objects = &recorder.world.objects;
    let archetype = recorder.construct(&actor).unwrap();
    let root = objects.subobject(archetype, "root").unwrap();
    objects.write_value(archetype, "seed", &Value::F64(3.0)).unwrap();
    objects.write_value(archetype, "focus", &Value::Object(root)).unwrap();
    objects.write_value(root, "height", &Value::F64(4.0)).unwrap();
    let args = ConstructionArgs { archetype: Some(archetype), ..ConstructionArgs::default() };
    let object = construct(&recorder.world, &recorder, &script, args).unwrap();
    let (own_root, gear) = (objects.subobject(object, "root").unwrap(), objects.subobject(object, "gear").unwrap());
    assert_eq!(recorder.number(object, "seed"), Value::F64(3.0));
    assert_eq!(recorder.number(object, "focus"), Value::Object(own_root));
    assert_eq!(recorder.number(own_root, "height"), Value::F64(4.0));
    assert_eq!(recorder.number(object, "mass"), Value::F64(5.0), "a default of the derived class");
    assert_eq!(recorder.number(gear, "height"), Value::F64(6.0), "a default of its subobject");
    assert_eq!(recorder.number(object, "gear"), Value::Object(gear));
}

#[test]
fn class_constructors_and_constructions_of_instances_are_counted() {
    let (recorder, big) = garage();
    let object = recorder.construct(&big).unwrap();
    let counters = &recorder.world.counters;
    // Class constructors also run on the CDOs and their gears.
    assert_eq!((counters.class_constructors_on_instances.get(), counters.class_constructors_rerun.get()), (3, 0));
    // The constructions are the instance and its two subobjects.
    assert_eq!(counters.constructions.get(), 3);
    run_class_constructor(&recorder.world, &recorder, object, &big).unwrap();
    assert_eq!(counters.class_constructors_rerun.get(), 1);
}

#[test]
fn scripts_have_defaults_and_no_constructor() {
    let world = world();
    let script = ClassDecl {
        properties: vec![f64("x").with_default("3")],
        ..ClassDecl::new("Game", "Scripted", OBJECT, Origin::Script)
    };
    let class = declare(&world, [script]).remove(0);
    let recorder = Recorder::new(world);
    let object = recorder.construct(&class).unwrap();
    assert_eq!(recorder.number(object, "x"), Value::F64(3.0));
    assert!(recorder.take_order().is_empty());
}

#[test]
fn native_hooks_run_before_any_part_of_an_object_is_destroyed() {
    fn ends(world: &World, object: ObjectHandle) {
        assert!(world.objects.is_alive(object));
        NATIVE.with_borrow_mut(|order| order.push(format!("begin_destroy {}", name(world, object))));
    }
    fn ends_badly(_world: &World, _object: ObjectHandle) {
        panic!("no end");
    }
    let world = world();
    let classes = declare(
        &world,
        [
            ClassDecl { begin_destroy: Some(end_hook(ends)), ..native("Thing", OBJECT, &[]) },
            ClassDecl { begin_destroy: Some(end_hook(ends_badly)), ..native("Bad", "/Script/Engine.Thing", &[]) },
            dynamic("Cube", "/Script/Engine.Bad", &[]),
        ],
    );
    let recorder = Recorder::new(world);
    let object = recorder.construct(&classes[2]).unwrap();
    recorder.take_order();
    destroy(&recorder.world, &recorder, object);
    assert_eq!(recorder.take_order(), ["begin_destroy Cube_1", "end Cube_1"]);
    assert!(!recorder.world.objects.is_alive(object));
}

#[test]
fn objects_are_formatted_by_class_and_name_or_by_stale_handle() {
    let world = world();
    let classes = declare(&world, [native("Thing", OBJECT, &[])]);
    let recorder = Recorder::new(world);
    let object = recorder.construct(&classes[0]).unwrap();
    let describe = || recorder.world.objects.display(object).to_string();
    assert_eq!(describe(), "Engine.Thing (Thing_1)");
    destroy(&recorder.world, &recorder, object);
    assert_eq!(describe(), format!("{object}, which is gone"));
}

#[test]
fn duplicate_names_in_an_outer_are_refused_at_construction() {
    let (recorder, big) = garage();
    let name = Some(recorder.world.names.intern("one"));
    let args = ConstructionArgs { name, ..ConstructionArgs::default() };
    let first = construct(&recorder.world, &recorder, &big, args).unwrap();
    let failed = construct(&recorder.world, &recorder, &big, args).unwrap_err();
    assert!(failed.to_string().contains("name for an object of Game.Big (one)"), "{failed}");
    construct(&recorder.world, &recorder, &big, ConstructionArgs { outer: first, ..args })
        .expect("it is free in there");
}

#[test]
fn subobjects_are_found_by_name_and_names_of_the_generated_form_reserve_their_number() {
    let world = world();
    let parts = [part("gear", COMPONENT), part("Component_1", COMPONENT)];
    let classes = declare(&world, [native("Component", OBJECT, &[]), dynamic("Cube", OBJECT, &parts)]);
    let recorder = Recorder::new(world);
    recorder.has_no_constructors.set(true);
    let cube = classes.iter().find(|class| &*class.name == "Cube").expect("declared above");
    let objects = &recorder.world.objects;
    let object = recorder.construct(cube).unwrap();
    let (gear, numbered) = (objects.find(object, "gear").unwrap(), objects.find(object, "Component_1").unwrap());
    let parts = objects.parts(object).into_iter().map(|(name, part)| (name.to_string(), part));
    let expected = [("gear".to_owned(), gear), ("Component_1".to_owned(), numbered)];
    assert_eq!(parts.collect::<Vec<_>>(), expected);
    assert_eq!(name(&recorder.world, gear), "gear");
    let class = objects.class(gear).unwrap();
    let apart = recorder.construct(&class).unwrap();
    assert_eq!(name(&recorder.world, apart), "Component_2");
    assert!(objects.rename(apart, "gear", object).unwrap_err().to_string().contains("cannot be called `gear`"));
    destroy(&recorder.world, &recorder, gear);
    assert_eq!(objects.find(object, "gear"), None);
    objects.rename(apart, "gear", object).expect("the name is free");
    assert_eq!(objects.find(object, "gear"), Some(apart));
}
