//! The canary with real plugins that take their process along: it is the canary's process, the host says what became of
//! it and goes on with what it had. This binary is its own canary, which takes a main of its own.

mod support;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use alcedo_runtime::canary::run_if_child;
use alcedo_runtime::{Canary, CanaryStep, Error, LoadError, Outcome, Phase, Runtime, Value, process};
use libtest_mimic::{Arguments, Trial};

const FRAGILE: &str = "/Script/Game.Fragile";

fn main() -> ExitCode {
    run_if_child();
    let trials: [(&str, fn()); 8] = [
        ("a_crash_in_an_initializer_is_the_canarys", a_crash_in_an_initializer_is_the_canarys),
        ("a_panic_in_an_initializer_is_the_canarys_and_its_message_is_told", a_panic_in_an_initializer_is_told),
        ("a_hang_in_an_initializer_ends_with_the_deadline", a_hang_in_an_initializer_ends_with_the_deadline),
        ("an_exit_in_an_initializer_is_no_success", an_exit_in_an_initializer_is_no_success),
        ("a_crash_while_registering_is_the_canarys", a_crash_while_registering_is_the_canarys),
        ("a_healthy_module_is_loaded_and_the_report_tells_the_time", a_healthy_module_is_loaded),
        ("a_program_that_is_no_canary_is_found_out", a_program_that_is_no_canary_is_found_out),
        ("a_module_that_the_loader_refuses_is_named", a_module_that_the_loader_refuses_is_named),
    ];
    let trials = trials.map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit_code()
}

fn broken(features: &[&str]) -> PathBuf {
    support::plugin("broken", features)
}

/// The canary of a new Master, and that of a reload, meet this build. Gives the error of the first.
fn refused(feature: &str, deadline: Duration) -> LoadError {
    let builder = || support::builder().canary_deadline(deadline);
    let empty = builder().build().expect("a host");
    let error = match empty.create_master(&[broken(&[feature])]) {
        Err(Error::Load(error)) => error,
        other => panic!("{feature}: {other:?}"),
    };
    assert_eq!((empty.generation(), empty.contexts()), (0, vec![]), "{feature}");
    assert_unmapped(&empty);

    let host = builder().build().expect("a host");
    host.create_master(&[broken(&[])]).expect("a healthy build");
    let fragile = host.spawn(FRAGILE).expect("born");
    host.call(fragile, "poke", &[]).expect("it counts");
    let (digest, mapped) = (host.digest(), mappings(&host));
    let report = host.reload(&[broken(&[feature])]).expect("a Master");
    let Outcome::RolledBack { phase: Phase::Canary, error: told } = &report.outcome else { panic!("{report}") };
    assert!(told.contains("this host never mapped it"), "{told}");
    assert!(report.phases.get(Phase::Canary) > 0.0, "{report}");
    assert_eq!((host.generation(), host.digest(), mappings(&host)), (1, digest, mapped), "{feature}");
    let state = host.call(fragile, "state", &[]).expect("the old code answers");
    assert_eq!(state, Some(Value::Text("pokes=1 nerves=1".into())), "{feature}: the very plugin half");
    host.reload(&[broken(&[])]).expect("a Master").into_result().expect("a healthy build");
    host.unload_master().expect("a Master");
    assert_unmapped(&host);
    error
}

fn mappings(host: &Runtime) -> Vec<PathBuf> {
    process::stale_mappings(&host.stage_dir()).expect("the process map")
}

fn assert_unmapped(host: &Runtime) {
    assert_eq!((mappings(host), host.parked()), (vec![], vec![]));
}

/// Long enough for a canary on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn crashed(feature: &str) -> (CanaryStep, Option<i32>, String, String) {
    match refused(feature, PATIENCE) {
        LoadError::CanaryCrashed { module, step, signal, how, output } => {
            assert_eq!(module, "broken");
            (step, signal, how, output)
        }
        other => panic!("{feature}: {other}"),
    }
}

fn a_crash_in_an_initializer_is_the_canarys() {
    let (step, signal, how, output) = crashed("crash-in-initializer");
    assert_eq!((step, signal), (CanaryStep::Mapping, Some(11)));
    assert!(how.contains("SIGSEGV") && output.contains("the initializer of broken runs"), "{how} {output}");
}

fn a_panic_in_an_initializer_is_told() {
    let (step, signal, how, output) = crashed("panic-in-initializer");
    assert_eq!((step, signal), (CanaryStep::Mapping, Some(6)));
    assert!(how.contains("SIGABRT") && output.contains("broken on purpose: initializer"), "{how} {output}");
}

fn an_exit_in_an_initializer_is_no_success() {
    let (step, signal, how, _output) = crashed("exit-in-initializer");
    assert_eq!((step, signal, how.as_str()), (CanaryStep::Mapping, None, "exit status: 0"));
}

fn a_crash_while_registering_is_the_canarys() {
    let (step, signal, ..) = crashed("crash-in-registration");
    assert_eq!((step, signal), (CanaryStep::Registering, Some(11)));
}

fn a_hang_in_an_initializer_ends_with_the_deadline() {
    let deadline = Duration::from_secs(2);
    match refused("hang-in-initializer", deadline) {
        LoadError::CanaryHung { module, step, after, output } => {
            assert_eq!((module.as_str(), step, after), ("broken", CanaryStep::Mapping, deadline));
            assert!(output.contains("the initializer of broken runs"), "{output}");
        }
        other => panic!("{other}"),
    }
}

fn a_healthy_module_is_loaded() {
    let host = support::host(&[broken(&[])]);
    let report = host.reload(&[broken(&[])]).expect("a Master").into_result().expect("a reload");
    assert!(report.phases.get(Phase::Canary) > 0.0 && report.to_string().contains(" · canary "), "{report}");
    let off = support::builder().canary(Canary::Off).build().expect("a host");
    off.create_master(&[broken(&[])]).expect("a healthy build");
    let report = off.reload(&[broken(&[])]).expect("a Master").into_result().expect("a reload");
    assert!(!report.phases.0.contains_key("canary") && !report.to_string().contains("canary"), "{report}");
}

fn a_program_that_is_no_canary_is_found_out() {
    for (program, told) in [("/bin/true", "before it said a word"), ("/nowhere/at/all", "No such file")] {
        let host = support::builder().canary(Canary::Program(program.into())).build().expect("a host");
        let error = host.create_master(&[broken(&[])]).expect_err("nobody tried it");
        assert!(matches!(error, Error::Load(LoadError::CanaryUnavailable { .. })), "{error:?}");
        assert!(error.to_string().contains(told), "{error}");
        assert_unmapped(&host);
    }
}

fn a_module_that_the_loader_refuses_is_named() {
    match support::builder().build().expect("a host").create_master(&[broken(&["unresolved-symbol"])]) {
        Err(Error::Load(LoadError::CanaryRefused { module, step, text })) => {
            assert_eq!((module.as_str(), step), ("broken", CanaryStep::Mapping));
            assert!(text.contains("alcedo_nobody_defines_this"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}
