//! Tests generated names of loaded objects. A load claims the numbers of older objects, and a rollback restores the older objects.

use std::collections::BTreeSet;
use std::rc::Rc;

use alcedo_base::handles::ObjectHandle;

use super::{cube, new};
use crate::World;
use crate::class::Class;
use crate::testing::{Dice, declare, dynamic};

/// Creates an object without an outer, as a load does.
fn saved(world: &World, class: &Rc<Class>, name: &str, room: &mut usize) -> ObjectHandle {
    let object = world.objects.allocate_saved(class, name, class.depth(), room);
    assert_eq!(text(world, object), name);
    object
}

fn text(world: &World, object: ObjectHandle) -> String {
    world.names.text(world.objects.name(object).expect("alive")).to_string()
}

fn find(world: &World, name: &str) -> Option<ObjectHandle> {
    world.objects.find(ObjectHandle::NONE, name)
}

fn is_unique(world: &World, object: ObjectHandle) -> bool {
    world.objects.unique_name(object).is_some()
}

#[test]
fn a_saved_generated_name_is_a_generated_name_after_the_load() {
    let (world, class) = cube(&[]);
    let mut room = 6;
    world.objects.begin_shadow();
    let loaded = ["Cube_1", "Cube_5", "Cube_3"].map(|name| saved(&world, &class, name, &mut room));
    let explicit = ["Cube_0", "Cube_07", "lamp"].map(|name| saved(&world, &class, name, &mut room));
    drop(world.objects.commit_shadow());
    assert_eq!(room, 1);
    assert!(loaded.iter().all(|object| is_unique(&world, *object)));
    assert!(!explicit.iter().any(|object| is_unique(&world, *object)));
    assert_eq!(find(&world, "Cube_5"), Some(loaded[1]));
    world.objects.release(loaded[2]);
    let spawned = [(); 4].map(|()| text(&world, new(&world, &class)));
    assert_eq!(spawned, ["Cube_2", "Cube_4", "Cube_3", "Cube_6"]);
}

#[test]
fn a_loaded_object_takes_over_the_name_of_an_older_object() {
    let (world, class) = cube(&[]);
    let old = [(); 3].map(|()| new(&world, &class));
    world.objects.begin_shadow();
    let loaded = saved(&world, &class, "Cube_2", &mut 0);
    assert_eq!((find(&world, "Cube_2"), text(&world, old[1])), (Some(loaded), "Cube_2".to_owned()));
    drop(world.objects.commit_shadow());
    assert!(old.into_iter().all(|object| world.objects.release(object)));
    world.objects.store.borrow().naming.check_free();
    assert!(is_unique(&world, loaded) && find(&world, "Cube_2") == Some(loaded));
    let spawned = [(); 3].map(|()| text(&world, new(&world, &class)));
    assert_eq!(spawned, ["Cube_1", "Cube_3", "Cube_4"]);
}

#[test]
fn an_older_object_that_stays_alive_shares_no_generated_name() {
    let (world, class) = cube(&[]);
    let objects = &world.objects;
    let [old, house] = [(); 2].map(|()| new(&world, &class));
    objects.begin_shadow();
    let loaded = saved(&world, &class, "Cube_1", &mut 0);
    drop(objects.commit_shadow());
    // An equal explicit name in a different outer must not hide the shared number.
    let inside = objects.allocate(&class, Some(world.names.intern("Cube_1")), house, 0);
    [old, house].into_iter().for_each(|object| objects.separate_name(object));
    assert!(objects.release(inside));
    assert!(![old, loaded].iter().any(|object| is_unique(&world, *object)));
    assert!(is_unique(&world, house), "no loaded object has this name");
    assert_eq!(find(&world, "Cube_1"), Some(loaded));
    assert_eq!(text(&world, new(&world, &class)), "Cube_3");
    assert!(objects.release(old));
    assert_eq!(find(&world, "Cube_1"), Some(loaded));
    objects.store.borrow().naming.check_free();
}

#[test]
fn an_older_object_without_its_number_has_an_explicit_name() {
    let (world, class) = cube(&[]);
    let old = new(&world, &class);
    world.objects.begin_shadow();
    let loaded = saved(&world, &class, "Cube_1", &mut 0);
    drop(world.objects.commit_shadow());
    assert!(world.objects.release(loaded));
    world.objects.separate_name(old);
    assert_eq!((find(&world, "Cube_1"), text(&world, new(&world, &class))), (Some(old), "Cube_2".to_owned()));
    assert!(world.objects.release(old));
    world.objects.store.borrow().naming.check_free();
}

#[test]
fn a_rollback_restores_the_older_objects_with_their_names() {
    let (world, class) = cube(&[]);
    let objects = &world.objects;
    let old = [(); 3].map(|()| new(&world, &class));
    objects.begin_shadow();
    let loaded = ["Cube_1", "Cube_2", "Cube_3", "Cube_5"].map(|name| saved(&world, &class, name, &mut 5));
    objects.rename(loaded[0], "moved", ObjectHandle::NONE).expect("the object was created in the shadow");
    objects.release(loaded[1]);
    // A spawned object receives one of the numbers that are free during the shadow.
    assert_eq!(text(&world, new(&world, &class)), "Cube_1");
    let (_replaced, created) = objects.drop_shadow();
    for (at, object) in old.iter().enumerate() {
        assert_eq!(find(&world, &format!("Cube_{}", at + 1)), Some(*object));
    }
    assert!(created.into_iter().rev().all(|object| objects.release(object)));
    objects.store.borrow().naming.check_free();
    assert!(old.iter().all(|object| is_unique(&world, *object)));
    let spawned = [(); 3].map(|()| text(&world, new(&world, &class)));
    assert_eq!(spawned, ["Cube_4", "Cube_5", "Cube_6"]);
}

#[test]
fn repeated_rollbacks_of_a_load_add_no_further_series() {
    let (world, class) = cube(&[]);
    let objects = &world.objects;
    let roll_back = || {
        objects.begin_shadow();
        for name in ["Door_1", "Gate_2", "Wall_3"] {
            let _loaded = saved(&world, &class, name, &mut 9);
        }
        let (_replaced, created) = objects.drop_shadow();
        assert!(created.into_iter().rev().all(|object| objects.release(object)));
        objects.store.borrow().naming.counts()
    };
    let first = roll_back();
    assert_eq!(roll_back(), first);
    objects.store.borrow().naming.check_free();
}

#[test]
fn a_huge_number_reserves_no_numbers() {
    let (world, class) = cube(&[]);
    world.objects.begin_shadow();
    let mut room = 4;
    for name in ["Cube_5", "Cube_4294967295", "Ball_4294967294"] {
        let object = saved(&world, &class, name, &mut room);
        assert!(!is_unique(&world, object) && find(&world, name) == Some(object));
    }
    assert_eq!(room, 4);
    // All series share the limit.
    for (name, is_made) in [("Cube_3", true), ("Ball_2", false), ("Ball_1", true), ("Cube_4", false), ("Cube_2", true)]
    {
        let object = saved(&world, &class, name, &mut room);
        assert_eq!(is_unique(&world, object), is_made, "{name}");
    }
    drop(world.objects.commit_shadow());
    world.objects.store.borrow().naming.check_free();
}

#[test]
fn a_name_with_several_holders_remains_an_explicit_name() {
    let (world, class) = cube(&[]);
    let objects = &world.objects;
    let house = new(&world, &class);
    objects.allocate(&class, Some(world.names.intern("Cube_2")), ObjectHandle::NONE, 0);
    let inside = objects.allocate(&class, None, house, 0);
    let free = new(&world, &class);
    assert_eq!([inside, free].map(|object| text(&world, object)), ["Cube_3", "Cube_4"]);
    objects.release(free);
    objects.begin_shadow();
    // An explicit name contains the first number, an object inside an outer has the second, and the third is free.
    let loaded = ["Cube_2", "Cube_3", "Cube_4"].map(|name| saved(&world, &class, name, &mut 9));
    assert_eq!(["Cube_2", "Cube_3", "Cube_4"].map(|name| find(&world, name)), loaded.map(Some));
    assert_eq!(objects.find(house, "Cube_3"), Some(inside));
    let again = [saved(&world, &class, "Cube_1", &mut 9), saved(&world, &class, "Cube_1", &mut 9)];
    assert_eq!(find(&world, "Cube_1"), Some(again[1]), "the latest object is found");
    drop(objects.commit_shadow());
    assert!(loaded.iter().chain(&again).all(|object| !is_unique(&world, *object)));
    objects.store.borrow().naming.check_free();
}

/// Objects without an outer, each with its name.
type Model = Vec<(ObjectHandle, String)>;

fn check(world: &World, model: &[(ObjectHandle, String)]) {
    world.objects.store.borrow().naming.check_free();
    for (object, name) in model {
        assert_eq!(text(world, *object), *name);
        assert_eq!(find(world, name), Some(*object), "{name}");
    }
    let names: BTreeSet<_> = model.iter().map(|(_, name)| name).collect();
    assert_eq!(names.len(), model.len(), "names are unique");
}

#[test]
fn random_loads_and_rollbacks_keep_names_unique() {
    let (world, class) = cube(&[]);
    let classes = [class, declare(&world, [dynamic("Ball", "/Script/Engine.Object", &[])]).remove(0)];
    let objects = &world.objects;
    let (mut dice, mut model) = (Dice(5), Model::new());
    for _ in 0..400 {
        let spawn = |dice: &mut Dice| {
            let object = new(&world, &classes[dice.roll(2)]);
            (object, text(&world, object))
        };
        let name = |dice: &mut Dice| format!("{}_{}", ["Cube", "Ball", "Door"][dice.roll(3)], 1 + dice.roll(12));
        match dice.roll(5) {
            0 | 1 => model.push(spawn(&mut dice)),
            2 if !model.is_empty() => {
                let (object, _) = model.swap_remove(dice.roll(model.len()));
                assert!(objects.release(object));
            }
            3 => {
                let name = name(&mut dice);
                if find(&world, &name).is_none() {
                    let interned = Some(world.names.intern(&name));
                    model.push((objects.allocate(&classes[0], interned, ObjectHandle::NONE, 0), name));
                }
            }
            _ => {
                objects.begin_shadow();
                let mut room = dice.roll(30);
                let names: BTreeSet<_> = (0..dice.roll(12)).map(|_| name(&mut dice)).collect();
                let load = |name: String| (saved(&world, &classes[0], &name, &mut room), name);
                let mut loaded: Model = names.into_iter().map(load).collect();
                for _ in 0..dice.roll(4) {
                    if !loaded.is_empty() {
                        assert!(objects.release(loaded.swap_remove(dice.roll(loaded.len())).0));
                    }
                    loaded.push(spawn(&mut dice));
                }
                let ended: Vec<_> = match dice.roll(2) {
                    0 => {
                        drop(objects.commit_shadow());
                        std::mem::replace(&mut model, loaded).into_iter().map(|(object, _)| object).collect()
                    }
                    _ => objects.drop_shadow().1,
                };
                assert!(ended.into_iter().all(|object| objects.release(object)));
            }
        }
        check(&world, &model);
    }
}
