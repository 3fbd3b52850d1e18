//! Tests `alcedo dev` as a program on a pipe. The sources of a plugin are edited during the session.

use std::process::Command;

use crate::support::{Dev, Scratch};

#[test]
fn a_session_from_the_first_build_to_the_end() {
    let scratch = Scratch::new();
    let mut dev = Dev::start(&scratch);
    dev.wait_until_live();

    // Uses console commands to query and change the world.
    dev.send(": spawn Game.MagicCube");
    let object = dev.wait_for("   Game.MagicCube   #");
    let object = object.split_whitespace().next().unwrap();
    dev.send(&format!(": call {object} say_hello"));
    while dev.wait_for("done") != "done" {}
    dev.send(&format!(": call {object} greeting_count"));
    while dev.wait_for("1") != "1" {}
    dev.send(&format!(": call {object} greeting_count 7"));
    dev.wait_for("and 1 arguments were given");
    dev.send(&format!(": destroy {object}"));
    dev.wait_for("is gone");
    dev.send(&format!(": show {object}"));
    dev.wait_for("not found: `objects` lists some");

    scratch.edit("default = 180.0", "default = 240.0");
    dev.wait_for("building, because lib.rs changed");
    let live = dev.wait_for("generation 1 → 2");
    assert!(live.contains("live after ") && live.ends_with(" · 41 objects kept"), "{live}");
    dev.wait_for("default 180 → 240: 20 followed");

    // A compile error is printed once, and the old code continues.
    scratch.edit("default = 240.0", "default = \"fast\"");
    dev.wait_for("error");
    dev.wait_for("the old code keeps running");
    dev.send("s");
    assert!(dev.wait_for("ticks/s").starts_with("generation 2 · "));

    scratch.edit("default = \"fast\"", "default = 300.0");
    dev.wait_for("generation 2 → 3");

    dev.send("b 1");
    assert!(dev.wait_for("generation 3 → 4").ends_with(" · the code of generation 1"));
    dev.wait_for("default 300 → 180: 20 followed");
    dev.send("b 9");
    dev.wait_for("no code of generation 9");

    dev.send("p");
    dev.wait_for("paused");
    scratch.edit("default = 300.0", "default = 310.0");
    dev.wait_for("lib.rs changed (paused");
    dev.send("r");
    dev.wait_for("generation 4 → 5");
    dev.wait_for("default 180 → 310: 20 followed");
    scratch.edit("default = 310.0", "default = 320.0");
    dev.wait_for("lib.rs changed (paused");
    dev.send("a");
    dev.send("s");
    assert!(dev.wait_for("ticks/s").contains(" · building"));
    dev.wait_for("generation 5 → 6");

    // A save during a manual build is built when the mode is automatic again.
    dev.send("p");
    dev.wait_for("paused");
    scratch.edit("default = 320.0", "default = 330.0");
    dev.wait_for("lib.rs changed (paused");
    dev.send("r");
    dev.wait_for("building");
    scratch.edit("default = 330.0", "default = 340.0");
    dev.wait_for("lib.rs changed (paused");
    dev.send("a");
    dev.wait_for("→ 340: 20 followed");

    dev.send("nonsense");
    dev.wait_for("`nonsense` is not a command");
    dev.send("q");
    dev.expect_success();

    if cfg!(unix) {
        an_interrupt_ends_it_in_order_even_during_a_build(&scratch);
    }
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands dev:: -- --ignored`, as .ci/run does"]
fn a_save_reloads_changed_plugins_and_their_dependents_only() {
    let scratch = Scratch::new();
    // Writes glue for a host to the folder of a plugin.
    let for_host = scratch.other("glue-derived").join("src/for_host.rs");
    let library = scratch.build("glue-base");
    let mut glue = scratch.command(env!("CARGO_BIN_EXE_alcedo"));
    let output = glue.arg("glue").arg(library).args(["--for-host", "-o"]).arg(&for_host).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut command = scratch.command(env!("CARGO_BIN_EXE_alcedo"));
    command.arg("dev").args(["glue-derived", "glue-base", "magic-cube"].map(|name| scratch.other(name)));
    let mut dev = Dev::run(command);
    dev.wait_until_live();
    // The examples log nothing.
    let begun = dev.all_since("\0");
    assert!(!begun.contains("INFO"), "{begun}");
    scratch.edit_in("glue-base", "blueprint_read, default = 100.0", "blueprint_read, default = 120.0");
    assert!(dev.wait_for("generation 1 → 2").starts_with("glue_base, glue_derived  generation"));
    // A reason is printed only for a module whose own library has not changed.
    assert_eq!(dev.wait_for(": it ").trim(), "glue_derived: it uses glue_base");
    scratch.edit("default = 180.0", "default = 240.0");
    assert!(dev.wait_for("generation 2 → 3").starts_with("magic_cube  generation"));
    // Glue of a module is regenerated when its types have changed.
    let field = "    /// Upper limit of `health`.\n";
    scratch.edit_in("glue-base", field, &format!("    #[uproperty]\n    shine: f64,\n{field}"));
    let written = dev.wait_for("glue written again");
    assert!(written.contains("glue_base.rs") && written.contains("for_host.rs"), "{written}");
    assert!(dev.wait_for("generation 3 → 4").starts_with("glue_base, glue_derived  generation"));
    let output = dev.all_since("glue written again");
    assert!(output.contains("building, because") && !output.contains("canceled"), "{output}");
    let glue = std::fs::read_to_string(scratch.other("glue-derived").join("src/glue_base.rs")).unwrap();
    assert!(glue.contains("shine: f64,"), "{glue}");
    let glue = std::fs::read_to_string(for_host).unwrap();
    assert!(glue.contains("--for-host") && glue.contains("shine"), "{glue}");
    dev.send("q");
    dev.expect_success();

    // In a build of both plugins, one plugin uses a member that its glue does not declare yet.
    let mut command = scratch.command(env!("CARGO_BIN_EXE_alcedo"));
    command.arg("dev").arg(scratch.root().join("example-plugins"));
    let mut dev = Dev::run(command);
    dev.wait_until_live();
    let shield = "this.set_shield(this.shield() - taken);";
    scratch.edit_in("glue-base", field, &format!("    #[uproperty]\n    gleam: f64,\n{field}"));
    scratch.edit_in("glue-derived", shield, &format!("{shield}\n        let _gleam = this.gleam();"));
    dev.wait_for("glue written again");
    dev.wait_for("generation 1 → 2");
    dev.send("q");
    dev.expect_success();
}

fn an_interrupt_ends_it_in_order_even_during_a_build(scratch: &Scratch) {
    let mut dev = Dev::start(scratch);
    dev.wait_for("building");
    let kill = Command::new("kill").args(["-INT", &dev.child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let status = dev.child.wait().unwrap(); // Ends although its input is still open.
    assert!(status.success(), "{status}");
}
