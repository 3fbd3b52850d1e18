//! Compares construction by a plan with construction by the slow path. Every hook call records all values that it observes. These tests
//! therefore have their own classes, and a function that describes a complete object.

use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_base::handles::ObjectHandle;

use super::{ACTOR, COMPONENT, NATIVE, OBJECT, Recorder, f64, name, native_post_init, part};
use crate::World;
use crate::class::{Class, PartStep, PartsPlan};
use crate::construction::{destroy, make_cdo};
use crate::decl::{ClassDecl, PropertyDecl};
use crate::property::Property;
use crate::testing::{declare, dynamic, native, native_hook, world};
use crate::value::Value;

/// Formats an object with its values and its subobjects. References are formatted as names.
fn describe(world: &World, object: ObjectHandle) -> String {
    let objects = &world.objects;
    let class = objects.class(object).expect("alive");
    let value = |property: &Rc<Property>| {
        let value = objects.read_value(object, &*property.text).expect("a property of the class");
        let to = match &value {
            Value::Object(to) if objects.is_alive(*to) => path(world, *to),
            value => format!("{value:?}"),
        };
        format!("{}={to}", property.text)
    };
    let values: Vec<_> = class.properties.iter().map(value).collect();
    let parts: Vec<_> = objects.children(object).into_iter().map(|part| describe(world, part)).collect();
    let is_found = objects.find(objects.outer(object).expect("alive"), &name(world, object)) == Some(object);
    format!("{} {} {is_found} {values:?} {parts:?}", class.name, path(world, object))
}

pub(super) fn describe_outermost(world: &World, object: ObjectHandle) -> String {
    let outermost = std::iter::successors(Some(object), |object| live_outer(world, *object)).last();
    describe(world, outermost.expect("at least the object"))
}

fn live_outer(world: &World, object: ObjectHandle) -> Option<ObjectHandle> {
    world.objects.outer(object).filter(|outer| world.objects.is_alive(*outer))
}

fn describing_constructor(world: &World, object: ObjectHandle) -> Result<(), String> {
    let observed = describe_outermost(world, object);
    NATIVE.with_borrow_mut(|order| order.push(format!("native {}: {observed}", name(world, object))));
    Ok(())
}

fn path(world: &World, object: ObjectHandle) -> String {
    let outer = live_outer(world, object);
    let around = outer.map(|outer| path(world, outer) + ".").unwrap_or_default();
    around + &name(world, object)
}

/// Declares the classes Object ← Component { height } ← Gear (dynamic) { cog: Component, spare: Cog (dynamic) }, and Object ← Actor { root:
/// Component } ← Cube (dynamic) { gear: Gear } ← Big (dynamic) { tail: Component }. In the CDO of Big, the values differ from the defaults.
fn yard(constructors: Constructors) -> (Recorder, Rc<Class>) {
    let world = world();
    let text = |name: &str| PropertyDecl::new(name, PropertyKind::STRING);
    let reference = |name: &str| PropertyDecl::new(name, PropertyKind::OBJECT).of_type(OBJECT);
    let post_init = Some(native_hook(native_post_init));
    let constructor = || (constructors != Constructors::None).then(|| native_hook(describing_constructor));
    let cog = "/Script/Game.Cog";
    let classes = declare(
        &world,
        [
            ClassDecl {
                native_constructor: constructor(),
                native_post_init: post_init,
                ..native("Component", OBJECT, &[f64("height").with_default("2"), reference("near")])
            },
            native("Actor", OBJECT, &[f64("seed").with_default("1"), part("root", COMPONENT), reference("focus")]),
            dynamic("Cog", COMPONENT, &[f64("size").with_default("3")]),
            dynamic("Gear", COMPONENT, &[part("cog", COMPONENT), part("spare", cog), f64("teeth").with_default("12")]),
            dynamic(
                "Cube",
                ACTOR,
                &[text("label"), part("gear", "/Script/Game.Gear"), f64("speed").with_default("180")],
            ),
            dynamic("Big", "/Script/Game.Cube", &[part("tail", COMPONENT), f64("mass").with_default("9")]),
        ],
    );
    let big = classes.into_iter().find(|class| &*class.name == "Big").expect("declared above");
    let recorder = Recorder::new(world);
    recorder.has_no_constructors.set(constructors != Constructors::All);
    recorder.describes.set(true);
    let cdo = make_cdo(&recorder.world, &recorder, &big).unwrap();
    let objects = &recorder.world.objects;
    let part = |of, name| objects.subobject(of, name).expect("declared above");
    let (gear, tail) = (part(cdo, "gear"), part(cdo, "tail"));
    let spare = part(gear, "spare");
    for (object, property, value) in [
        (cdo, "label", Value::Text("a cube".to_owned())),
        (cdo, "focus", Value::Object(spare)),
        (cdo, "gear", Value::Object(ObjectHandle::NONE)),
        (cdo, "mass", Value::F64(5.0)),
        (part(cdo, "root"), "near", Value::Object(gear)),
        (part(gear, "cog"), "near", Value::Object(spare)),
        (spare, "near", Value::Object(cdo)),
        (spare, "size", Value::F64(30.0)),
        (tail, "near", Value::Object(tail)),
    ] {
        objects.write_value(object, property, &value).unwrap();
    }
    recorder.take_order();
    (recorder, big)
}

/// Classes of [`yard`] that have constructors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Constructors {
    None,
    Component,
    All,
}

fn plan_of(class: &Class) -> Option<Rc<PartsPlan>> {
    class.members.parts.borrow().clone()
}

/// Forces construction of the class by the slow path, until the types or the CDO change.
fn forbid_plans(recorder: &Recorder, class: &Class) {
    let key = (recorder.world.types.epoch(), class.cdo.get());
    let (members, steps, inits) = Default::default();
    *class.members.parts.borrow_mut() = Some(Rc::new(PartsPlan { key, members, steps, inits, dynamic: 0 }));
}

#[test]
fn constructions_by_plan_run_the_steps_of_the_general_path_and_have_its_result() {
    for fails in [
        None,
        Some(("red Cube", "no")),
        Some(("red Big", "destroy")),
        Some(("red Gear", "panic")),
        Some(("red Gear", "destroy")),
        Some(("red Gear", "destroy outer")),
        Some(("red Cog", "no")),
        Some(("red Cog", "destroy")),
        Some(("red Cog", "destroy outer")),
        Some(("post_init Cog", "destroy outer")),
        Some(("post_init Gear", "no")),
        Some(("post_init Gear", "destroy outer")),
        Some(("post_init Big", "destroy")),
        Some(("post_init Big", "panic")),
        Some(("class Cog", "no")),
        Some(("class Gear", "destroy outer")),
        Some(("class Cube", "destroy")),
        Some(("class Big", "panic")),
    ] {
        compare_paths(Constructors::None, fails.filter(|(at, _)| !at.starts_with("class")));
        compare_paths(Constructors::Component, fails.filter(|(at, _)| !at.starts_with("class")));
        compare_paths(Constructors::All, fails);
    }
}

/// Constructs objects by a plan and by the slow path. Compares the observed values, the results and the counters.
fn compare_paths(constructors: Constructors, fails: Option<(&'static str, &'static str)>) {
    let run = |is_planned: bool| {
        let (recorder, big) = yard(constructors);
        if !is_planned {
            forbid_plans(&recorder, &big);
        }
        *recorder.fails.borrow_mut() = fails;
        let made = [(); 2].map(|()| {
            let made = recorder.construct(&big).map_err(|failed| failed.to_string());
            made.map(|object| (describe(&recorder.world, object), recorder.world.objects.constructed(object)))
        });
        let plan = plan_of(&big).expect("computed by the construction");
        assert_eq!(!plan.members.is_empty(), is_planned);
        let counters = &recorder.world.counters;
        let counts = (counters.constructions.get(), counters.deaths.get(), counters.class_constructors_rerun.get());
        let runs = fails.is_none().then(|| counters.class_constructors_on_instances.get());
        (made, recorder.take_order(), recorder.world.objects.alive(), counts, runs)
    };
    let planned = run(true);
    assert_eq!(planned, run(false), "{constructors:?}, {fails:?}");
    assert_eq!(planned.0[0].is_ok(), fails.is_none(), "{constructors:?}, {fails:?}");
}

#[test]
fn a_plan_has_only_the_steps_that_a_constructor_can_observe() {
    let (recorder, big) = yard(Constructors::None);
    recorder.construct(&big).unwrap();
    let plan = plan_of(&big).unwrap();
    // Members: Big, root, gear, cog, spare, tail. The red constructor of `spare` is the last constructor.
    assert_eq!((plan.members.len(), plan.inits.len(), plan.dynamic), (6, 6, 4));
    let (begins, others): (Vec<_>, Vec<_>) =
        plan.steps.iter().copied().partition(|step| matches!(step, PartStep::Begin(_)));
    assert_eq!(begins, [0, 1, 2, 3, 4, 5].map(PartStep::Begin));
    let ends: Vec<_> = others.into_iter().filter(|step| matches!(step, PartStep::End(_))).collect();
    assert_eq!(ends, [PartStep::End(1), PartStep::End(3)]);
    let actor = big.lineage().nth(1).unwrap();
    recorder.construct(actor).unwrap();
    assert_eq!(*plan_of(actor).unwrap().steps, [PartStep::Begin(0), PartStep::Begin(1)]);

    let (recorder, big) = yard(Constructors::Component);
    let actor = big.lineage().nth(1).unwrap();
    recorder.construct(actor).unwrap();
    // The root class has no constructor, so its step has no effect of its own.
    let turn = PartStep::Turn { member: 1, turn: 1, sets_defaults: true, constructs: true };
    assert_eq!(*plan_of(actor).unwrap().steps, [PartStep::Begin(0), PartStep::Begin(1), turn]);
}

#[test]
fn a_plan_is_not_used_after_its_templates_or_its_types_have_changed() {
    let (recorder, big) = yard(Constructors::Component);
    let objects = &recorder.world.objects;
    let template = objects.subobject(big.cdo.get(), "tail").unwrap();
    let first = recorder.construct(&big).unwrap();
    destroy(&recorder.world, &recorder, template);
    let second = recorder.construct(&big).unwrap();
    let tail = |object| objects.subobject(object, "tail").expect("each object has one");
    assert_eq!(recorder.number(tail(first), "near"), Value::Object(tail(first)));
    assert_eq!(recorder.number(tail(second), "near"), Value::Object(ObjectHandle::NONE), "its template is another");
    let before = plan_of(&big).unwrap();
    destroy(&recorder.world, &recorder, big.cdo.get());
    recorder.construct(&big).unwrap();
    assert_ne!(plan_of(&big).unwrap().key, before.key);
    let before = plan_of(&big).unwrap();
    declare(&recorder.world, [native("Other", OBJECT, &[])]);
    recorder.construct(&big).unwrap();
    assert_ne!(plan_of(&big).unwrap().key, before.key);
}
