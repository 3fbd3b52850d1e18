//! Tests in the sample engine. A test cannot link a `cdylib`, so `test_world!` builds the library and loads it into the engine.

use alcedo::test_world;

#[test]
fn actors_and_their_values_survive_an_edit() {
    let world = test_world!();
    let actor = world.spawn("{{camel}}Actor");
    for _ in 0..3 {
        world.tick(4.0);
    }
    assert_eq!(world.call::<u32>(actor, "tick_count", ()), 3);
    world.assert_logged("has flown for the 1. time");
    world.set(actor, "turning", 5.0);

    // Builds an edited copy of this plugin, and reloads it.
    world.edit("src/lib.rs", |text| text.replace("default = 90.0", "default = 45.0"));
    assert_eq!(world.get::<f64>(actor, "turning"), 5.0, "it was set");
    assert_eq!(world.call::<u32>(actor, "flight_count", ()), 1, "it is kept");
    assert_eq!(world.call::<u32>(actor, "tick_count", ()), 0, "it is rebuilt");
    world.finish();
}
