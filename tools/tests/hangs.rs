//! Plugin code that never returns, at any location: `alcedo dev` names it, its keys still work, and the next save continues with the
//! objects in their last state.

use crate::support::{Dev, Scratch};

const LOOP: &str = "loop { std::thread::sleep(std::time::Duration::from_millis(5)); }";

/// Source of the cube with an endless loop after this line.
fn endless(source: &str, behind: &str) -> String {
    assert_eq!(source.matches(behind).count(), 1, "{behind}");
    source.replace(behind, &format!("{behind}\n        if std::hint::black_box(true) {{ {LOOP} }}"))
}

/// Waits for the report of a hang and checks it.
fn hangs(dev: &mut Dev, thread: &str, function: &str) {
    let hang = dev.hears("it hangs:");
    let told = format!("the {thread} has been at {function} of module magic_cube for ");
    let (_, since) = hang.split_once(&told).unwrap_or_else(|| panic!("`{told}`: {hang}"));
    let seconds: f64 = since.split(' ').next().unwrap().parse().unwrap();
    assert!(seconds >= 1.0, "{hang}");
}

/// Requests the status, which must be answered during the hang.
fn answers(dev: &mut Dev) {
    dev.wishes("s");
    assert!(dev.hears("HANGS").contains("generation"), "the status says so");
}

/// Checks that the world of the former process was restored.
fn is_back(dev: &mut Dev) {
    dev.hears("generation 1 is live   the last build that did not crash or hang");
    let back = dev.hears("the world is back as it was");
    assert!(back.contains("41 objects"), "{back}");
}

/// Checks the value that identifies the world.
fn keeps_its_value(dev: &mut Dev) {
    dev.wishes(": get MagicCube_3 rotation_speed");
    while dev.hears("77") != "77" {}
}

#[test]
fn a_hang_is_named_and_the_next_save_restores_the_objects() {
    let scratch = Scratch::new();
    let mut dev = Dev::start(&scratch);
    dev.begins();
    let healthy = scratch.source();
    let other = |speed: &str| healthy.replace("default = 180.0", &format!("default = {speed}"));
    dev.wishes(": set MagicCube_3 rotation_speed 77");
    while dev.hears("77") != "77" {}

    // Each of these blocks the game thread. The first build was live before, the others never are.
    let places = [
        ("fn receive_tick(&mut self, this: This<Self>, delta: f32) {", "Game.MagicCube:receive_tick"),
        ("fn new(_this: This<Self>) -> Self {", "red constructor of Game.MagicCube"),
        ("fn started(args: &[&str]) {", "main of magic_cube"),
    ];
    for (number, (behind, function)) in places.into_iter().enumerate() {
        scratch.save(&endless(&healthy, behind));
        hangs(&mut dev, "game thread", function);
        answers(&mut dev);
        scratch.save(&other(&format!("18{number}.5")));
        dev.hears("the process that hung was ended");
        is_back(&mut dev);
        dev.hears("generation 1 → 2");
        keeps_its_value(&mut dev);
    }

    // A key has the same effect as a save: the last build is known to hang, so the build before it is used.
    scratch.save(&endless(&healthy, places[0].0));
    hangs(&mut dev, "game thread", places[0].1);
    dev.wishes("k");
    dev.hears("the process that hung was ended");
    is_back(&mut dev);
    keeps_its_value(&mut dev);

    // Destructors of these plugin parts never return, which blocks only the finalizer thread.
    scratch.save(&endless(&healthy, "fn drop(&mut self) {"));
    dev.hears("generation 1 → 2");
    scratch.save(&other("190.5"));
    dev.hears("generation 2 → 3");
    hangs(&mut dev, "finalizer thread", "Drop of Game.MagicCube");
    dev.hears("press k to restart");
    keeps_its_value(&mut dev);
    scratch.save(&other("191.5"));
    dev.hears("generation 3 → 4");
    keeps_its_value(&mut dev);
    // A manual restart blames no build, so the current build is used.
    dev.wishes("k");
    dev.hears("the world's process was ended");
    is_back(&mut dev);
    keeps_its_value(&mut dev);
    dev.wishes(": get Default__MagicCube rotation_speed");
    dev.hears("191.5");
    dev.wishes("q");
    dev.ends_well();
}
