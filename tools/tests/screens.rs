//! Compares screens of `alcedo dev` on a terminal of 80 columns and 24 rows with the files in `screens/`. `UPDATE_EXPECT=1` writes the
//! files. Numbers that differ between runs become `…`.

use std::fs;

use crate::support::Scratch;
use crate::support::terminal::Terminal;
use expect_test::{ExpectFile, expect_file};

const TICK: &str = "let delta = f64::from(delta);";

struct Scene {
    scratch: Scratch,
    terminal: Terminal,
    healthy: String,
}

impl Scene {
    fn new() -> Self {
        let scratch = Scratch::new();
        let mut command = scratch.command(env!("CARGO_BIN_EXE_alcedo"));
        command.arg("dev").arg(scratch.plugin()).args(["--objects", "3"]).env("TERM", "xterm").env("NO_COLOR", "1");
        // Restricts the log to warnings. Excludes the warnings of the watchdog, because the order of lines from two streams is undefined. A
        // log line could therefore be at any position on the screen.
        command.env("ALCEDO_LOG", "warn,alcedo_runtime::watchdog=off");
        let mut terminal = Terminal::run(command, 24, 80);
        terminal.wait_for("3 objects of Game.MagicCube");
        let healthy = scratch.source();
        Self { scratch, terminal, healthy }
    }

    /// Saves the healthy source with a line inserted before the code of the tick.
    fn save_tick(&self, line: &str) {
        assert_eq!(self.healthy.matches(TICK).count(), 1, "the cube ticks");
        self.scratch.save(&self.healthy.replace(TICK, &format!("{line} {TICK}")));
    }

    fn check(&mut self, parts: &[&str], expected: &ExpectFile) {
        self.terminal.check(parts, self.scratch.root(), expected);
    }
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands screens:: -- --ignored`, as .ci/run does"]
fn each_event_of_a_session_fits_a_small_terminal() {
    let mut scene = Scene::new();
    scene.check(&["ticks/s"], &expect_file!["screens/start.txt"]);

    scene.scratch.edit("default = 180.0", "default = 240.0");
    scene.check(&["ticks/s · 1 → 2 live"], &expect_file!["screens/live.txt"]);

    scene.scratch.edit("default = 240.0", "default = \"fast\"");
    scene.check(&["the old code keeps running"], &expect_file!["screens/compile_error.txt"]);

    // The first content never becomes live.
    scene.save_tick("not code");
    scene.scratch.save(&scene.healthy.replace("default = 180.0", "default = 190.0"));
    scene.check(&["ticks/s · 2 → 3 live"], &expect_file!["screens/two_saves.txt"]);
    scene.scratch.save(&scene.healthy.replace("default = 180.0", "default = 190.0"));
    scene.check(&["nothing that is built has changed"], &expect_file!["screens/unchanged.txt"]);

    scene.save_tick("assert!(delta < 0.0, \"no time\");");
    scene.terminal.wait_for("(100 times by now)");
    scene.check(&["panicked at"], &expect_file!["screens/panic_flood.txt"]);

    scene.save_tick("println!(\"splash\");");
    scene.check(&["splash"], &expect_file!["screens/println_flood.txt"]);

    let constructor = "fn new(_this: This<Self>) -> Self {";
    scene.scratch.save(&scene.healthy.replace(constructor, &format!("{constructor} assert!(1 > 2, \"no cube\");")));
    scene.check(
        &["stayed, the reload failed", "panicked at magic-cube/src/lib.rs:48"],
        &expect_file!["screens/rolled_back.txt"],
    );

    scene.save_tick("if delta < 1e9 { loop {} }");
    scene.check(&["HANGS"], &expect_file!["screens/hang.txt"]);
    scene.scratch.save(&scene.healthy);
    scene.check(&["ticks/s · 1 → 2 live"], &expect_file!["screens/hang_over.txt"]);

    scene.save_tick("if delta < 1e9 { std::process::abort() }");
    scene.terminal.wait_for("the host crashed");
    scene.terminal.wait_for("the world is back");
    scene.check(&["SIGABRT"], &expect_file!["screens/crash.txt"]);

    let class = "/// A cube that rotates and bobs.\n#[uclass";
    let (without, _) = scene.healthy.split_once(class).unwrap();
    scene.scratch.save(&without.replace("#![forbid(unsafe_code)]", "#![forbid(unsafe_code)]\n#![allow(unused)]"));
    scene.check(&["ticks/s · 1 → 2 live"], &expect_file!["screens/class_removed.txt"]);
    scene.scratch.save(&scene.healthy);
    scene.check(&["ticks/s · 2 → 3 live"], &expect_file!["screens/class_back.txt"]);

    let pace = scene.scratch.root().join("example-plugins/pace");
    fs::create_dir_all(pace.join("src")).unwrap();
    fs::write(pace.join("Cargo.toml"), "[package]\nname = \"pace\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
        .unwrap();
    fs::write(pace.join("src/lib.rs"), "pub const PACE: f64 = 2.0;\n").unwrap();
    scene.save_tick("let delta = delta * pace::PACE as f32;");
    let manifest = scene.scratch.plugin().join("Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let section = "[dependencies]\n";
    fs::write(&manifest, text.replace(section, &format!("{section}pace = {{ path = \"../pace\" }}\n"))).unwrap();
    scene.check(&["ticks/s · 3 → 4 live"], &expect_file!["screens/new_dependency.txt"]);

    scene.terminal.press("q");
    assert_eq!(scene.terminal.ended(), Some(0));
}
