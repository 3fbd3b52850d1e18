//! Tests the survey as a user runs it. Alternating reloads detect late effects of an unloaded plugin. Reloads onto the same plugin hide
//! these effects, because the next generation handles a late call, or because no state exists that could be damaged.

use serde_json::Value;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn program(store: &Path, row: &str) -> Command {
    let mut program = crate::program(env!("CARGO_BIN_EXE_alcedo-survey"));
    // Uses the same profile as the plugins in the runtime's tests, so that their dependencies are compiled only once.
    program.envs([("CARGO_PROFILE_DEV_CODEGEN_UNITS", "32"), ("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")]);
    program.args(["--reloads", "4", "--rows", row, "--store"]).arg(store);
    program
}

fn run(program: &mut Command) -> (Output, String) {
    let output = program.output().expect("the program");
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, messages)
}

/// Returns two failures of a row with an injected fault: reloaded onto itself, and alternating with the neighbor.
fn harmed(row: &str, harm: &str, more: &[&str]) -> [String; 2] {
    let dir = TempDir::new().expect("a folder");
    let (output, messages) = run(program(dir.path(), row).args(["--sabotage", harm]).args(more));
    assert_eq!(output.status.code(), Some(1), "{messages}");
    let text =
        std::fs::read(dir.path().join(format!("{row}.json"))).unwrap_or_else(|error| panic!("{error}: {messages}"));
    let record: Value = serde_json::from_slice(&text).expect("a result in JSON");
    ["onto_itself", "alternating"]
        .map(|mode| record["outcomes"][mode]["fault"].as_str().unwrap_or("nothing").to_owned())
}

#[test]
#[ignore = "builds for minutes: `cargo test --test programs surveying:: -- --ignored`, as .ci/run does"]
fn a_sound_row_is_sound_in_both_modes_and_recorded() {
    let dir = TempDir::new().expect("a folder");
    let page = dir.path().join("page.md");
    let (output, messages) = run(program(dir.path(), "rand").arg("--page").arg(&page));
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{messages}");
    assert!(table.contains("| unmapped 4/4 | 4/4 |"), "{table}");
    let page = std::fs::read_to_string(page).expect("the page");
    assert!(page.contains("| unmapped 4/4 | 4/4 |") && page.contains("| `bare` | "), "{page}");

    let (output, messages) = run(program(dir.path(), "rand").arg("--missing"));
    assert!(output.status.success() && messages.contains("rand: known"), "{messages}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), table);
}

#[test]
#[ignore = "builds for minutes: `cargo test --test programs surveying:: -- --ignored`, as .ci/run does"]
fn a_late_write_to_freed_memory_is_found_by_the_neighbor() {
    let [itself, alternating] = harmed("rand", "late-write", &[]);
    assert_eq!(itself, "nothing");
    assert!(alternating.contains("the neighbor found: its memory was overwritten, 1 words from"), "{alternating}");
    assert!(alternating.contains("surveyed") && alternating.contains("after reload 1"), "{alternating}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test programs surveying:: -- --ignored`, as .ci/run does"]
fn a_late_signal_ends_the_host_only_without_another_handler() {
    let [itself, alternating] = harmed("signal-hook", "late-signal", &[]);
    assert_eq!(itself, "nothing");
    assert!(alternating.starts_with("the host crashed after reload 1, while the neighbor was loaded"), "{alternating}");
    assert!(alternating.contains("SIGUSR1"), "{alternating}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test programs surveying:: -- --ignored`, as .ci/run does"]
fn a_double_close_of_a_descriptor_is_found_by_the_neighbor() {
    let [itself, alternating] = harmed("rand", "late-close", &[]);
    assert_eq!(itself, "nothing");
    assert!(alternating.contains("the neighbor found: its descriptor was closed:"), "{alternating}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test programs surveying:: -- --ignored`, as .ci/run does"]
fn a_hanging_host_is_killed_and_the_other_modes_still_run() {
    let [itself, alternating] = harmed("rand", "hang", &["--patience", "8"]);
    assert_eq!(itself, "the host hung for 8 s after reload 1");
    assert!(
        alternating.starts_with("the host hung for 8 s after reload 1, while the neighbor was loaded"),
        "{alternating}"
    );
}

#[test]
fn a_row_whose_system_library_is_missing_is_left_out_by_name() {
    let dir = TempDir::new().expect("a folder");
    let missing = dir.path().join("pkg-config");
    std::fs::write(&missing, "#!/bin/sh\nexit 1\n").expect("there is room");
    std::fs::set_permissions(&missing, Permissions::from_mode(0o755)).expect("it may be run");
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap_or_default());
    let (output, messages) = run(program(&dir.path().join("store"), "pyo3,glib").env("PATH", path));
    assert!(output.status.success(), "{messages}");
    assert!(
        messages.contains("pyo3: left out. Python as a library is missing: apt-get install python3-dev"),
        "{messages}"
    );
    assert!(messages.contains("glib: left out. GLib is missing: apt-get install libglib2.0-dev"), "{messages}");
}

#[test]
fn a_requested_unknown_row_gets_the_known_ones() {
    let dir = TempDir::new().expect("a folder");
    let (output, messages) = run(&mut program(dir.path(), "nonesuch"));
    assert_eq!(output.status.code(), Some(1));
    assert!(messages.contains("unknown row `nonesuch`; expected one of bare, std, "), "{messages}");
}
