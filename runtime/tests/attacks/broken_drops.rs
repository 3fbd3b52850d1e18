//! Tests values whose `Drop` panics. A second panic, or a panic in a thread-local, would abort the process without a report that names the
//! module.

use std::fmt;
use std::fs;

use alcedo_runtime::{CallError, Error, Value};

use super::support::{alone, test_dir};
use super::{assert_works, host};

const FAILS: &str = "uf:/Script/Game.Breaker:fails";

#[test]
fn an_error_panicking_in_display_and_drop_counts_as_a_function_panic() {
    let host = host();
    for (number, expected) in [(0, "its words"), (1, "its words panic"), (2, "its drop panics"), (3, "its words panic")]
    {
        let failed = host.calls().call(FAILS, &[Value::U32(number)]).expect_err("it fails");
        match (number, failed) {
            (0, Error::Call(CallError::Returned { message, .. })) => assert_eq!(message, expected),
            (1.., Error::Call(CallError::Panicked { message, .. })) => assert_eq!(message, expected),
            (_, other) => panic!("{number}: {other}"),
        }
    }
    assert_works(&host);
}

#[test]
fn a_host_error_panicking_in_display_and_drop_counts_as_a_panic() {
    struct Broken;
    impl fmt::Display for Broken {
        fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("a format of the host")
        }
    }
    impl Drop for Broken {
        fn drop(&mut self) {
            panic!("a drop of the host")
        }
    }
    let failed = CallError::returned(Broken);
    assert!(matches!(&failed, CallError::Panicked { message, .. } if message == "a format of the host"), "{failed}");
}

#[test]
fn a_thread_local_with_a_panicking_drop_is_named_before_the_abort() {
    const CHILD: &str = "ALCEDO_TEST_GRENADE";
    if let Some(elsewhere) = std::env::var_os(CHILD) {
        assert!(alcedo_runtime::crash_guard::arm_if_supervised().expect("the folder is there"));
        let host = host();
        let _armed = host.calls().call("uf:/Script/Game.Breaker:arm", &[Value::Bool(elsewhere == "1")]);
        let _ended = host.unload_master();
        return;
    }
    let name = "a_thread_local_with_a_panicking_drop_is_named_before_the_abort";
    for (elsewhere, thread) in [("0", "name "), ("1", "name grenadier")] {
        let folder = test_dir().join(format!("grenade-{elsewhere}"));
        let _stale = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        let mut child = alone::only(module_path!(), name);
        child.env(CHILD, elsewhere).env(alcedo_runtime::crash_guard::FOLDER, &folder);
        let output = child.output().expect("this program starts");
        let output_text = alone::output_text(&output);
        assert!(!output.status.success(), "{output_text}");
        let named = ["alcedo: a thread-local of attacker", "attacker/src/broken_drops.rs\nline ", thread];
        assert!(named.iter().all(|part| output_text.contains(part)), "{output_text}");
        // The crash report names the module. A supervisor process can read this report.
        let report = fs::read_to_string(folder.join("crash")).expect("a report");
        assert!(report.contains("signal 6\n") && report.contains("\nlocal attacker"), "{report}");
    }
}
