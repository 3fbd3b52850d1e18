//! Tests the plugin in the sample engine. A test cannot link a `cdylib`, so the library is built and loaded, as in production.

use alcedo::engine::Rotator;
use alcedo::test_world;

#[test]
fn a_tick_turns_a_cube_by_its_speed() {
    let world = test_world!();
    let cube = world.spawn("MagicCube");
    world.set(cube, "rotation_speed", 90.0);
    world.tick(0.5);
    assert_eq!(world.get::<Rotator>(cube, "rotation").yaw, 45.0);
    world.finish();
}

#[test]
fn greetings_and_speed_survive_an_edit() {
    let world = test_world!();
    let cube = world.spawn("MagicCube");
    let speed: f64 = world.get(cube, "rotation_speed");
    world.call::<()>(cube, "say_hello", ());
    world.assert_logged("hello for the 1. time");

    world.edit("src/lib.rs", |text| text.replace("hello for the", "good morning for the"));
    assert_eq!(world.get::<f64>(cube, "rotation_speed"), speed);
    world.call::<()>(cube, "say_hello", ());
    world.assert_logged("good morning for the 2. time");
    assert_eq!(world.call::<u32>(cube, "greeting_count", ()), 2);
}

#[test]
fn a_red_constructor_that_panics_leaves_the_old_code() {
    let world = test_world!();
    let cube = world.spawn("MagicCube");
    world.set(cube, "rotation_speed", 700.0);
    let fast = "assert!(_this.rotation_speed() < 600.0, \"too fast\");\n        Self { elapsed";
    let report = world.expect_rollback("src/lib.rs", |text| text.replace("Self { elapsed", fast));
    assert!(report.to_string().contains("too fast"), "{report}");
    assert_eq!(world.runtime().generation(), 1);
    world.call::<()>(cube, "say_hello", ());
}
