//! Tests panics in a real plugin under `alcedo dev`. For any generation, the backtrace must contain names and lines. The frames of the
//! author's code must be first. No image may stay mapped for the backtrace.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Dev, Scratch};

/// Two nested calls that no optimization merges.
const DOWN: &str = "
#[inline(never)]
fn first_down(depth: u32) -> u32 {
    second_down(std::hint::black_box(depth)) + 1
}

#[inline(never)]
fn second_down(depth: u32) -> u32 {
    if std::hint::black_box(depth) == 0 { panic!(\"at the bottom\") }
    depth
}
";
/// The panic in [`DOWN`]. Tests use this text to find its line number.
const BOTTOM: &str = "panic!(\"at the bottom\")";
const CALL: &str = "second_down(std::hint::black_box(depth))";

/// Returns the source of the cube with `line` inserted after `behind`.
fn panicking(source: &str, behind: &str, line: &str) -> String {
    assert_eq!(source.matches(behind).count(), 1, "{behind}");
    format!("{}{DOWN}", source.replace(behind, &format!("{behind}\n        {line}")))
}

/// Waits for the report of the panic at `BOTTOM`. Requests the backtrace, and checks the author's frames. Returns the complete backtrace.
fn expect_backtrace(dev: &mut Dev, source: &str, generation: u64, functions: &[&str]) -> String {
    let line = |text: &str| source.lines().position(|line| line.contains(text)).unwrap() + 1;
    let report = dev.wait_for("panicked at magic-cube/src/lib.rs");
    assert!(report.contains(&format!("panicked at magic-cube/src/lib.rs:{}:", line(BOTTOM))), "{report}");
    dev.wait_for("t shows all");
    dev.send("t");
    assert!(report.contains(": \"at the bottom\""), "{report}");
    dev.wait_for(", thread ");
    dev.wait_for("  \"at the bottom\"");
    dev.wait_for("  your code:");
    let own = [("magic_cube::second_down", line(BOTTOM)), ("magic_cube::first_down", line(CALL))];
    for (function, line) in own {
        let call = dev.wait_for(" ");
        let module = format!("{function}   module magic_cube, generation {generation}   ");
        assert!(call.contains(&module) && call.ends_with(&format!("magic-cube/src/lib.rs:{line}")), "{module}: {call}");
    }
    for function in functions {
        let call = dev.wait_for(" ");
        assert!(call.contains(function), "{function}: {call}");
    }
    assert_eq!(dev.wait_for(" "), "  the rest:");
    dev.all_since(", thread ")
}

/// Returns the copies of the cube that are mapped in the world's process.
fn mapped(dev: &Dev) -> BTreeSet<String> {
    let pid = dev.child.id();
    let children = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let children = children.map(|task| fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default());
    let children: Vec<_> = children.flat_map(|pids| pids.split(' ').map(str::to_owned).collect::<Vec<_>>()).collect();
    let maps = children.iter().filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/maps")).ok());
    let copies = maps.flat_map(|maps| {
        let files = maps.lines().filter_map(|line| line.split_once('/')).map(|(_, path)| path.to_owned());
        files.filter(|path| path.contains("alcedo-stage-") && path.contains("magic_cube")).collect::<Vec<_>>()
    });
    copies.collect()
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands panics:: -- --ignored`, as .ci/run does"]
fn backtraces_of_panics_are_printed_in_every_generation_without_keeping_images() {
    let scratch = Scratch::new();
    let mut dev = Dev::start(&scratch);
    dev.wait_until_live();
    dev.send("t");
    dev.wait_for("no trace of a panic");
    let healthy = scratch.source();
    let hello = "fn say_hello_implementation(&mut self, this: This<Self>) {";
    let implementation = "magic_cube::MagicCube::say_hello_implementation";

    let second = panicking(&healthy, hello, "first_down(0);");
    scratch.save(&second);
    dev.wait_for("generation 1 → 2");
    let of_second = mapped(&dev);
    assert_eq!(of_second.len(), 1, "{of_second:?}");
    dev.send(": call MagicCube_3 say_hello");
    expect_backtrace(&mut dev, &second, 2, &[implementation]);
    // The backtrace omits the frames of the recorder. The backtrace contains the frames of the host that called the plugin.
    dev.wait_for("alcedo_runtime::bridge::calls::");
    let report = dev.all_since(", thread ");
    assert!(!report.contains("alcedo_sys::panics") && !report.contains("panic_guard::hook"), "{report}");

    // Reloads code with different line numbers. Then waits for the unmapping of the image that panicked.
    let third = panicking(&format!("\n\n\n{healthy}"), hello, "first_down(0);");
    scratch.save(&third);
    dev.wait_for("generation 2 → 3");
    let end = Instant::now() + Duration::from_secs(60);
    while !mapped(&dev).is_disjoint(&of_second) {
        assert!(Instant::now() < end, "the image that panicked stays: {:?}", mapped(&dev));
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(mapped(&dev).len(), 1);
    dev.send(": call MagicCube_3 say_hello");
    expect_backtrace(&mut dev, &third, 3, &[implementation]);

    // Panics in code that never becomes live. The image of this code is unmapped after the rollback.
    let fourth = panicking(&healthy, "fn new(_this: This<Self>) -> Self {", "first_down(0);");
    let before = mapped(&dev);
    scratch.save(&fourth);
    expect_backtrace(&mut dev, &fourth, 4, &["magic_cube::MagicCube::new"]);
    let end = Instant::now() + Duration::from_secs(60);
    while mapped(&dev) != before {
        assert!(Instant::now() < end, "the image that was rolled back stays: {:?}", mapped(&dev));
        thread::sleep(Duration::from_millis(20));
    }

    // Panics on a thread of the module, and in code whose panic the author catches.
    let worker = "std::thread::Builder::new().name(\"worker\".into()).spawn(|| first_down(0))";
    let caught = &format!("let _ = {worker}.map(|worker| worker.join());");
    let fifth = panicking(&healthy, hello, caught);
    scratch.save(&fifth);
    dev.wait_for(" → ");
    dev.send(": call MagicCube_3 say_hello");
    let report = expect_backtrace(&mut dev, &fifth, 5, &["say_hello_implementation::{{closure}}"]);
    assert!(report.contains(", thread worker\n"), "{report}");

    // A panic in every tick of every cube is reported once.
    let sixth = panicking(&healthy, "let delta = f64::from(delta);", "first_down(0);");
    scratch.save(&sixth);
    expect_backtrace(&mut dev, &sixth, 6, &["magic_cube::MagicCube::receive_tick"]);
    thread::sleep(Duration::from_millis(2500));
    dev.send("p");
    dev.wait_for("paused");
    let report = dev.all_since("t shows all");
    assert!(report.contains("your code:"), "the panic was reported once, before its backtrace: {report}");
    dev.send("q");
    dev.expect_success();
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands panics:: -- --ignored`, as .ci/run does"]
fn a_guard_prints_backtraces_of_panics_while_its_host_continues() {
    let scratch = Scratch::new();
    let healthy = scratch.source();
    let hello = "fn say_hello_implementation(&mut self, this: This<Self>) {";
    scratch.save(&panicking(&healthy, hello, "first_down(0);"));
    let alcedo = env!("CARGO_BIN_EXE_alcedo");
    // A guard prints its reports to the host's error stream.
    let run = |backtrace: &str| {
        let mut command = scratch.command("sh");
        command.args(["-c", "exec \"$0\" \"$@\" 2>&1", alcedo, "guard", alcedo, "dev", "--no-guard"]);
        command.arg(scratch.plugin()).args(["--objects", "3"]).env("ALCEDO_BACKTRACE", backtrace);
        let mut dev = Dev::run(command);
        dev.wait_until_live();
        dev.send(": call MagicCube_1 say_hello");
        dev.wait_for("at the bottom");
        dev
    };
    let mut dev = run("1");
    dev.wait_for("panicked at magic-cube/src/lib.rs:");
    dev.wait_for("  your code:");
    assert!(dev.wait_for(" ").contains("magic_cube::second_down   module magic_cube, generation 1"));
    dev.send(": get MagicCube_1 rotation_speed");
    dev.wait_for("18");
    dev.send("q");
    dev.expect_success();
    let mut dev = run("0");
    dev.send("q");
    dev.wait_for("game module ended");
    assert!(!dev.all_since("generation 1 is live").contains("your code:"));
    dev.expect_success();
}
