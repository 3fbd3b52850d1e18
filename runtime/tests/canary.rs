//! Tests the canary, a separate process that loads a new build before the host does. The builds of these tests crash. Only the canary then
//! ends, and the host reports the cause and keeps its state. This test binary is its own canary, and therefore needs its own `main`.

mod support;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use alcedo_runtime::canary::run_if_child;
use alcedo_runtime::{
    Canary, CanaryStep, ContextError, Contexts, Error, LoadContext, LoadError, Outcome, PermissionPolicy, Phase,
    Runtime, Value, process,
};
use libtest_mimic::{Arguments, Trial};

const FRAGILE: &str = "/Script/Game.Fragile";

fn main() -> ExitCode {
    run_if_child();
    let trials: [(&str, fn()); 17] = [
        // Runs first, because this test waits for deadlines.
        ("a_hang_in_an_initializer_ends_with_the_deadline", a_hang_in_an_initializer_ends_with_the_deadline),
        ("a_crash_in_an_initializer_ends_only_the_canary", a_crash_in_an_initializer_ends_only_the_canary),
        (
            "a_panic_in_an_initializer_is_reported_with_its_message",
            a_panic_in_an_initializer_is_reported_with_its_message,
        ),
        ("an_exit_in_an_initializer_is_a_failure", an_exit_in_an_initializer_is_a_failure),
        ("a_crash_while_registering_ends_only_the_canary", a_crash_while_registering_ends_only_the_canary),
        ("a_healthy_module_is_loaded_and_the_time_is_reported", a_healthy_module_is_loaded),
        ("a_program_that_is_not_a_canary_is_detected", a_program_that_is_not_a_canary_is_detected),
        ("a_module_refused_by_the_loader_is_named", a_module_refused_by_the_loader_is_named),
        ("every_context_has_a_canary_and_survives_its_crash", every_context_has_a_canary_and_survives_its_crash),
        ("a_slim_loads_off_the_game_thread_with_a_canary", a_slim_loads_off_the_game_thread_with_a_canary),
        ("a_crashing_replacement_keeps_the_old_build", a_crashing_replacement_keeps_the_old_build),
        ("a_context_can_disable_its_canary", a_context_can_disable_its_canary),
        ("protocol_frames_printed_by_a_module_are_ignored", protocol_frames_printed_by_a_module_are_ignored),
        ("a_module_that_writes_to_every_descriptor_is_refused", a_module_that_writes_to_every_descriptor_is_refused),
        ("a_copy_of_the_canary_is_not_mistaken_for_it", a_copy_of_the_canary_is_not_mistaken_for_it),
        ("a_module_closing_the_canary_socket_is_refused", a_module_closing_the_canary_socket_is_refused),
        ("undeclared_threads_of_an_initializer_are_refused", undeclared_threads_of_an_initializer_are_refused),
    ];
    let trials = trials.map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    let mut arguments = Arguments::from_args();
    // Most tests wait for canaries, so more tests than processors run at a time.
    arguments.test_threads.get_or_insert(4);
    libtest_mimic::run(&arguments, trials.into()).exit_code()
}

fn broken(features: &[&str]) -> PathBuf {
    support::plugin("broken", features)
}

/// Tries to create a Master with this build, and returns the error. Also checks that a reload to this build fails.
fn refused(feature: &str, deadline: Duration) -> LoadError {
    let builder = || support::builder().canary_deadline(deadline);
    let empty = builder().build().expect("a host");
    let error = match empty.create_master(&[broken(&[feature])]) {
        Err(Error::Load(error)) => error,
        other => panic!("{feature}: {other:?}"),
    };
    assert_eq!((empty.generation(), empty.unloads().generations()), (0, vec![]), "{feature}");
    assert_unmapped(&empty);

    let host = builder().build().expect("a host");
    host.create_master(&[broken(&[])]).expect("a healthy build");
    let fragile = host.objects().spawn(FRAGILE).expect("spawned");
    host.objects().call(fragile, "poke", &[]).expect("it counts");
    let (digest, mapped) = (host.worlds().hash(), mappings(&host));
    let report = host.reload(&[broken(&[feature])]).expect("a Master");
    let Outcome::RolledBack { phase: Phase::Canary, error: message } = &report.outcome else { panic!("{report}") };
    assert!(message.contains("this host never mapped it"), "{message}");
    assert!(report.phases.get(Phase::Canary) > Duration::ZERO, "{report}");
    assert_eq!((host.generation(), host.worlds().hash(), mappings(&host)), (1, digest, mapped), "{feature}");
    let state = host.objects().call(fragile, "state", &[]).expect("the old code answers");
    assert_eq!(state, Some(Value::Text("pokes=1 nerves=1".into())), "{feature}: the very plugin part");
    host.reload(&[broken(&[])]).expect("a Master").into_result().expect("a healthy build");
    host.unload_master().expect("a Master");
    assert_unmapped(&host);
    error
}

fn mappings(host: &Runtime) -> Vec<PathBuf> {
    process::stale_mappings(&host.stage_dir()).expect("the process map")
}

fn assert_unmapped(host: &Runtime) {
    assert_eq!((mappings(host), host.unloads().parked()), (vec![], vec![]));
}

/// Timeout that a canary on a busy machine does not reach.
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

fn a_crash_in_an_initializer_ends_only_the_canary() {
    let (step, signal, how, output) = crashed("crash-in-initializer");
    assert_eq!((step, signal), (CanaryStep::Mapping, Some(11)));
    assert!(how.contains("SIGSEGV") && output.contains("the initializer of broken runs"), "{how} {output}");
}

fn a_panic_in_an_initializer_is_reported_with_its_message() {
    let (step, signal, how, output) = crashed("panic-in-initializer");
    assert_eq!((step, signal), (CanaryStep::Mapping, Some(6)));
    assert!(how.contains("SIGABRT") && output.contains("broken on purpose: initializer"), "{how} {output}");
}

fn an_exit_in_an_initializer_is_a_failure() {
    let (step, signal, how, _output) = crashed("exit-in-initializer");
    assert_eq!((step, signal, how.as_str()), (CanaryStep::Mapping, None, "exit status: 0"));
}

fn a_crash_while_registering_ends_only_the_canary() {
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
    assert!(report.phases.get(Phase::Canary) > Duration::ZERO && report.to_string().contains(" · canary "), "{report}");
    let off = support::builder().canary(Canary::Off).build().expect("a host");
    off.create_master(&[broken(&[])]).expect("a healthy build");
    let report = off.reload(&[broken(&[])]).expect("a Master").into_result().expect("a reload");
    assert!(!report.phases.0.contains_key("canary") && !report.to_string().contains("canary"), "{report}");
}

fn a_program_that_is_not_a_canary_is_detected() {
    for (program, expected) in [("/bin/true", "before its first message"), ("/nowhere/at/all", "No such file")] {
        let host = support::builder().canary(Canary::Program(program.into())).build().expect("a host");
        let error = host.create_master(&[broken(&[])]).expect_err("the canary is unavailable");
        assert!(matches!(error, Error::Load(LoadError::CanaryUnavailable { .. })), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
        assert_unmapped(&host);
    }
}

fn a_module_refused_by_the_loader_is_named() {
    match support::builder().build().expect("a host").create_master(&[broken(&["unresolved-symbol"])]) {
        Err(Error::Load(LoadError::CanaryRefused { module, step, text })) => {
            assert_eq!((module.as_str(), step), ("broken", CanaryStep::Mapping));
            assert!(text.contains("alcedo_undefined_symbol"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

fn unruly(feature: &str) -> PathBuf {
    let features: &[&str] = if feature.is_empty() { &[] } else { &[feature] };
    support::plugin("unruly", features)
}

fn patient(deadline: Duration) -> Runtime {
    support::builder().canary_deadline(deadline).build().expect("a host")
}

/// Loads a build that the context must refuse. Checks that the context then has no module, and that it accepts a healthy build.
fn refused_by(context: &LoadContext, feature: &str) -> LoadError {
    let refusal = context.load_path(unruly(feature));
    assert!(context.modules().is_empty(), "{feature}: {refusal:?}");
    match refusal {
        Err(ContextError::Load(error)) => error,
        other => panic!("{feature}: {other:?}"),
    }
}

/// Calls a function of the healthy build that the context contains, and returns the result.
fn answer(context: &LoadContext) -> Option<Value> {
    let function = context.function("", "unruly.answer", "-> u32").unwrap_or_else(|error| panic!("{error}"));
    function.call(&[]).unwrap_or_else(|error| panic!("{error}"))
}

fn every_context_has_a_canary_and_survives_its_crash() {
    let host = patient(PATIENCE);
    let contexts = host.contexts();
    for context in [contexts.create_slim("tried").expect("a free name"), contexts.default_context()] {
        for (feature, died_of) in [("crashes", Some(6)), ("exits", None)] {
            match refused_by(&context, feature) {
                LoadError::CanaryCrashed { module, step, signal, output, .. } => {
                    assert_eq!((module.as_str(), step, signal), ("unruly", CanaryStep::Mapping, died_of), "{feature}");
                    assert!(output.contains("the initializer of unruly runs"), "{output}");
                }
                other => panic!("{feature}: {other}"),
            }
        }
        assert_unmapped(&host);
    }
    let hasty = patient(Duration::from_secs(2));
    let slim = hasty.contexts().create_slim("waits").expect("a free name");
    let hung = refused_by(&slim, "hangs");
    assert!(matches!(hung, LoadError::CanaryHung { step: CanaryStep::Mapping, .. }), "{hung}");
    slim.load_path(unruly("")).expect("a healthy build");
    assert_eq!(answer(&slim), Some(Value::U32(42)));
}

fn a_slim_loads_off_the_game_thread_with_a_canary() {
    let host = patient(PATIENCE);
    let contexts = host.contexts();
    let (healthy, crashing) = (unruly(""), unruly("crashes"));
    let try_both = |contexts: Contexts, name: &str| {
        let slim = contexts.create_slim(name).expect("a free name");
        let refused = slim.load_path(&crashing);
        assert!(matches!(refused, Err(ContextError::Load(LoadError::CanaryCrashed { .. }))), "{refused:?}");
        slim.load_path(&healthy).expect("a healthy build");
        assert_eq!(answer(&slim), Some(Value::U32(42)));
    };
    // The game thread only waits in this scope.
    std::thread::scope(|scope| {
        for name in ["one", "two", "three"] {
            let contexts = contexts.clone();
            scope.spawn(move || try_both(contexts, name));
        }
    });
}

fn a_crashing_replacement_keeps_the_old_build() {
    let host = patient(PATIENCE);
    let slim = host.contexts().create_slim("stays").expect("a free name");
    slim.load_path(unruly("")).expect("a healthy build");
    let refused = slim.replace(unruly("crashes"));
    assert!(matches!(refused, Err(ContextError::Load(LoadError::CanaryCrashed { .. }))), "{refused:?}");
    assert_eq!((answer(&slim), mappings(&host).len()), (Some(Value::U32(42)), 1));
}

fn a_context_can_disable_its_canary() {
    let missing = Canary::Program("/nowhere/at/all".into());
    let host = support::builder().canary(missing.clone()).build().expect("a host");
    let contexts = host.contexts();
    let (with, without) =
        (contexts.create_slim("with").expect("a name"), contexts.create_slim("without").expect("a name"));
    assert!(matches!(refused_by(&with, ""), LoadError::CanaryUnavailable { .. }));
    without.set_canary(Canary::Off);
    without.load_path(unruly("")).expect("the canary is off");
    without.set_canary(missing);
    let refused = without.replace(unruly("prints-frames"));
    assert!(matches!(refused, Err(ContextError::Load(LoadError::CanaryUnavailable { .. }))), "{refused:?}");
}

fn protocol_frames_printed_by_a_module_are_ignored() {
    let host = patient(PATIENCE);
    let slim = host.contexts().create_slim("prints").expect("a free name");
    slim.load_path(unruly("prints-frames")).expect("printing is permitted");
    assert_eq!(answer(&slim), Some(Value::U32(42)));
}

fn a_module_that_writes_to_every_descriptor_is_refused() {
    let host = patient(PATIENCE);
    let slim = host.contexts().create_slim("writes").expect("a free name");
    match refused_by(&slim, "writes-everywhere") {
        LoadError::CanaryDisturbed { module, step, problem, .. } => {
            assert_eq!((module.as_str(), step), ("unruly", CanaryStep::Mapping));
            assert!(problem.contains("another conversation"), "{problem}");
        }
        other => panic!("{other}"),
    }
    assert_unmapped(&host);
}

/// Accepts either of two errors: the canary ended, or a fork of the canary sent a message.
fn a_copy_of_the_canary_is_not_mistaken_for_it() {
    let host = patient(PATIENCE);
    let slim = host.contexts().create_slim("forks").expect("a free name");
    match refused_by(&slim, "forks") {
        LoadError::CanaryDisturbed { problem, .. } => assert!(problem.contains("a fork of the process"), "{problem}"),
        LoadError::CanaryCrashed { how, .. } => assert_eq!(how, "exit status: 0"),
        other => panic!("{other}"),
    }
    assert_unmapped(&host);
}

fn a_module_closing_the_canary_socket_is_refused() {
    let host = patient(Duration::from_secs(2));
    let slim = host.contexts().create_slim("takes").expect("a free name");
    for feature in ["closes-everything", "replaces-everything"] {
        let error = refused_by(&slim, feature);
        let is_reported = matches!(
            &error,
            LoadError::CanaryCrashed { module, .. } | LoadError::CanaryHung { module, .. } if module == "unruly"
        );
        assert!(is_reported, "{feature}: {error}");
    }
    assert_unmapped(&host);
}

fn undeclared_threads_of_an_initializer_are_refused() {
    let builder = support::builder().canary_deadline(PATIENCE).permissions(PermissionPolicy::Refuse);
    let host = builder.build().expect("a host");
    match host.create_master(&[support::plugin("modest", &["thread-in-initializer"])]) {
        Err(Error::Load(LoadError::CanaryRefused { module, step, text })) => {
            assert_eq!((module.as_str(), step), ("modest", CanaryStep::Attaching));
            assert!(text.contains("`threads`, since it started a thread"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    assert_unmapped(&host);
    host.create_master(&[support::plugin("modest", &[])]).expect("the module uses nothing");
}
