//! Tests the crash guard with a real plugin that crashes its host in several ways. The report must name the module and the function. A
//! development session must continue with the last good build.

use std::io::Read as _;
use std::process::{Command, Stdio};

use crate::support::terminal::Terminal;
use crate::support::{Dev, Scratch};

/// Crashes: code for the tick of the cube, the expected signal, and a detail of the report.
const CRASHES: [(&str, &str, &str); 4] = [
    ("std::process::abort();", "SIGABRT", "thread alcedo"),
    // SAFETY: none. Source of plugin code that must crash; this test itself does not run it.
    ("let here: *mut u32 = std::ptr::without_provenance_mut(8); unsafe { here.write_volatile(1) };", "SIGSEGV", "0x8"),
    ("std::hint::black_box(down(u64::from(delta.to_bits())));", "SIGSEGV", "the stack is full"),
    // The allocation exceeds the address space.
    ("std::hint::black_box(vec![1_u8; 1 << 50]);", "SIGABRT", "out of memory"),
];

/// Infinite recursion that the optimizer cannot convert to a loop.
const DOWN: &str = "
#[inline(never)]
fn down(depth: u64) -> u64 {
    let here = std::hint::black_box([depth; 64]);
    down(depth + 1) + here[7]
}
";

#[test]
#[ignore = "builds for minutes: `cargo test --test commands guard:: -- --ignored`, as .ci/run does"]
fn a_crash_is_located_and_the_session_continues_with_a_good_build() {
    let scratch = Scratch::new();
    let mut dev = Dev::start(&scratch);
    dev.wait_until_live();
    let healthy = scratch.source();
    let tick = "let delta = f64::from(delta);";
    assert_eq!(healthy.matches(tick).count(), 1, "the cube ticks");
    for (code, signal, detail) in CRASHES {
        // Inserts the code in one line, so that the test can compute the expected line number.
        let healthy_but_unsafe = healthy.replace("#![forbid(unsafe_code)]", "");
        let crashing = format!("{}{DOWN}", healthy_but_unsafe.replace(tick, &format!("{code} {tick}")));
        let line = crashing.lines().position(|line| line.contains(code)).unwrap() + 1;
        scratch.save(&crashing);
        let crash = dev.wait_for("the host crashed:");
        assert!(crash.contains(signal) && crash.contains("thread alcedo"), "{code}: {crash}");
        let function = if code.contains("down") { "magic_cube::down" } else { "magic_cube::MagicCube::receive_tick" };
        let culprit = dev.wait_for("  in ");
        assert!(culprit.contains(function) && culprit.contains("module magic_cube, generation "), "{code}: {culprit}");
        if !code.contains("down") {
            assert!(culprit.ends_with(&format!("magic-cube/src/lib.rs:{line}")), "{code}, line {line}: {culprit}");
        }
        let calls = dev.wait_for("generation 1 is live   the last build that did not crash");
        assert!(calls.contains("save to build again"));
        let report = dev.all_since("the host crashed:");
        assert!(report.contains(detail), "{code}: {report}");
        let back = dev.wait_for("the world is back as it was");
        assert!(back.contains("41 objects"), "{code}: {back}");
        // The complete backtrace includes frames of the host.
        if !code.contains("down") {
            dev.send("t");
            dev.wait_for("  the rest:");
            dev.wait_for("alcedo_runtime::");
        }
        // A healthy source is built, and its code becomes live again.
        scratch.save(&healthy.replace("default = 180.0", &format!("default = {}.0", 200 + code.len())));
        dev.wait_for("generation 1 → 2");
    }
    // If a plugin exits the process with success, the session continues.
    scratch.save(&healthy.replace(tick, &format!("std::process::exit(0); {tick}")));
    assert!(dev.wait_for("the host ended:").contains("by itself, with exit code 0"));
    dev.wait_for("generation 1 is live   the last build that did not crash");
    assert!(dev.wait_for("the world is back as it was").contains("41 objects"));
    dev.send("q");
    dev.expect_success();
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands guard:: -- --ignored`, as .ci/run does"]
fn a_world_outlives_the_crash_of_the_only_build() {
    let scratch = Scratch::new();
    let healthy = scratch.source();
    // Crashes in the first tick. The world was saved before this tick.
    let tick = "let delta = f64::from(delta);";
    scratch.save(&healthy.replace(tick, &format!("std::process::abort(); {tick}")));
    let mut dev = Dev::start(&scratch);
    dev.wait_for("no build is left that did not crash");
    scratch.save(&healthy);
    dev.wait_for("generation 1 is live");
    dev.wait_for("the world is back as it was");
    dev.send("q");
    dev.expect_success();
}

#[test]
fn a_host_that_exits_by_itself_keeps_its_exit_code() {
    let guard = |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_alcedo")).arg("guard").args(args).output().unwrap();
    let ended = guard(&["sh", "-c", "exit 7"]);
    assert_eq!((ended.status.code(), ended.stderr.is_empty()), (Some(7), true));
    // The guard forwards signals to the host. The exit code of the host becomes the exit code of the guard.
    for signal in ["TERM", "INT", "QUIT", "USR1"] {
        let host = format!("trap 'exit 5' {signal}; echo ready; while :; do sleep 0.05; done");
        let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
        let mut child = command.args(["guard", "sh", "-c", &host]).stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = [0; 6];
        child.stdout.take().unwrap().read_exact(&mut ready).unwrap();
        assert!(
            Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap().success()
        );
        assert_eq!(child.wait().unwrap().code(), Some(5), "{signal}");
    }
    // The guard also reports the crash of a program that prints no message.
    let crashed = guard(&["sh", "-c", "kill -SEGV $$"]);
    let report = String::from_utf8_lossy(&crashed.stderr).into_owned();
    assert_eq!(crashed.status.code(), Some(1), "{report}");
    assert!(
        report.starts_with("the host crashed: SIGSEGV") && report.contains("has not armed its crash guard"),
        "{report}"
    );
}

#[test]
fn all_words_after_the_program_are_arguments_of_the_host() {
    for args in [["--help", "-h"], ["-h", "--help"], ["--", "x"], ["--port", "1"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
        let ended = command.args(["guard", "echo"]).args(args).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ended.stdout), format!("{}\n", args.join(" ")));
    }
}

#[test]
fn a_guard_exits_with_one_although_its_report_has_no_reader() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    let status = command.args(["guard", "sh", "-c", "kill -SEGV $$"]).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_guard_in_the_background_of_a_terminal_reports_a_crash() {
    let mut command = Command::new("setsid");
    let shell = "set -m; \"$0\" guard sh -c 'kill -SEGV $$' & wait $!";
    command.args(["--ctty", "--wait", "sh", "-c", shell, env!("CARGO_BIN_EXE_alcedo")]);
    let mut terminal = Terminal::run_built(command);
    terminal.wait_for("the host crashed:");
    assert_eq!(terminal.ended(), Some(1));
}
