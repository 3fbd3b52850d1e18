//! A real plugin in a real host: it is loaded, called, reloaded, and unloaded until its image is gone.

mod support;

use alcedo_runtime::{Budget, Value, process};

#[test]
fn objects_live_through_a_reload_and_the_new_code_answers() {
    let (first, second) = (support::tagged("magic-cube", &[], 1), support::tagged("magic-cube", &[], 2));
    let host = support::host(&[first]);
    let tag = || host.zcall("nm:/magic_cube:MagicCube:build_tag", &[]).expect("the module answers");
    assert_eq!(tag(), Some(Value::U64(1)));
    let cube = host.spawn("/Script/Game.MagicCube").expect("a cube");
    host.set(cube, "rotation_speed", &Value::F64(1234.5)).expect("a number");
    host.tick(Budget::frame());
    host.call(cube, "say_hello", &[]).expect("it says hello");

    let report = host.reload(&[second]).expect("a Master").into_result().expect("a reload");

    assert_eq!(tag(), Some(Value::U64(2)));
    assert!(host.is_alive(cube));
    assert_eq!(host.get(cube, "rotation_speed").expect("it has one"), Value::F64(1234.5));
    assert_eq!(host.call(cube, "greeting_count", &[]).expect("it counts"), Some(Value::U32(1)), "kept field");
    assert_eq!((report.objects_kept, report.conjugates_rebuilt, report.class_constructors_rerun), (2, 1, 0));
}

#[test]
fn an_unloaded_plugin_leaves_no_image_and_no_object() {
    let host = support::host(&[support::plugin("magic-cube", &[])]);
    let cube = host.spawn("/Script/Game.MagicCube").expect("a cube");
    let unload = host.unload_master().expect("a Master");
    assert_eq!((unload.objects_ended, unload.parked), (1, vec![]));
    assert!(!host.is_alive(cube));
    assert_eq!(process::stale_mappings(&host.stage_dir()).expect("the process map"), Vec::<std::path::PathBuf>::new());
    assert_eq!(host.generation(), 0);
}

#[test]
fn the_reloaded_world_goes_on_moving() {
    let library = support::plugin("magic-cube", &[]);
    let host = support::host(std::slice::from_ref(&library));
    let cube = host.spawn("/Script/Game.MagicCube").expect("a cube");
    let mut seen = Vec::new();
    for _ in 0..3 {
        host.tick(Budget::seconds(0.1));
        seen.push(host.get(cube, "rotation").expect("it turns"));
        host.reload(std::slice::from_ref(&library)).expect("a Master").into_result().expect("a reload");
    }
    assert!(seen[0] != seen[1] && seen[1] != seen[2], "{seen:?}");
}
