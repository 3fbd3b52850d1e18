//! Tests a module that sets its own panic hooks at various times and locations in its code. The host's errors must still contain the
//! message and the location of each panic. The author's hook runs once for each panic.

use crate::support;

use alcedo_runtime::{Runtime, Value};

fn outcry(args: &[&str], features: &[&str]) -> Runtime {
    let host = support::builder().module_args(args).build().expect("a host");
    host.create_master(&[support::plugin("outcry", features)]).unwrap_or_else(|error| panic!("{error}"));
    host
}

fn change(host: &Runtime, what: &str) {
    let changed = host.calls().call("ex:/outcry.change", &[Value::Text(what.to_owned())]);
    changed.unwrap_or_else(|error| panic!("{what}: {error}"));
}

/// Returns how often the author's hook has run since the previous call of this function.
fn hook_calls(host: &Runtime) -> u32 {
    match host.calls().call("ex:/outcry.hook_calls", &[]) {
        Ok(Some(Value::U32(times))) => times,
        other => panic!("it counts: {other:?}"),
    }
}

/// Checks that the panic error contains the message and the location.
fn assert_location(host: &Runtime, when: &str) {
    let error =
        host.calls().call("ex:/outcry.cry", &[Value::Text(when.to_owned())]).expect_err("it panics").to_string();
    let location = support::line_of("outcry", "panic!(\"{text}\");");
    assert!(error.contains(&format!("panicked: \"{when}\" at {location}:5")), "{when}: {error}");
    let error = host.calls().call("ex:/outcry.cry_number", &[Value::U64(7)]).expect_err("it panics").to_string();
    let location = support::line_of("outcry", "panic_any(number)");
    assert!(error.contains(&format!("at {location}:5")), "{when}: {error}");
}

#[test]
fn the_first_panic_after_setting_a_hook_has_its_location() {
    for what in ["set", "set with state", "set on a thread", "chain"] {
        let host = outcry(&[], &[]);
        change(&host, what);
        assert_location(&host, what);
        assert_eq!(hook_calls(&host), 2, "{what}: once for each panic");
        change(&host, "set");
        assert_location(&host, what);
        assert_eq!(hook_calls(&host), 2, "{what}: only the latest hook runs");
    }
}

#[test]
fn a_panic_hook_set_early_loses_no_location() {
    for what in ["set", "set with state", "set on a thread", "take", "chain", "keep", "drop in a panic"] {
        let host = outcry(&[what], &[]);
        assert_location(&host, what);
        let author = u32::from(what != "take") * 2;
        // The panic in main has also run the hook.
        assert_eq!(hook_calls(&host), author + u32::from(what == "drop in a panic"), "{what}");
    }
    let host = outcry(&[], &["early"]);
    assert_location(&host, "early");
    assert_eq!(hook_calls(&host), 2, "the hook of the initializer runs still");
}

#[test]
fn a_panic_hook_taken_and_dropped_keeps_the_location() {
    let host = outcry(&[], &[]);
    change(&host, "take");
    assert_location(&host, "taken");
    change(&host, "set");
    change(&host, "take");
    assert_location(&host, "taken again");
    assert_eq!(hook_calls(&host), 0, "the author has removed the hook");
}

/// Covers the only case that is detected late: the author takes and stores the hook of `module!`, and never calls this hook.
#[test]
fn a_panic_hook_taken_and_kept_loses_one_location_at_most() {
    let host = outcry(&[], &[]);
    for round in 0..3 {
        change(&host, "keep");
        let error = host.calls().call("ex:/outcry.cry", &[Value::Text("first".to_owned())]).expect_err("it panics");
        assert!(error.to_string().contains("panicked: \"first\""), "{error}");
        assert_location(&host, "kept");
        assert_eq!(hook_calls(&host), 3, "round {round}");
        change(&host, if round == 1 { "drop kept" } else { "restore" });
        assert_location(&host, "given back");
        // Round 1 drops the hook that `module!` has set. Round 2 stores and restores the author's own hook.
        assert_eq!(hook_calls(&host), if round == 0 { 0 } else { 2 }, "round {round}");
    }
}

#[test]
fn a_panic_on_a_module_thread_reaches_log_and_author_hook() {
    let record = support::record("alcedo::panic");
    let host = outcry(&["set"], &[]);
    let aside =
        host.calls().call("ex:/outcry.cry_aside", &[Value::Text("aside".to_owned())]).expect("its own thread panics");
    assert_eq!(aside, Some(Value::Bool(true)));
    assert_eq!(record.take(), "aside\n");
    assert_eq!(hook_calls(&host), 1);
}

#[test]
fn concurrent_hook_changes_and_panics_leave_a_working_chain() {
    let host = outcry(&[], &[]);
    assert_eq!(host.calls().call("ex:/outcry.storm", &[Value::U32(500)]).expect("it ends"), Some(Value::U32(4)));
    change(&host, "set");
    let _counted = hook_calls(&host);
    assert_location(&host, "after the storm");
    assert_eq!(hook_calls(&host), 2);
}

#[test]
fn panic_hooks_are_removed_with_their_module_at_no_cost() {
    let host = outcry(&["set with state"], &[]);
    for turn in 0..20 {
        for what in ["set", "chain", "keep", "set with state", "restore", "take", "chain", "set"] {
            change(&host, what);
        }
        assert_location(&host, "before the reload");
        let library = support::tagged("outcry", &[], turn % 2);
        let reload =
            host.reload(&[library]).expect("a Master").into_result().unwrap_or_else(|report| panic!("{report}"));
        assert!(reload.is_committed() && reload.blocked.is_none() && reload.parked.is_empty(), "{reload}");
        assert_location(&host, "after the reload");
    }
}

/// Environment variable that marks the child process, which a panic aborts.
const ENDING: &str = "OUTCRY_ENDING";

#[test]
fn a_panic_that_ends_the_program_is_in_the_log_before_that() {
    let test = "a_panic_that_ends_the_program_is_in_the_log_before_that";
    if std::env::var_os(ENDING).is_some() {
        tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
        let host = outcry(&[], &[]);
        let _ended = host.calls().call("ex:/outcry.cry_from_c", &[]);
        return;
    }
    let _built = support::plugin("outcry", &[]);
    let mut this = support::alone::only(module_path!(), test);
    let output = this.env(ENDING, "1").output().expect("this program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{stderr}");
    for part in ["where C calls", "panic in a function that cannot unwind"] {
        assert!(stderr.contains(part), "{part} is not in: {stderr}");
    }
}
