//! Tests in the host. A test cannot link a `cdylib`, so `test_world!` builds the library and loads it into the host.

use alcedo::test_world;
use {{host}}::builder;

#[test]
fn a_robot_drives_and_turns() {
    let world = test_world!(builder());
    let robot = world.spawn("{{camel}}Robot");
    world.tick(2.0);
    assert_eq!(world.get::<f64>(robot, "position"), 3.0);
    world.tick(5.0);
    assert_eq!(world.get::<f64>(robot, "speed"), -1.5);
    assert_eq!(world.call::<u32>(robot, "turn_count", ()), 1);
    world.assert_logged("turns for the 1. time");
    world.finish();
}

#[test]
fn robots_and_their_values_survive_an_edit() {
    let world = test_world!(builder());
    let robot = world.spawn("{{camel}}Robot");
    world.tick(7.0);
    let fresh = world.spawn("{{camel}}Robot");
    // Builds an edited copy of this plugin, and reloads it.
    world.edit("src/lib.rs", |text| text.replace("default = 1.5", "default = 3.0"));
    assert_eq!(world.get::<f64>(robot, "position"), 10.5);
    assert_eq!(world.get::<f64>(robot, "speed"), -1.5, "it was set");
    assert_eq!(world.get::<f64>(fresh, "speed"), 3.0, "it follows the default");
    assert_eq!(world.call::<u32>(robot, "turn_count", ()), 1, "it is kept");
    assert_eq!(world.call::<u32>(robot, "tick_count", ()), 0, "it is rebuilt");
    world.finish();
}
