//! Tests kept lookups of properties that read and write Rust types.

use alcedo_runtime::Value;
use alcedo_runtime::host::TypedProperty;
use alcedo_runtime::native::{Obj, Object};

use super::{COLT, HORSE, Kept, PONY, host, obj, reload, spawn};

#[test]
fn properties_work_in_all_classes_and_after_a_reload() {
    let host = host();
    let kept = Kept::of(&host);
    let horses = [HORSE, PONY, COLT, HORSE].map(|class| spawn(&host, class));
    for build in [1, 2] {
        if build == 2 {
            reload(&host, build);
        }
        for round in 0..3 {
            for (at, horse) in horses.iter().enumerate() {
                let mood = (round * 10 + at) as i32;
                kept.mood.set(*horse, mood).expect("written");
                assert_eq!(kept.mood.get(*horse).expect("read"), mood);
                let seen: Value = host.objects().get(*horse, "mood").expect("read");
                assert_eq!(seen, Value::I32(mood));
            }
        }
    }
    let wants: TypedProperty<bool> = host.property("up:/Script/Game.Horse:wants").expect("it is there");
    assert!(!wants.get(horses[1]).expect("read"));
    wants.set(horses[1], true).expect("written");
    assert!(wants.get(horses[1]).expect("read"));
    let other: TypedProperty<Obj<Object>> = host.property("up:/Script/Game.Horse:other").expect("it is there");
    other.set(horses[0], obj(horses[2])).expect("another horse");
    assert_eq!(other.get(horses[0]).expect("read").handle(), horses[2]);
    let actor = spawn(&host, "/Script/Engine.Actor");
    let refused = other.set(horses[0], obj(actor)).expect_err("no horse").to_string();
    assert!(refused.contains("/Script/Engine.Actor"), "{refused}");
    for wrong in ["up:/Script/Game.Horse:nothing", "uf:/Script/Game.Horse:answer", "no name"] {
        assert!(host.property::<i32>(wrong).is_err(), "{wrong}");
    }
    let refused = host.property::<i32>("up:/Script/Game.Horse:speed").expect_err("another type").to_string();
    assert!(refused.contains("a property of type f64"), "{refused}");
}
