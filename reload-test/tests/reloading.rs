//! Tests the program as a user runs it, with real builds. The program must succeed for a correct host, and fail for each injected fault.

use serde_json::Value;
use std::process::Output;
use tempfile::TempDir;

/// Runs the program for `reloads` and 50 objects, and returns its output and report.
fn run(reloads: u64, more: &[&str]) -> (Output, Value) {
    let dir = TempDir::new().expect("a folder");
    let json = dir.path().join("report.json");
    let mut program = crate::program(env!("CARGO_BIN_EXE_alcedo-reload-test"));
    program.args(["--reloads", &reloads.to_string(), "--objects", "50", "--json"]).arg(&json).args(more);
    let output = program.output().expect("the program");
    let text = std::fs::read(&json).unwrap_or_else(|error| panic!("no report: {error}, {output:?}"));
    (output, serde_json::from_slice(&text).expect("a report in JSON"))
}

/// Runs the program with an injected fault, and checks that the fault is detected.
fn failing(fault: &str, more: &[&str]) -> Value {
    let (output, report) = run(4, &[&["--sabotage", fault], more].concat());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(report["ok"], false, "{report:#}");
    report
}

fn errors(report: &Value) -> String {
    report["errors"].to_string()
}

#[test]
fn twenty_reloads_keep_fifty_objects() {
    let (output, report) = run(20, &[]);
    let summary = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{summary}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(summary.contains("20 reloads × 50 objects: all kept"), "{summary}");

    let fields = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(
        fields(&report),
        "errors left_to_run lost_objects objects ok open_fds pause_ms pause_ns_per_object phases_ms plugin \
         rebuild_ns_per_conjugate reloads rss_kib stale_mappings swap_us thread_keys threads wrong_answers"
    );
    assert_eq!(fields(&report["rss_kib"]), "end slope_per_reload start");
    assert_eq!([fields(&report["open_fds"]), fields(&report["threads"])], ["end start"; 2]);
    assert_eq!([fields(&report["swap_us"]), fields(&report["rebuild_ns_per_conjugate"])], ["max p50 p95"; 2]);
    let ranges = [&report["pause_ms"], &report["pause_ns_per_object"], &report["phases_ms"]["quiesce"]];
    assert_eq!(ranges.map(fields), ["max median min"; 3]);
    // Ignores the phase `canary`, which a host without a canary does not have.
    let phases = fields(&report["phases_ms"]).replace("canary ", "");
    assert_eq!(phases, "classes commit migrate quiesce rebuild retire stage start");
    let number = |path: &str| report.pointer(path).and_then(Value::as_f64).unwrap_or_default();
    assert!(number("/swap_us/max") <= number("/pause_ms/max") * 1e3, "{report:#}");
    assert!(
        summary.contains("\n  pause        min ") && summary.contains("\n  phases       stage    min "),
        "{summary}"
    );

    assert_eq!((&report["plugin"], &report["ok"]), (&"magic-cube".into(), &true.into()));
    assert_eq!((&report["reloads"], &report["objects"]), (&20.into(), &50.into()));
    assert_eq!((&report["lost_objects"], &report["wrong_answers"]), (&0.into(), &0.into()));
    assert_eq!(report["errors"], Value::Array(Vec::new()));
    for measured in [
        "/rss_kib/start",
        "/open_fds/end",
        "/threads/start",
        "/swap_us/p50",
        "/rebuild_ns_per_conjugate/max",
        "/pause_ms/min",
        "/pause_ns_per_object/min",
        "/phases_ms/stage/min",
    ] {
        let number = report.pointer(measured).and_then(Value::as_f64);
        assert!(number.is_some_and(|number| number > 0.0), "{measured} is {number:?}");
    }
}

#[test]
fn results_are_printed_although_the_report_cannot_be_written() {
    let dir = TempDir::new().expect("a folder");
    let mut program = crate::program(env!("CARGO_BIN_EXE_alcedo-reload-test"));
    program.args(["--plugin", "unknown", "--json"]).arg(dir.path().join("none/report.json"));
    let output = program.output().expect("the program");
    let [summary, errors] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(summary.contains("unknown plugin `unknown`"), "{summary}");
    assert!(errors.contains("could not write the report"), "{errors}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test programs reloading:: -- --ignored`, as .ci/run does"]
fn code_of_another_build_is_a_wrong_answer() {
    let report = failing("wrong-tag", &[]);
    assert!(report["wrong_answers"].as_u64() > Some(0), "{report:#}");
    assert!(errors(&report).contains("stale code"), "{report:#}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test programs reloading:: -- --ignored`, as .ci/run does"]
fn a_lost_object_is_counted() {
    let report = failing("lose-object", &[]);
    assert_eq!((&report["lost_objects"], &report["reloads"]), (&1.into(), &4.into()), "{report:#}");
    assert!(errors(&report).contains("objects are alive, not "), "{report:#}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test programs reloading:: -- --ignored`, as .ci/run does"]
fn a_changed_value_is_one_wrong_answer() {
    let report = failing("change-value", &[]);
    assert_eq!(report["wrong_answers"], 1, "{report:#}");
    assert!(errors(&report).contains("reload 2: rotation_speed of "), "{report:#}");
}

#[test]
fn leftovers_of_a_plugin_are_cleaned_up_on_their_threads() {
    let (output, report) = run(20, &["--plugin", "everything-unloads", "--panic-each"]);
    assert!(output.status.success(), "{report:#}\n{}", String::from_utf8_lossy(&output.stderr));
    let left = |what: &str| report["left_to_run"][what].as_u64();
    // Expects counts of 21 generations, each of which registers dozens of destructors and handlers on six threads.
    assert!(left("registered") > Some(21 * 24), "{report:#}");
    assert_eq!((left("run"), left("elsewhere")), (left("registered"), Some(0)), "{report:#}");
    assert_eq!(report["stale_mappings"], 0, "{report:#}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test programs reloading:: -- --ignored`, as .ci/run does"]
fn a_destructor_that_never_runs_is_a_wrong_answer() {
    let report = failing("uncounted", &["--plugin", "everything-unloads"]);
    assert!(errors(&report).contains("load 1: handler without a run of thread "), "{report:#}");
    assert!(errors(&report).contains("1 registered, 0 run"), "{report:#}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test programs reloading:: -- --ignored`, as .ci/run does"]
fn a_thread_that_never_ends_keeps_its_image_and_is_named() {
    let report = failing("endless", &["--plugin", "everything-unloads"]);
    assert!(errors(&report).contains("sink endless"), "{report:#}");
    assert!(errors(&report).contains("staged files are still mapped"), "{report:#}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test programs reloading:: -- --ignored`, as .ci/run does"]
fn a_file_more_after_each_reload_is_a_leak() {
    let (output, report) = run(12, &["--sabotage", "leak-file"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(errors(&report).contains("open files rise: "), "{report:#}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test programs reloading:: -- --ignored`, as .ci/run does"]
fn memory_that_grows_with_each_reload_is_a_leak() {
    let (output, report) = run(200, &["--sabotage", "leak-memory"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(errors(&report).contains("memory grows by "), "{report:#}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test programs reloading:: -- --ignored`, as .ci/run does"]
fn a_crashed_host_is_reported_with_its_signal() {
    let report = failing("abort", &[]);
    assert_eq!(report["reloads"], 2, "{report:#}");
    assert!(errors(&report).contains("SIGABRT"), "{report:#}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test programs reloading:: -- --ignored`, as .ci/run does"]
fn a_host_that_hangs_is_ended() {
    let report = failing("hang", &["--patience", "5"]);
    assert!(errors(&report).contains("the host hangs: no output for 5 s after reload 2"), "{report:#}");
}

#[test]
fn an_unknown_plugin_is_named_with_the_known_ones() {
    let (output, report) = run(1, &["--plugin", "nonesuch"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&report).contains("`nonesuch`; expected one of magic-cube, "), "{report:#}");
}
