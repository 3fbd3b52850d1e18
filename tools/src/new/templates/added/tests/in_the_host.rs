//! Tests in the host. A test cannot link a `cdylib`, so `test_world!` builds the library and loads it into the host.

use alcedo::test_world;
use {{host}}::builder;

#[test]
fn a_reload_keeps_objects_and_their_values() {
    let world = test_world!(builder());
    let object = world.spawn("{{class}}");
    world.set(object, "{{factor}}", 5.0);
{{call}}    let calls: u32 = world.call(object, "{{count}}", ());

    world.reload();
    assert_eq!(world.runtime().generation(), 2);
    assert_eq!(world.get::<f64>(object, "{{factor}}"), 5.0);
    assert_eq!(world.call::<u32>(object, "{{count}}", ()), calls, "a reload keeps it");
    assert_eq!(world.call::<u32>(object, "{{recent}}", ()), 0, "a reload resets it");
    world.finish();
}
