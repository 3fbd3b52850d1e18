//! Tests of the object store: handles, names, roots, graveyard, shadow.
#![expect(unsafe_code, reason = "reads the directory as modules do")]

use std::rc::Rc;

use alcedo_abi::host::mode;
use alcedo_abi::kinds::PropertyKind;
use alcedo_base::boundary::CallError;
use alcedo_base::handles::{ObjectHandle, with_last_serial};

use super::{Body, Objects, RenameError, Tenant, object_flags};
use crate::World;
use crate::bits::Bits;
use crate::class::Class;
use crate::decl::PropertyDecl;
use crate::dormant::Dormant;
use crate::hot_columns::PluginPart;
use crate::member::PropertyRef;
use crate::mode::ModeWord;
use crate::names::Names;
use crate::slices::BorrowedSlices;
use crate::testing::{Dice, declare, dynamic, native, world};
use crate::typed::FrameValue;
use crate::value::Value;

mod saved_names;

impl Objects {
    pub(crate) fn roots(&self) -> Vec<ObjectHandle> {
        self.roots_since(&Bits::default()).0
    }

    /// Returns the references of an object: properties, outer and subobjects. Excludes references that hooks of native classes report.
    pub(crate) fn references(&self, object: ObjectHandle) -> Vec<ObjectHandle> {
        let collect = |tenant: &Tenant| {
            let mut found = tenant.body.view().objects();
            tenant.each_relation(|object| found.push(object));
            found
        };
        self.inspect(object, collect).unwrap_or_default()
    }

    fn set<T: FrameValue>(&self, object: ObjectHandle, name: &str, value: T) -> Result<(), CallError> {
        self.may_write(object)?;
        self.with_property(object, name, |view, property| view.set(property, value))
    }

    /// Overwrites a property, and does not check the classes of the objects in the value.
    pub(crate) fn write_value(&self, object: ObjectHandle, name: &str, value: &Value) -> Result<(), CallError> {
        self.may_write(object)?;
        self.with_property(object, name, |view, property| view.write(property, value))
    }
}

fn cube(properties: &[PropertyDecl]) -> (World, Rc<Class>) {
    let world = world();
    let class = declare(&world, [dynamic("Cube", "/Script/Engine.Object", properties)]).remove(0);
    (world, class)
}

fn properties() -> Vec<PropertyDecl> {
    vec![PropertyDecl::new("label", PropertyKind::STRING), PropertyDecl::new("speed", PropertyKind::F64)]
}

/// Creates a store in which each slot accepts only `last_serial` objects in succession.
fn store(last_serial: u32) -> Objects {
    with_last_serial(last_serial, || {
        Objects::new(Rc::new(Names::default()), ModeWord::default(), BorrowedSlices::new())
    })
}

fn new(world: &World, class: &Rc<Class>) -> ObjectHandle {
    world.objects.allocate(class, None, ObjectHandle::NONE, 0)
}

#[test]
fn a_stale_handle_is_never_another_object() {
    let (world, class) = cube(&[]);
    let first = new(&world, &class);
    assert_eq!(first, ObjectHandle::new(0, 1));
    assert!(world.objects.release(first));
    let second = new(&world, &class);
    assert_eq!(second, ObjectHandle::new(0, 2));
    assert!(!world.objects.is_alive(first) && world.objects.is_alive(second));
    assert!(!world.objects.release(first));
    for wrong in [ObjectHandle::NONE, ObjectHandle::new(0, 3), ObjectHandle::new(7, 1)] {
        assert!(!world.objects.is_alive(wrong) && world.objects.memory(wrong).is_none());
    }
}

#[test]
fn a_slot_whose_serials_are_used_up_is_retired() {
    let (_, class) = cube(&[]);
    let objects = store(3);
    let mut handles = Vec::new();
    for _ in 0..7 {
        let object = objects.allocate(&class, None, ObjectHandle::NONE, 0);
        assert!(objects.release(object));
        handles.push((object.index(), object.serial()));
    }
    assert_eq!(handles, [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3), (2, 1)]);
}

#[test]
fn properties_are_read_and_written_by_type_and_by_name() {
    let (world, class) = cube(&properties());
    let object = new(&world, &class);
    world.objects.set(object, "label", "a cube".to_owned()).unwrap();
    world.objects.set(object, "speed", 2.5).unwrap();
    assert_eq!(world.objects.read_value(object, "label"), Ok(Value::Text("a cube".to_owned())));
    assert_eq!(world.objects.get::<f64>(object, "speed"), Ok(2.5));
    assert!(matches!(world.objects.get::<f32>(object, "speed"), Err(CallError::Signature { .. })));
    assert!(matches!(world.objects.read_value(object, "mass"), Err(CallError::NotFound { .. })));
    assert!(matches!(world.objects.write_value(object, "speed", &Value::F32(1.0)), Err(CallError::Signature { .. })));
    world.objects.release(object);
    assert_eq!(world.objects.get::<f64>(object, "speed"), Err(CallError::Stale { handle: object }));
}

#[test]
fn writes_check_the_mode_and_reads_do_not() {
    let (world, class) = cube(&properties());
    let (one, two) = (new(&world, &class), new(&world, &class));
    let _rebuilding = world.mode.enter(mode::REBUILDING);
    let _turn = world.mode.rebuild_turn(one);
    let speed = Value::F64(1.0);
    assert!(world.objects.write_value(one, "speed", &speed).is_ok());
    let refused = world.objects.write_value(two, "speed", &speed).unwrap_err();
    assert!(matches!(refused, CallError::DuringRebuild { .. }));
    assert_eq!(
        refused.to_string(),
        format!(
            "writing to {} is refused before the commit: until then new code may read all values, write only \
             the object that it builds, and call only its own functions and pure functions; pass the rest to `task::post`, \
             which runs it after the commit",
            world.objects.display(two)
        )
    );
    assert!(world.objects.read_value(two, "speed").is_ok());
}

#[test]
fn generated_names_are_unique_and_reused() {
    let (world, class) = cube(&[]);
    let text = |object| world.names.text(world.objects.name(object).unwrap()).to_string();
    let taken = world.names.intern("Cube_2");
    let holders = [(); 3].map(|()| world.objects.allocate(&class, Some(taken), ObjectHandle::NONE, 0));
    let (one, three) = (new(&world, &class), new(&world, &class));
    assert_eq!((text(one).as_str(), text(three).as_str()), ("Cube_1", "Cube_3"));
    world.objects.rename(one, "first", ObjectHandle::NONE).unwrap();
    assert_eq!(text(new(&world, &class)), "Cube_1");
    assert_eq!(text(one), "first");
    // The number in an explicit name is reused after the last object with this name is destroyed.
    for (holder, next) in holders.into_iter().zip(["Cube_4", "Cube_5", "Cube_2"]) {
        world.objects.release(holder);
        assert_eq!(text(new(&world, &class)), next);
    }
}

#[test]
fn the_number_in_an_explicit_name_is_reserved_until_no_outer_has_the_name() {
    let (world, class) = cube(&[]);
    let objects = &world.objects;
    let text = |object| world.names.text(objects.name(object).unwrap()).to_string();
    let named = |name, outer| objects.allocate(&class, Some(world.names.intern(name)), outer, 0);
    let house = new(&world, &class);
    let (outside, inside) = (named("Cube_2", ObjectHandle::NONE), named("Cube_2", house));
    let others = ["Cube_0", "Cube_03", "Cube_4294967295", "Cube_4294967296"].map(|name| named(name, house));
    assert_eq!(text(new(&world, &class)), "Cube_3");
    objects.release(outside);
    assert_eq!(text(new(&world, &class)), "Cube_4");
    objects.rename(inside, "lamp", house).unwrap();
    assert_eq!(text(new(&world, &class)), "Cube_2");
    // These names reserve no number, or a number that no object has skipped.
    others.into_iter().for_each(|other| assert!(objects.release(other)));
    assert_eq!(text(new(&world, &class)), "Cube_5");
}

#[test]
fn objects_are_listed_in_order_of_creation() {
    let (world, class) = cube(&[]);
    let objects: Vec<_> = (0..3).map(|_| new(&world, &class)).collect();
    world.objects.release(objects[0]);
    let late = new(&world, &class);
    assert_eq!(late.index(), objects[0].index());
    assert_eq!(world.objects.alive(), [objects[1], objects[2], late]);
}

#[test]
fn lists_by_class_check_each_class_once_and_contain_its_objects_in_order_of_creation() {
    let world = world();
    let decls = ["Cube", "Ball"].map(|name| dynamic(name, "/Script/Engine.Object", &[]));
    let classes = declare(&world, decls);
    let (cube, objects) = (&classes[0], &world.objects);
    let all: Vec<_> = (0..6).map(|at| new(&world, &classes[at % 2])).collect();
    let cdo = objects.allocate(cube, None, ObjectHandle::NONE, object_flags::CDO);
    objects.release(all[0]);
    let late = new(&world, cube);
    assert_eq!(late.index(), all[0].index());
    let mut checked = Vec::new();
    let cubes = objects.of_classes(|class| {
        checked.push(class.id);
        class.id == cube.id
    });
    assert_eq!((cubes, checked.len()), (vec![all[2], all[4], cdo, late], 2));
    assert_eq!(objects.living_of(|class| class.id == cube.id), [all[2], all[4], late]);
    assert_eq!(objects.of_class(cube), [all[2], all[4], late]);
    assert_eq!((objects.living().len(), objects.count_living()), (6, 6));
}

#[test]
fn dormant_objects_are_listed_with_the_objects_of_any_class() {
    let (world, class) = cube(&[]);
    let objects = &world.objects;
    let (awake, asleep) = (new(&world, &class), new(&world, &class));
    let dormant = || Dormant { class: "/Script/Game.Gone".into(), ..Dormant::default() };
    objects.begin_shadow();
    objects.stage(asleep, Body { dormant: Some(Box::new(dormant())), ..Body::new(&class) }).unwrap();
    assert_eq!((objects.living_of(|_| false), objects.is_dormant(asleep)), (vec![asleep], true));
    assert_eq!(objects.of_class(&class), [awake]);
    objects.drop_shadow();
    assert!(objects.living_of(|_| false).is_empty() && !objects.is_dormant(asleep));
    objects.set_dormant(asleep, dormant()).unwrap();
    assert_eq!(objects.living_of(|_| false), [asleep]);
    objects.release(asleep);
    assert!(!objects.is_dormant(new(&world, &class)), "it has the slot of a dormant object");
}

#[test]
fn templates_that_a_shadow_destroys_are_not_counted_and_a_rollback_restores_them() {
    let (world, class) = cube(&[]);
    let objects = &world.objects;
    let cdo = objects.allocate(&class, None, ObjectHandle::NONE, object_flags::CDO);
    let object = new(&world, &class);
    objects.begin_shadow();
    objects.release(cdo);
    assert_eq!((objects.living(), objects.count_living()), (vec![object], 1));
    objects.drop_shadow();
    assert_eq!((objects.living(), objects.count_living(), objects.alive().len()), (vec![object], 1, 2));
    objects.release(cdo);
    let reused = new(&world, &class);
    assert_eq!((reused.index(), objects.count_living()), (cdo.index(), 2));
}

#[test]
fn a_released_objects_memory_remains_until_the_graveyard_is_freed() {
    let (world, class) = cube(&properties());
    let object = new(&world, &class);
    world.objects.write_value(object, "label", &Value::Text("still here".to_owned())).unwrap();
    world.objects.add_root(object);
    let weak = Rc::downgrade(class.find_property("label").unwrap());
    world.objects.release(object);
    assert!(!world.objects.is_root(object) && world.objects.roots().is_empty());
    assert_eq!((world.objects.free_graveyard(), world.objects.free_graveyard()), (1, 0));
    assert!(weak.upgrade().is_some(), "the class is not the object's");
}

/// Creates two objects of the old class, and then one object in the shadow. The first object has a staged body. The second object is
/// destroyed.
fn shadowed() -> (World, [ObjectHandle; 3]) {
    let (world, class) = cube(&properties());
    let (kept, ended) = (new(&world, &class), new(&world, &class));
    world.objects.write_value(kept, "speed", &Value::F64(1.0)).unwrap();
    world.objects.set_plugin_part(kept, PluginPart::of(11));
    world.objects.add_root(ended);
    world.objects.begin_shadow();
    world.types.begin_shadow();
    world.types.hide_in_shadow(["/Script/Game.Cube"]);
    let decl = dynamic("Cube", "/Script/Engine.Object", &[PropertyDecl::new("speed", PropertyKind::F32)]);
    let class = declare(&world, [decl]).remove(0);
    let body = Body::new(&class);
    body.view().set(class.find_property("speed").unwrap(), 8.0f32).unwrap();
    world.objects.stage(kept, body).unwrap();
    assert_eq!(world.objects.conjugate(kept), Some(0), "a staged body has no conjugate");
    world.objects.set_plugin_part(kept, PluginPart::of(22));
    world.objects.release(ended);
    let created = new(&world, &class);
    (world, [kept, ended, created])
}

#[test]
fn a_shadow_shows_staged_bodies_and_hides_ended_objects() {
    let (world, [kept, ended, created]) = shadowed();
    assert_eq!(world.objects.read_value(kept, "speed"), Ok(Value::F32(8.0)));
    assert_eq!(world.objects.conjugate(kept), Some(22));
    assert!(!world.objects.is_alive(ended) && world.objects.memory(ended).is_none());
    assert_eq!(world.objects.alive(), [kept, created]);
    let body = Body::new(&world.objects.class(kept).unwrap());
    assert_eq!(world.objects.stage(ended, body), Err(CallError::Stale { handle: ended }));
}

#[test]
fn a_committed_shadow_returns_old_bodies_and_destroys_ended_objects() {
    let (world, [kept, ended, created]) = shadowed();
    let memory = world.objects.memory(kept);
    let old = world.objects.commit_shadow();
    assert_eq!(old.conjugates().collect::<Vec<_>>(), [11]);
    assert_eq!(world.objects.memory(kept), memory, "what was staged is what is there");
    assert_eq!(world.objects.read_value(kept, "speed"), Ok(Value::F32(8.0)));
    assert_eq!(world.objects.constructed(kept), 2, "the classes of the new chain count as done");
    assert_eq!(world.objects.alive(), [kept, created]);
    assert!(!world.objects.is_alive(ended) && !world.objects.is_root(ended));
    assert_eq!(world.objects.free_graveyard(), 1);
}

#[test]
fn a_dropped_shadow_leaves_everything_as_it_was() {
    let (world, [kept, ended, created]) = shadowed();
    let (staged, newborn) = world.objects.drop_shadow();
    assert_eq!(staged.conjugates().collect::<Vec<_>>(), [22]);
    assert_eq!(newborn, [created]);
    assert_eq!(world.objects.read_value(kept, "speed"), Ok(Value::F64(1.0)));
    assert_eq!(world.objects.conjugate(kept), Some(11));
    assert!(world.objects.is_alive(ended) && world.objects.is_root(ended));
    assert!(world.objects.begin_end(ended), "its end has not begun");
    world.objects.release(created);
    assert_eq!(world.objects.alive(), [kept, ended]);
}

#[test]
fn a_rollback_restores_the_names_of_subobjects_and_a_commit_keeps_them() {
    let (world, class) = cube(&[]);
    let objects = &world.objects;
    let owner = new(&world, &class);
    let part = objects.allocate_part(&class, objects.part_name("mesh"), owner, object_flags::SUBOBJECT, 0);
    let parts = || ["mesh", "body", "leg_1"].map(|name| (objects.subobject(owner, name), objects.find(owner, name)));
    let [none, there] = [(None, None), (Some(part), Some(part))];
    for is_committed in [false, true] {
        objects.begin_shadow();
        objects.rename_part(owner, part, "leg_1");
        assert_eq!(parts(), [none, none, there]);
        objects.rename_part(owner, part, "body");
        assert_eq!(parts(), [none, there, none]);
        match is_committed {
            true => drop(objects.commit_shadow()),
            false => drop(objects.drop_shadow()),
        }
        assert_eq!(parts(), if is_committed { [none, there, none] } else { [there, none, none] });
    }
}

#[test]
fn a_commit_lists_objects_with_another_native_class() {
    let (world, class) = cube(&[]);
    let (moved, carried) = (new(&world, &class), new(&world, &class));
    let other = declare(&world, [native("Wheel", "/Script/Engine.Object", &[])]).remove(0);
    world.objects.begin_shadow();
    world.objects.stage(moved, Body::new(&other)).unwrap();
    world.objects.stage(carried, Body::new(&class)).unwrap();
    drop(world.objects.commit_shadow());
    let left = world.objects.next_left();
    assert!(left.is_some_and(|(object, left)| object == moved && Rc::ptr_eq(&left, &class)));
    assert!(world.objects.next_left().is_none());
}

#[test]
fn a_body_staged_twice_is_the_last_one() {
    let (world, [kept, ..]) = shadowed();
    let class = world.objects.class(kept).unwrap();
    world.objects.stage(kept, Body::new(&class)).unwrap();
    world.objects.set_plugin_part(kept, PluginPart::of(33));
    assert_eq!(world.objects.commit_shadow().bodies.len(), 1);
    assert_eq!(world.objects.conjugate(kept), Some(33));
}

#[test]
fn a_plugin_part_is_completed_only_for_its_own_conjugate() {
    let (world, class) = cube(&[]);
    let (objects, object) = (&world.objects, new(&world, &class));
    let begun = objects.begin_plugin_part(object, || ("key", PluginPart::of(11)));
    assert_eq!(begun, Some(("key", PluginPart::of(11))));
    assert_eq!((objects.conjugate(object), objects.part(object, class.id)), (Some(11), None));
    let part = std::ptr::without_provenance_mut(8);
    for (word, found) in [(12, None), (11, Some(part)), (12, Some(part))] {
        objects.finish_plugin_part(object, PluginPart::of(word).with_part(part, class.id));
        assert_eq!((objects.conjugate(object), objects.part(object, class.id)), (Some(11), found));
    }
    assert!(objects.release(object));
    objects.finish_plugin_part(object, PluginPart::of(11).with_part(part, class.id));
    assert_eq!(objects.part(object, class.id), None);
    assert_eq!(objects.begin_plugin_part(object, || -> ((), _) { unreachable!("it is gone") }), None);
}

/// Creates an object, and declares its class again in a shadow. Both declarations have equal layouts. The object keeps its body.
fn kept_in_place() -> (World, ObjectHandle, Rc<Class>) {
    let (world, class) = cube(&properties());
    let object = new(&world, &class);
    world.objects.write_value(object, "label", &Value::Text("old".to_owned())).unwrap();
    world.objects.write_value(object, "speed", &Value::F64(1.0)).unwrap();
    world.objects.set_plugin_part(object, PluginPart::of(11));
    world.objects.begin_shadow();
    world.types.begin_shadow();
    world.types.hide_in_shadow(["/Script/Game.Cube"]);
    let after = declare(&world, [dynamic("Cube", "/Script/Engine.Object", &properties())]).remove(0);
    world.objects.keep_body(object, &after).unwrap();
    (world, object, class)
}

fn values(world: &World, object: ObjectHandle) -> [Value; 2] {
    ["label", "speed"].map(|name| world.objects.read_value(object, name).unwrap())
}

#[test]
fn a_rollback_restores_the_class_and_the_plugin_part_of_each_kept_body() {
    let world = world();
    let declare_both =
        || declare(&world, ["Cube", "Ball"].map(|name| dynamic(name, "/Script/Engine.Object", &properties())));
    let before = declare_both();
    let objects = [0, 1, 1, 0, 1].map(|class: usize| (class, new(&world, &before[class])));
    for (word, (_, object)) in (1..).zip(objects) {
        world.objects.set_plugin_part(object, PluginPart::of(word));
    }
    world.objects.begin_shadow();
    world.types.begin_shadow();
    world.types.hide_in_shadow(["/Script/Game.Cube", "/Script/Game.Ball"]);
    let after = declare_both();
    for (class, object) in objects {
        world.objects.keep_body(object, &after[class]).unwrap();
        assert_eq!((world.objects.class_id(object), world.objects.conjugate(object)), (Some(after[class].id), Some(0)));
    }
    let (replaced, created) = world.objects.drop_shadow();
    assert_eq!((format!("{replaced:?}").as_str(), created), ("0 bodies, 5 bindings, 0 copies of values", vec![]));
    for (word, (class, object)) in (1..).zip(objects) {
        let found = (world.objects.class_id(object), world.objects.conjugate(object));
        assert_eq!(found, (Some(before[class].id), Some(word)));
    }
}

type Write = fn(&World, ObjectHandle) -> Result<(), CallError>;

const WRITES: [(&str, Write); 8] = [
    ("by type", |world, object| world.objects.set(object, "label", "new".to_owned())),
    ("by value", |world, object| world.objects.write_value(object, "speed", &Value::F64(2.0))),
    ("without a check", |world, object| world.objects.write_unasked(object, "label", &Value::Text("new".to_owned()))),
    ("in the body", |world, object| {
        world.objects.with_body_to_write(object, |body| {
            body.view().set(body.class().find_property("speed").expect("it has one"), 2.0)
        })?
    }),
    ("from a template", |world, object| {
        let class = world.objects.class(object).expect("it is alive");
        let template = new(world, &class);
        world.objects.copy_values(object, template, &class.properties, &[])
    }),
    ("native, by type", |world, object| world.set(object, "label", "new".to_owned())),
    ("native, by value", |world, object| world.write(object, "speed", &Value::F64(2.0))),
    ("native, at a cached offset", |world, object| {
        let speed = PropertyRef::new("speed");
        world.set(object, &speed, 2.0)?;
        world.set(object, &speed, 3.0)
    }),
];

#[test]
fn each_write_to_a_kept_body_is_undone_by_a_rollback_and_permanent_after_a_commit() {
    for (how, write) in WRITES {
        for is_committed in [false, true] {
            let (world, object, class) = kept_in_place();
            let (memory, before) = (world.objects.memory(object), values(&world, object));
            assert_eq!((world.objects.conjugate(object), world.objects.constructed(object)), (Some(0), 2));
            {
                let _staging = world.mode.enter(mode::STAGING);
                write(&world, object).unwrap_or_else(|error| panic!("{how}: {error}"));
                write(&world, object).unwrap_or_else(|error| panic!("{how}: {error}"));
            }
            let written = values(&world, object);
            assert_ne!(written, before, "{how}");
            let (replaced, expected) = match is_committed {
                true => (world.objects.commit_shadow(), written),
                false => (world.objects.drop_shadow().0, before),
            };
            assert_eq!(format!("{replaced:?}"), "0 bodies, 1 bindings, 1 copies of values", "{how}");
            assert_eq!(values(&world, object), expected, "{how}");
            assert_eq!(world.objects.memory(object), memory, "{how}");
            assert_eq!(world.objects.class_id(object) == Some(class.id), !is_committed, "{how}");
            assert_eq!(world.objects.conjugate(object), Some(if is_committed { 0 } else { 11 }), "{how}");
        }
    }
}

#[test]
fn a_rollback_of_a_kept_body_removes_values_put_aside_and_restores_a_destroyed_object() {
    let (world, object, class) = kept_in_place();
    world.objects.put_aside(object, &Rc::from("mass"), Value::U64(7)).unwrap();
    world.objects.write_unasked(object, "speed", &Value::F64(2.0)).unwrap();
    assert!(world.objects.has_aside(object, "mass") && world.objects.release(object));
    world.objects.drop_shadow();
    assert!(!world.objects.has_aside(object, "mass"));
    assert_eq!(values(&world, object), [Value::Text("old".to_owned()), Value::F64(1.0)]);
    assert_eq!(world.objects.class_id(object), Some(class.id));
}

#[test]
fn a_failed_copy_rejects_the_write_and_an_unwritten_body_is_not_copied() {
    let (world, object, _) = kept_in_place();
    let write = || world.objects.write_unasked(object, "speed", &Value::F64(2.0));
    world.objects.check_copies(|| Err(CallError::other("a test")));
    assert_eq!(write(), Err(CallError::other("a test")));
    assert_eq!(world.objects.get::<f64>(object, "speed"), Ok(1.0));
    assert_eq!(write(), Ok(()), "the copy exists");
    world.objects.drop_shadow();
    assert_eq!(world.objects.get::<f64>(object, "speed"), Ok(1.0));
    let (world, ..) = kept_in_place();
    assert_eq!(format!("{:?}", world.objects.commit_shadow()), "0 bodies, 1 bindings, 0 copies of values");
}

#[test]
#[should_panic(expected = "memory stays in place only for the same layout")]
fn a_body_of_another_layout_does_not_stay() {
    let (world, object, _) = kept_in_place();
    world.objects.drop_shadow();
    world.types.drop_shadow();
    let other = declare(&world, [dynamic("Other", "/Script/Engine.Object", &properties())]).remove(0);
    world.objects.begin_shadow();
    let _kept = world.objects.keep_body(object, &other);
}

/// Reads the directory entry of an object as a module does.
fn directory_entry(world: &World, object: ObjectHandle) -> Option<(u32, *mut u8)> {
    let head = world.objects.columns().head().as_ptr();
    // SAFETY: the head lives as long as the store, and no code changes the head during the read.
    let head = unsafe { head.read() };
    if object.index() >= head.len {
        return None;
    }
    // SAFETY: the directory has `len` entries, and the object's index is below `len`.
    let entry = unsafe { head.entries.wrapping_add(object.index() as usize).read() };
    (entry.serial == object.serial()).then_some((entry.class.0, entry.memory))
}

fn ends(world: &World) -> u64 {
    // SAFETY: the head lives as long as the store, and no code changes the head during the read.
    unsafe { world.objects.columns().head().as_ptr().read() }.ends
}

#[test]
fn cached_addresses_in_a_body_that_stays_remain_valid() {
    let (world, object, class) = kept_in_place();
    world.objects.drop_shadow();
    world.objects.begin_shadow();
    let seen = || (ends(&world), world.objects.count_living(), world.objects.memory(object));
    let before = seen();
    world.objects.keep_body(object, &class).unwrap();
    assert_eq!(seen(), before);
}

#[test]
fn a_dropped_shadow_returns_a_default_object_to_its_class() {
    let (world, class) = cube(&[]);
    let cdo = world.objects.allocate(&class, None, ObjectHandle::NONE, object_flags::CDO);
    class.cdo.set(cdo);
    world.objects.begin_shadow();
    // Clears the handle, like the destruction of a CDO.
    class.cdo.set(ObjectHandle::NONE);
    world.objects.release(cdo);
    world.objects.drop_shadow();
    assert_eq!((class.cdo.get(), world.objects.is_alive(cdo)), (cdo, true));
}

#[test]
fn the_directory_agrees_with_the_store_through_constructions_ends_and_shadows() {
    let check = |world: &World, objects: &[ObjectHandle]| {
        for object in objects {
            let class = world.objects.class(*object);
            let expected = class.map(|class| (class.id.0, world.objects.memory(*object).unwrap()));
            assert_eq!(directory_entry(world, *object), expected, "{object}");
        }
    };
    let (world, objects) = shadowed();
    check(&world, &objects);
    let (before, memory) = (ends(&world), world.objects.memory(objects[0]));
    world.objects.drop_shadow();
    check(&world, &objects);
    assert_ne!(world.objects.memory(objects[0]), memory);
    assert!(ends(&world) > before, "addresses of the dropped body are stale");
    let (world, objects) = shadowed();
    world.objects.commit_shadow();
    check(&world, &objects);
    // Exceeds the capacity, so that the entries are reallocated. The address of the head does not change.
    let (head, class) = (world.objects.columns().head().as_ptr(), world.objects.class(objects[2]).unwrap());
    let crowd: Vec<_> = (0..1000).map(|_| new(&world, &class)).collect();
    check(&world, &crowd);
    crowd.iter().step_by(2).for_each(|object| assert!(world.objects.release(*object)));
    check(&world, &crowd);
    assert_eq!(head, world.objects.columns().head().as_ptr());
}

#[test]
fn stale_handles_never_match_another_object_despite_short_serials() {
    let (_, class) = cube(&[PropertyDecl::new("tag", PropertyKind::U64)]);
    let objects = store(u8::MAX.into());
    let mut dice = Dice(7);
    let (mut living, mut stale, mut steps) = (Vec::new(), Vec::new(), 0_u64);
    while steps < 1_000_000 {
        if living.len() < 64 || (living.len() < 256 && dice.roll(2) == 0) {
            let object = objects.allocate(&class, None, ObjectHandle::NONE, 0);
            steps += 1;
            objects.set(object, "tag", steps).unwrap();
            living.push((object, steps));
        } else {
            let (object, _) = living.swap_remove(dice.roll(living.len()));
            assert!(objects.release(object));
            objects.free_graveyard();
            if stale.len() < 4096 {
                stale.push(object)
            } else {
                let at = dice.roll(4096);
                stale[at] = object
            }
        }
        let (object, mark) = living[dice.roll(living.len().max(1)) % living.len().max(1)];
        assert_eq!(objects.get::<u64>(object, "tag"), Ok(mark), "a living handle is its own object");
        if !stale.is_empty() {
            let object = stale[dice.roll(stale.len())];
            assert!(
                !objects.is_alive(object)
                    && objects.memory(object).is_none()
                    && objects.part(object, class.id).is_none()
            );
            assert_eq!(objects.get::<u64>(object, "tag"), Err(CallError::Stale { handle: object }));
        }
    }
}

#[test]
fn an_object_is_found_by_its_outer_and_its_name() {
    let (world, class) = cube(&[]);
    let (objects, none) = (&world.objects, ObjectHandle::NONE);
    let (house, other) = (new(&world, &class), new(&world, &class));
    let inside = objects.allocate(&class, Some(world.names.intern("lamp")), house, 0);
    let made = objects.allocate(&class, None, house, 0);
    assert_eq!((objects.find(house, "lamp"), objects.find(house, "Cube_3")), (Some(inside), Some(made)));
    assert_eq!(
        (objects.find(none, "lamp"), objects.find(other, "lamp"), objects.find(none, "Cube_3")),
        (None, None, None)
    );
    assert_eq!((objects.find(none, "Cube_1"), objects.find(none, "Cube_9")), (Some(house), None));
    objects.rename(inside, "lamp", other).unwrap();
    assert_eq!((objects.find(house, "lamp"), objects.find(other, "lamp")), (None, Some(inside)));
    objects.rename(made, "shade", house).unwrap();
    assert_eq!((objects.find(house, "Cube_3"), objects.find(house, "shade")), (None, Some(made)));
    objects.release(inside);
    assert_eq!(objects.find(other, "lamp"), None);
}

#[test]
fn names_are_unique_per_outer_and_objects_cannot_contain_themselves() {
    let (world, class) = cube(&[]);
    let (objects, none) = (&world.objects, ObjectHandle::NONE);
    let house = new(&world, &class);
    let room = objects.allocate(&class, Some(world.names.intern("room")), house, 0);
    let chair = objects.allocate(&class, Some(world.names.intern("chair")), room, 0);
    let cdo = objects.allocate(&class, None, none, object_flags::CDO);
    let part = objects.allocate(&class, None, house, object_flags::SUBOBJECT);
    for (object, name, outer, refused) in [
        (chair, "room", house, "#2.1 cannot be called `room`: #1.1 in the same outer already has this name"),
        (chair, "Cube_1", none, "#2.1 cannot be called `Cube_1`: #0.1 in the same outer already has this name"),
        (house, "house", chair, "#0.1 cannot be moved into #2.1, which is the same object or inside it"),
        (house, "house", house, "#0.1 cannot be moved into #0.1"),
        (cdo, "default", none, "#3.1 is a class default object"),
        (part, "part", room, "#4.1 is a default subobject"),
        (chair, "", none, "#2.1 cannot be called \"\": a name has one character at least"),
        (chair, "Default__Chair", none, "#2.1 cannot be called \"Default__Chair\": names that begin with"),
        (chair, "a\n", house, "#2.1 cannot be called \"a\\n\": a name has neither control characters nor"),
        (chair, "chair", ObjectHandle::new(9, 9), "#9.9 is gone"),
        (ObjectHandle::new(9, 9), "chair", none, "#9.9 is gone"),
    ] {
        let error = objects.rename(object, name, outer).unwrap_err().to_string();
        assert!(error.starts_with(refused), "{error}");
    }
    objects.rename(room, "room", house).expect("its own name is free for it");
    objects.rename(chair, "Cube_1", house).expect("a name is taken in its place only");
    objects.begin_shadow();
    assert_eq!(objects.rename(chair, "seat", none), Err(RenameError::DuringReload { object: chair }));
}

#[test]
fn a_rollback_restores_the_first_of_three_bodies_of_a_destroyed_object() {
    let (world, [kept, ..]) = shadowed();
    let class = world.objects.class(kept).unwrap();
    world.objects.stage(kept, Body::new(&class)).unwrap();
    world.objects.set_plugin_part(kept, PluginPart::of(33));
    assert!(world.objects.release(kept));
    let (staged, _created) = world.objects.drop_shadow();
    assert_eq!((staged.bodies.len(), world.objects.free_graveyard()), (1, 1));
    assert_eq!(world.objects.read_value(kept, "speed"), Ok(Value::F64(1.0)));
    assert_eq!((world.objects.conjugate(kept), world.objects.constructed(kept)), (Some(11), 0));
}
