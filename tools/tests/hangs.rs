//! Tests plugin code that never returns. `alcedo dev` must name the hanging function, and must still handle keys. After the next save, the
//! objects must continue in their last state.

use crate::support::{Dev, Scratch};

const LOOP: &str = "loop { std::thread::sleep(std::time::Duration::from_millis(5)); }";

/// Returns the source of the cube with an endless loop inserted after the line `behind`.
fn endless(source: &str, behind: &str) -> String {
    assert_eq!(source.matches(behind).count(), 1, "{behind}");
    source.replace(behind, &format!("{behind}\n        if std::hint::black_box(true) {{ {LOOP} }}"))
}

/// Waits for the report of a hang and checks it.
fn expect_hang(dev: &mut Dev, thread: &str, function: &str) {
    let hang = dev.wait_for("it hangs:");
    let report = format!("the {thread} has been at {function} of module magic_cube for ");
    let (_, since) = hang.split_once(&report).unwrap_or_else(|| panic!("`{report}`: {hang}"));
    let seconds: f64 = since.split(' ').next().unwrap().parse().unwrap();
    assert!(seconds >= 1.0, "{hang}");
}

/// Requests the status. The session must respond during the hang.
fn expect_status(dev: &mut Dev) {
    dev.send("s");
    assert!(dev.wait_for("HANGS").contains("generation"), "the status line shows the hang");
}

/// Checks that the world of the killed process was restored.
fn expect_restored(dev: &mut Dev) {
    dev.wait_for("generation 1 is live   the last build that did not crash or hang");
    let back = dev.wait_for("the world is back as it was");
    assert!(back.contains("41 objects"), "{back}");
}

/// Checks the property whose value identifies the restored world.
fn expect_value(dev: &mut Dev) {
    dev.send(": get MagicCube_3 rotation_speed");
    while dev.wait_for("77") != "77" {}
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands hangs:: -- --ignored`, as .ci/run does"]
fn a_hang_is_named_and_the_next_save_restores_the_objects() {
    let scratch = Scratch::new();
    let mut dev = Dev::start(&scratch);
    dev.wait_until_live();
    let healthy = scratch.source();
    let other = |speed: &str| healthy.replace("default = 180.0", &format!("default = {speed}"));
    dev.send(": set MagicCube_3 rotation_speed 77");
    while dev.wait_for("77") != "77" {}

    // Each of these functions blocks the game thread. The first build becomes live before it hangs. The remaining builds never become live.
    let blocking_code = [
        ("fn receive_tick(&mut self, this: This<Self>, delta: f32) {", "Game.MagicCube:receive_tick"),
        ("fn new(_this: This<Self>) -> Self {", "red constructor of Game.MagicCube"),
        ("fn started(args: &[&str]) {", "main of magic_cube"),
    ];
    for (number, (behind, function)) in blocking_code.into_iter().enumerate() {
        scratch.save(&endless(&healthy, behind));
        expect_hang(&mut dev, "game thread", function);
        expect_status(&mut dev);
        scratch.save(&other(&format!("18{number}.5")));
        dev.wait_for("the process that hung was ended");
        expect_restored(&mut dev);
        dev.wait_for("generation 1 → 2");
        expect_value(&mut dev);
    }

    // The key `k` restarts the world, as a save does. The last build is known to hang, so the session uses the build before it.
    scratch.save(&endless(&healthy, blocking_code[0].0));
    expect_hang(&mut dev, "game thread", blocking_code[0].1);
    dev.send("k");
    dev.wait_for("the process that hung was ended");
    expect_restored(&mut dev);
    expect_value(&mut dev);

    // Destructors of these plugin parts never return. These destructors block only the finalizer thread.
    scratch.save(&endless(&healthy, "fn drop(&mut self) {"));
    dev.wait_for("generation 1 → 2");
    scratch.save(&other("190.5"));
    dev.wait_for("generation 2 → 3");
    expect_hang(&mut dev, "finalizer thread", "Drop of Game.MagicCube");
    dev.wait_for("press k to restart");
    expect_value(&mut dev);
    scratch.save(&other("191.5"));
    dev.wait_for("generation 3 → 4");
    expect_value(&mut dev);
    // A manual restart does not mark the build as faulty, so the session uses the current build again.
    dev.send("k");
    dev.wait_for("the world's process was ended");
    expect_restored(&mut dev);
    expect_value(&mut dev);
    dev.send(": get Default__MagicCube rotation_speed");
    dev.wait_for("191.5");
    // No hanging call returned, because each process was killed.
    let output = dev.all_since("\0");
    assert!(!output.contains("the hanging call has returned"), "{output}");
    dev.send("q");
    dev.expect_success();
}
