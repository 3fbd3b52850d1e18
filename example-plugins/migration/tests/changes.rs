//! Changes the declaration of a class while objects exist, and checks the values of these objects after the reload.

use alcedo::test_world;

const FILE: &str = "src/v1.rs";

#[test]
fn a_widened_number_keeps_its_value() {
    let world = test_world!();
    let shifter = world.spawn("Shapeshifter");
    world.set(shifter, "widened", -6);
    world.edit(FILE, |text| text.replace("widened: i32", "widened: i64"));
    assert_eq!(world.get::<i64>(shifter, "widened"), -6);
}

#[test]
fn only_a_default_value_follows_another_default() {
    let world = test_world!();
    let [plain, changed] = [(); 2].map(|()| world.spawn("Shapeshifter"));
    world.set(changed, "speed", 90.0);
    let report =
        world.edit(FILE, |text| text.replace("#[uproperty(default = 180.0)]", "#[uproperty(default = 240.0)]"));
    assert_eq!(world.get::<f64>(plain, "speed"), 240.0);
    assert_eq!(world.get::<f64>(changed, "speed"), 90.0);
    let speed = report.properties.iter().find(|change| change.property == "speed").unwrap();
    assert_eq!((speed.followed, speed.kept), (1, 1));
}

#[test]
fn a_removed_property_returns_with_its_value() {
    let world = test_world!();
    let shifter = world.spawn("Shapeshifter");
    world.set(shifter, "removed", 8);
    let declared = "    #[uproperty(default = 7)]\n    removed: i32,\n";
    world.edit(FILE, |text| text.replace(declared, "    // Removed.\n"));
    world.edit(FILE, |text| text.replace("    // Removed.\n", declared));
    assert_eq!(world.get::<i32>(shifter, "removed"), 8);
}
