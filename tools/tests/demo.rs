//! Tests the demo as a program: its machine-readable output, and its detection of a broken host.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::compiled_plugins;
use crate::support::terminal::Terminal;

/// Number of objects. A small number keeps tests short. The number must be much larger than three, the number of objects that the demo
/// changes by hand.
const OBJECTS: u64 = 40;

fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("cargo's folder for tests is in its target folder").into()
}

/// Runs the demo with further arguments. Returns its lines. Each line must be one JSON object.
fn demo(more: &[&str]) -> (Output, Vec<Value>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    command.args(["demo", "--json", "--objects", &OBJECTS.to_string()]).args(more).env("CARGO_TARGET_DIR", target());
    command.env("CARGO_BUILD_BUILD_DIR", compiled_plugins());
    let output = command.output().expect("the demo starts");
    let lines = String::from_utf8(output.stdout.clone()).expect("JSON is text");
    let lines = lines.lines().map(|line| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{line:?} is not JSON ({error})\n{}", errors(&output)))
    });
    let lines = lines.collect();
    (output, lines)
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn all<'a>(lines: &'a [Value], event: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["event"] == event).collect()
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands demo:: -- --ignored`, as .ci/run does"]
fn the_demo_passes_its_checks_and_prints_json() {
    let (output, lines) = demo(&[]);
    let failed: Vec<_> = all(&lines, "check").into_iter().filter(|check| check["ok"] != true).collect();
    assert!(output.status.success() && failed.is_empty(), "{failed:#?}\n{}", errors(&output));

    let reloads = all(&lines, "reload");
    let outcomes: Vec<_> = reloads.iter().map(|reload| reload["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["committed", "committed", "rolled_back", "committed"]);
    let mut living = 1;
    for reload in &reloads {
        let (from, generation) = (reload["from"].as_u64().unwrap(), reload["generation"].as_u64().unwrap());
        assert_eq!(from, living, "{reload:#}");
        assert_eq!(generation > from, reload["outcome"] == "committed", "{reload:#}");
        living = generation;
    }
    for reload in &reloads {
        let committed = reload["outcome"] == "committed";
        assert_eq!(reload["edit_to_live_ms"].is_number(), committed, "{reload:#}");
        assert!(reload["build_ms"].is_number() && reload["swap_ms"].is_number(), "{reload:#}");
        assert!(reload["phases"]["stage"].is_number(), "{reload:#}");
        let (live, build) = (reload["edit_to_live_ms"].as_f64(), reload["build_ms"].as_f64());
        assert!(!committed || live > build, "new code is not live before it is built: {reload:#}");
    }

    assert_eq!(all(&lines, "edit").len(), 4);
    for edit in all(&lines, "edit") {
        assert!(edit["diff"].as_str().unwrap().starts_with("--- magic-cube/src/lib.rs"), "{edit:#}");
    }

    let summary = lines.last().expect("there are lines");
    let expected = serde_json::json!({
        "event": "summary", "ok": true, "reloads": 3, "rollbacks": 1, "objects": OBJECTS, "objects_kept": OBJECTS,
        "conjugates_rebuilt": 3 * OBJECTS, "class_constructors_rerun": 0,
    });
    assert_eq!(summary, &expected);
}

/// The demo must fail with a host that contains an injected fault.
#[test]
#[ignore = "builds for minutes: `cargo test --test commands demo:: -- --ignored`, as .ci/run does"]
fn a_host_that_reruns_a_class_constructor_fails_the_demo() {
    let (output, lines) = demo(&["--planted-rerun"]);
    assert!(!output.status.success(), "the broken host passed: {lines:#?}");
    let summary = lines.last().expect("there are lines");
    assert_eq!((&summary["event"], &summary["ok"]), (&"summary".into(), &false.into()), "{}", errors(&output));
    assert_eq!(summary["reloads"], 3, "it goes all the way: {}", errors(&output));
    assert!(summary["class_constructors_rerun"].as_u64() > Some(0), "{summary:#}");
    let failed: Vec<_> = all(&lines, "check").into_iter().filter(|check| check["ok"] == false).collect();
    let named = |check: &&Value| check["name"].as_str().unwrap().contains("class constructor");
    assert!(failed.iter().any(named), "the failed check has this name: {failed:#?}");
}

#[test]
fn a_signal_ends_a_demo_that_waits_for_another() {
    let target = tempfile::tempdir().unwrap();
    fs::create_dir(target.path().join("demo")).unwrap();
    let other = File::create(target.path().join("demo/.alcedo-demo.lock")).unwrap();
    other.lock().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    command.arg("demo").env("CARGO_TARGET_DIR", target.path());
    let mut terminal = Terminal::run_built(command);
    terminal.wait_for("another demo is running");
    terminal.interrupt();
    assert_eq!(terminal.ended(), None, "the signal ends the process");
}
