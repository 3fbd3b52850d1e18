//! Tests `alcedo dev` on a terminal: single keys, completion of lines, and the status line. Output of the world must not overwrite the
//! status line.

use crate::support::Scratch;
use crate::support::terminal::Terminal;

#[test]
#[ignore = "builds for minutes: `cargo test --test commands terminal:: -- --ignored`, as .ci/run does"]
fn keys_and_status_line_work_in_every_state_of_the_world() {
    let scratch = Scratch::new();
    let mut command = scratch.command(env!("CARGO_BIN_EXE_alcedo"));
    command.arg("dev").arg(scratch.plugin()).args(["--objects", "5"]).env("TERM", "xterm");
    let mut terminal = Terminal::run(command, 50, 200);
    // The number includes a world, five cubes, and their five visible components.
    terminal.wait_for("11 objects");
    let healthy = scratch.source();

    // Waits for text that the test did not type, because the terminal also echoes the input.
    terminal.press(":get MagicCube_3 rotation_sp\t");
    terminal.wait_for(": get MagicCube_3 rotation_speed_");
    terminal.press("\r");
    terminal.wait_for("18");

    // Repeated output of a plugin is folded and escaped. Escaped output cannot move the cursor.
    let tick = "let delta = f64::from(delta);";
    assert_eq!(healthy.matches(tick).count(), 1, "the cube ticks");
    scratch.save(&healthy.replace(tick, &format!("println!(\"\\x1b[2Jsplash\"); {tick}")));
    terminal.wait_for("generation 1 → 2");
    terminal.wait_for("\\u{1b}[2Jsplash");
    terminal.wait_for("×");

    // The status line reports the hang automatically. The key `s` prints the hang.
    scratch.save(&healthy.replace(tick, &format!("if true {{ loop {{}} }} {tick}")));
    terminal.wait_for("it hangs:");
    terminal.wait_for("HANGS: save or press k");
    terminal.press("s");
    terminal.wait_for("HANGS: save or press k");
    terminal.press("k");
    terminal.wait_for("the process that hung was ended");
    terminal.wait_for("the last build that did not crash or hang");
    terminal.wait_for("the world is back as it was");

    terminal.press("q");
    assert_eq!(terminal.ended(), Some(0));
    assert!(!terminal.all().contains("\x1b[2J"), "nothing clears the screen");
}
