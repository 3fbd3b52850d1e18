//! Tests destruction without hooks. The destruction of every other object is left to the slow path.

use alcedo_base::handles::ObjectHandle;

use super::{OBJECT, Recorder, garage};
use crate::construction::{destroy, destroy_plain, make_cdo};
use crate::decl::ClassDecl;
use crate::testing::{declare, dynamic, end_hook, native, world};

#[test]
fn a_plain_object_ends_as_on_the_slow_path() {
    let world = world();
    let class = declare(&world, [dynamic("Cube", OBJECT, &[])]).remove(0);
    let recorder = Recorder::new(world);
    let [fast, slow] = [(); 2].map(|()| recorder.construct(&class).unwrap());
    let deaths = recorder.world.counters.deaths.get();
    recorder.take_order();
    assert_eq!(destroy_plain(&recorder.world, &recorder, &[fast]), 1);
    destroy(&recorder.world, &recorder, slow);
    assert_eq!(recorder.take_order(), ["end Cube_1", "end Cube_2"]);
    assert_eq!(recorder.world.counters.deaths.get(), deaths + 2);
    assert!([fast, slow].iter().all(|object| !recorder.world.objects.is_alive(*object)));
    assert_eq!(destroy_plain(&recorder.world, &recorder, &[fast]), 0, "the object is already destroyed");
}

#[test]
fn objects_with_hooks_or_subobjects_and_templates_are_not_plain() {
    let (recorder, big) = garage();
    let cdo = make_cdo(&recorder.world, &recorder, &big).unwrap();
    let owner = recorder.construct(&big).unwrap();
    let hooked = ClassDecl { begin_destroy: Some(end_hook(|_world, _object| {})), ..native("Hooked", OBJECT, &[]) };
    let classes = declare(
        &recorder.world,
        [hooked, dynamic("Derived", "/Script/Engine.Hooked", &[]), dynamic("Plain", OBJECT, &[])],
    );
    let object = |name: &str| {
        let class = classes.iter().find(|class| &*class.name == name).expect("declared above");
        recorder.construct(class).unwrap()
    };
    let (derived, announced) = (object("Derived"), object("Plain"));
    assert!(recorder.world.objects.announce_end(announced));
    recorder.take_order();
    for object in [cdo, owner, derived, announced, ObjectHandle::NONE] {
        assert_eq!(destroy_plain(&recorder.world, &recorder, &[object]), 0);
    }
    assert!(recorder.take_order().is_empty());
    assert!([cdo, owner, derived, announced].iter().all(|object| recorder.world.objects.is_alive(*object)));
    let plain: Vec<_> = (0..300).map(|_| object("Plain")).collect();
    let all = [&plain[..], &[derived, object("Plain")]].concat();
    recorder.take_order();
    assert_eq!(destroy_plain(&recorder.world, &recorder, &all), 300);
    assert_eq!(recorder.take_order().len(), 300);
    assert!(all.iter().all(|object| recorder.world.objects.is_alive(*object) != plain.contains(object)));
}
