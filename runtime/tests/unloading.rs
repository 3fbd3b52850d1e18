//! Tests values that a plugin leaves behind. The values must not keep the plugin's code mapped. After each reload the old image is
//! unmapped, its destructors have run where required, and the process has not grown.
//!
//! Memory, threads and signals belong to the process. Each test therefore runs alone, in a new process of this program.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use crate::support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use alcedo_runtime::{Runtime, UnloadReport, Value};
use alcedo_sys::process;

/// Environment variable with the path of the journal. The variable is set in the program that a test starts.
const JOURNAL: &str = "LEFTOVERS_JOURNAL";

/// Environment variable with the path of a file for which a stubborn thread waits.
const RELEASE: &str = "LEFTOVERS_RELEASE";

/// Numbers of reloads: before the first measurement of memory, and between the two measurements.
const WARM_UP: u64 = 20;
const RELOADS: u64 = 60;

/// Permitted growth per reload, in KiB. The smallest measured leak exceeds this limit.
const MOST_KIB: u64 = 8;

/// Runs `work` in a separate process, and returns the output of that process.
fn alone(test: &str, env: &[(&str, &str)], work: impl FnOnce()) -> Option<Output> {
    if std::env::var_os(JOURNAL).is_some() {
        work();
        return None;
    }
    support::plugin("leftovers", &[]); // built here, and not again by each child process
    let folder = tempfile::tempdir().expect("a folder for the journal");
    let mut this = support::alone::only(module_path!(), test);
    this.env(JOURNAL, folder.path().join("journal"))
        .env(RELEASE, folder.path().join("release"))
        .envs(env.iter().copied());
    Some(support::alone::passes(&mut this))
}

/// Returns the number of occurrences of each journal line.
fn journal() -> BTreeMap<String, u64> {
    let path = std::env::var_os(JOURNAL).expect("this is a process of its own");
    let mut counts = BTreeMap::new();
    for line in std::fs::read_to_string(path).unwrap_or_default().lines() {
        *counts.entry(line.to_owned()).or_default() += 1;
    }
    counts
}

fn eventually(host: &Runtime, what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what} is not so after a minute");
        host.safe_point();
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn mapped(host: &Runtime) -> Vec<PathBuf> {
    process::stale_mappings(&host.stage_dir()).expect("the process map")
}

fn leave(host: &Runtime, habit: &str) {
    let left = host.calls().call("ex:/leftovers.leave", &[Value::Text(habit.to_owned())]);
    left.unwrap_or_else(|error| panic!("{habit}: {error}"));
}

fn reload(host: &Runtime, library: &Path) {
    let report = host.reload(&[library]).expect("there is a Master");
    let report = report.into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(report.parked, Vec::<String>::new(), "{report}");
    eventually(host, "one image is mapped", || mapped(host).len() == 1);
}

/// Checks *habits*, actions of the plugin `leftovers`. If each generation repeats the habits, the process must not leak memory. Then
/// unloads the last generation.
fn check(habits: &[&str]) {
    check_build(&support::plugin("leftovers", &[]), habits, RELOADS);
}

fn check_build(library: &Path, habits: &[&str], reloads: u64) {
    let host = support::host(&[library.to_owned()]);
    let count_resources =
        || [process::open_fds(), process::threads(), process::keys_in_use()].map(|count| count.expect("a count"));
    let mut first = None;
    for round in 0..WARM_UP + reloads {
        if round == WARM_UP {
            first = Some((count_resources(), process::rss_kib().expect("a figure")));
        }
        habits.iter().for_each(|habit| leave(&host, habit));
        reload(&host, library);
    }
    let (counts, rss) = first.expect("it was warm");
    let grown = process::rss_kib().expect("a figure").saturating_sub(rss);
    assert!(grown <= reloads * MOST_KIB, "{habits:?}: {grown} KiB in {reloads} reloads");
    assert_eq!(count_resources(), counts, "{habits:?}: descriptors, threads and keys");
    host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
}

/// Declares tests, each with habits and journal lines. At the end, the journal must contain each line once per generation.
macro_rules! habits {
    ($($name:ident: [$($habit:literal),*] => [$($line:literal),*];)*) => {$(
        #[test]
        fn $name() {
            alone(stringify!($name), &[], || {
                check(&[$($habit),*]);
                let lines: BTreeMap<String, u64> = [$(($line.to_owned(), WARM_UP + RELOADS)),*].into();
                assert_eq!(journal(), lines);
            });
        }
    )*};
}

habits! {
    a_plugin_that_leaves_nothing_is_unmapped: ["nothing"] => [];
    a_game_thread_local_is_dropped_on_the_game_thread: ["thread_local"] => ["began", "ended at home"];
    a_thread_local_of_another_thread_is_dropped_there: ["thread_local_there"] => ["began", "ended at home"];
    printed_lines_leave_nothing: ["print_line"] => [];
    logs_and_spans_leave_nothing: ["tracing"] => [];
    random_numbers_leave_nothing: ["rand"] => ["a number"];
    a_megabyte_in_a_static_is_freed_with_the_image: ["megabyte"] => [];
    strings_in_a_static_are_freed_with_the_image: ["once_lock"] => [];
    a_joined_thread_leaves_nothing: ["joined_thread"] => ["a thread ran"];
    a_finished_unjoined_thread_leaves_nothing: ["finished_thread"] => ["a thread ran"];
    a_detached_thread_is_waited_for: ["detached_thread"] => ["began", "ended at home"];
    a_cooperative_thread_is_requested_to_stop: ["polite_thread"] => ["was asked to stop"];
    an_exit_handler_runs_before_its_code_is_unmapped: ["at_exit"] => ["the exit handler ran"];
    a_leaked_mapping_is_unmapped: ["mapping"] => [];
    a_mapping_by_syscall_number_is_unmapped_too: ["mapping_by_number"] => [];
    blocks_of_the_c_heap_are_freed: ["c_heap"] => [];
    a_key_is_deleted_and_its_value_dropped: ["key"] => ["the value of a key ended"];
    a_leaked_box_is_freed_with_the_image: ["leaked_box"] => [];
}

#[test]
fn all_leftover_kinds_together_leave_nothing() {
    alone("all_leftover_kinds_together_leave_nothing", &[], || {
        check(&[
            "thread_local",
            "thread_local_there",
            "tracing",
            "megabyte",
            "once_lock",
            "finished_thread",
            "polite_thread",
            "at_exit",
            "mapping",
            "c_heap",
            "key",
            "leaked_box",
            "signal_handler",
        ]);
        let lines = [
            ("began", 2),
            ("ended at home", 2),
            ("a thread ran", 1),
            ("was asked to stop", 1),
            ("the exit handler ran", 1),
            ("the value of a key ended", 1),
        ];
        let lines = lines.map(|(line, count)| (line.to_owned(), count * (WARM_UP + RELOADS)));
        assert_eq!(journal(), BTreeMap::from(lines));
    });
}

#[test]
fn calling_thread_current_leaves_no_key() {
    alone("calling_thread_current_leaves_no_key", &[], || {
        check(&["current_thread"]);
        assert_eq!(journal().values().sum::<u64>(), WARM_UP + RELOADS);
    });
}

#[test]
fn a_panic_with_a_backtrace_leaves_nothing() {
    alone("a_panic_with_a_backtrace_leaves_nothing", &[("RUST_BACKTRACE", "1")], || {
        // Each backtrace reads all symbols of this program again. This takes time, so the test reloads less often.
        check_build(&support::plugin("leftovers", &[]), &["panic", "backtrace"], 24);
        let lines = ["a backtrace with names", "panicked"].map(|line| (line.to_owned(), WARM_UP + 24));
        assert_eq!(journal(), BTreeMap::from(lines));
    });
}

#[test]
fn a_line_without_its_end_is_not_lost() {
    let output = alone("a_line_without_its_end_is_not_lost", &[], || {
        check(&["print_part"]);
    });
    if let Some(output) = output {
        let parts = String::from_utf8_lossy(&output.stdout).matches("leftovers prints a part;").count() as u64;
        assert_eq!(parts, WARM_UP + RELOADS);
    }
}

#[test]
fn a_thread_local_of_the_finalizer_thread_ends_there() {
    alone("a_thread_local_of_the_finalizer_thread_ends_there", &[], || {
        let library = support::plugin("leftovers", &[]);
        let host = support::host(std::slice::from_ref(&library));
        for _ in 0..RELOADS {
            let leaver = host.objects().spawn("/Script/Game.Leaver").expect("an object");
            host.objects().call(leaver, "arm", &[]).expect("it is alive");
            host.objects().destroy(leaver);
            reload(&host, &library);
        }
        host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
        let lines = ["began", "ended at home"].map(|line| (line.to_owned(), RELOADS));
        assert_eq!(journal(), BTreeMap::from(lines));
    });
}

#[test]
fn an_unload_restores_the_hosts_signal_handler() {
    alone("an_unload_restores_the_hosts_signal_handler", &[], || {
        check(&["signal_handler"]);
        let library = support::plugin("leftovers", &[]);
        let host = support::host(std::slice::from_ref(&library));
        leave(&host, "signal_handler");
        assert_eq!(host.calls().call("ex:/leftovers.signals", &[]).expect("it counts"), Some(Value::U64(1)));
        reload(&host, &library);
        // So far the new code has not received a signal. Later it receives only the signal that it raises.
        assert_eq!(host.calls().call("ex:/leftovers.signals", &[]).expect("it counts"), Some(Value::U64(0)));
        leave(&host, "signal_handler");
        assert_eq!(host.calls().call("ex:/leftovers.signals", &[]).expect("it counts"), Some(Value::U64(1)));
    });
}

#[test]
fn an_authors_own_allocator_is_left_alone() {
    if std::env::var_os(JOURNAL).is_none() {
        support::plugin("leftovers", &["own-allocator"]);
    }
    alone("an_authors_own_allocator_is_left_alone", &[], || {
        let library = support::plugin("leftovers", &["own-allocator"]);
        // The plugin uses the C heap, and the host records the plugin's blocks. If another thread allocates between two measurements, the C
        // heap may grow once by a megabyte. With this number of reloads, such growth is below the limit.
        check_build(&library, &["megabyte", "thread_local", "leaked_box"], 3 * RELOADS);
    });
}

#[test]
fn a_plugin_bypassing_the_hooks_remains_loaded_with_a_warning() {
    let library = support::plugin("leftovers", &["bypass"]);
    let host = support::host(std::slice::from_ref(&library));
    leave(&host, "bypass");
    let report = host.reload(&[&library]).expect("there is a Master").into_result().expect("it is loaded all the same");
    let warned = |warnings: &[String]| {
        warnings.iter().filter(|line| line.contains("leftovers will stay mapped") && line.contains("sigset")).count()
    };
    assert_eq!(warned(&report.warnings), 1, "{report}");
    eventually(&host, "the old image is parked", || !host.unloads().parked().is_empty());
    assert_eq!(mapped(&host).len(), 2);
    assert!(host.unloads().parked().iter().any(|line| line.contains("sigset")), "{:?}", host.unloads().parked());
    // The report does not repeat the warning. The log contains only a short message about the parked image.
    let again = host.reload(&[&library]).expect("there is a Master").into_result().expect("it is loaded all the same");
    assert_eq!(warned(&again.warnings), 0, "{again}");
    eventually(&host, "the second image is parked", || host.unloads().parked().len() == 2);
    assert!(
        host.unloads().parked().iter().all(|line| line.ends_with("as reported when it was loaded")),
        "{:?}",
        host.unloads().parked()
    );
    // If a healthy build was loaded in between, the next load of the faulty library reports the warning again.
    let healthy = support::plugin("leftovers", &[]);
    let healed = host.reload(&[&healthy]).expect("there is a Master").into_result().expect("it is loaded");
    assert_eq!(warned(&healed.warnings), 0, "{healed}");
    let relapsed =
        host.reload(&[&library]).expect("there is a Master").into_result().expect("it is loaded all the same");
    assert_eq!(warned(&relapsed.warnings), 1, "{relapsed}");
}

#[test]
fn a_plugin_using_static_tls_is_refused_with_a_hint() {
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let error = host.create_master(&[support::plugin("c-thread", &["static-tls"])]).expect_err("there is not so much");
    let message = error.to_string();
    let expected = "cannot map c_thread: cannot allocate memory in static TLS block: each copy of c_thread takes ";
    assert!(message.starts_with(expected) && message.contains("(`large`)"), "{message}");
    assert!(
        message.ends_with("; of c_thread: compile the C code that has them without `-ftls-model=initial-exec`"),
        "{message}"
    );
    assert!(!message.contains("malloc"), "no allocator is in it: {message}");
    assert_eq!(mapped(&host), Vec::<PathBuf>::new());
}

#[test]
fn exhausted_static_tls_is_reported_with_the_modules_using_it() {
    alone("exhausted_static_tls_is_reported_with_the_modules_using_it", &[], || {
        let greedy = support::plugin("c-thread", &["little-static-tls"]);
        let host = support::host(std::slice::from_ref(&greedy));
        let reload = || host.reload(&[&greedy]).expect("there is a Master").into_result();
        let refused = (1..64).find_map(|copies| Some((copies, reload().err()?.to_string())));
        let (copies, message) = refused.expect("there is an end of it");
        assert!(
            message.contains(&format!("(`small`) by each of {copies} copies of c_thread; of c_thread: ")),
            "{message}"
        );
    });
}

#[test]
fn an_unnamed_thread_does_not_inherit_its_creators_name() {
    alone("an_unnamed_thread_does_not_inherit_its_creators_name", &[], || {
        let library = support::plugin("leftovers", &[]);
        let host = support::hasty_host(std::slice::from_ref(&library));
        let own_name = std::fs::read_to_string("/proc/thread-self/comm").expect("the name of this thread");
        leave(&host, "nameless_threads");
        host.reload(&[&library]).expect("there is a Master").into_result().expect("the new code runs already");
        let [ticket] = host.unloads().tickets().try_into().expect("one generation is unloading");
        // A thread sets its name only some time after its start.
        eventually(&host, "the threads are named", || {
            let report = ticket.wait(Duration::from_millis(1)).expect_err("the threads still run");
            let mut owners: Vec<_> = report.blockers.iter().map(|blocker| blocker.owner.as_str()).collect();
            owners.sort_unstable();
            owners == ["\"the long name of an exporter\"", "without a name", "without a name"]
        });
        for blocker in &ticket.wait(Duration::from_millis(1)).expect_err("the threads still run").blockers {
            let is_nameless = blocker.owner == "without a name";
            assert_eq!(blocker.thread.starts_with('('), is_nameless, "{blocker:?}");
            assert!(!blocker.thread.contains(own_name.trim_end()), "{blocker:?}");
        }
        std::fs::write(std::env::var_os(RELEASE).expect("a name"), "").expect("a file");
        eventually(&host, "the old image is gone", || mapped(&host).len() == 1);
    });
}

#[test]
fn a_thread_ignoring_stop_requests_is_named_until_it_ends() {
    alone("a_thread_ignoring_stop_requests_is_named_until_it_ends", &[], || {
        let library = support::plugin("leftovers", &[]);
        let host = support::hasty_host(std::slice::from_ref(&library));
        leave(&host, "stubborn_thread");
        host.reload(&[&library]).expect("there is a Master").into_result().expect("the new code runs already");
        let [ticket] = host.unloads().tickets().try_into().expect("one generation is unloading");
        let report = ticket.wait(Duration::from_millis(100)).expect_err("the thread still runs").to_string();
        assert!(report.contains("stubborn"), "{report}");
        assert_eq!(mapped(&host).len(), 2);
        std::fs::write(std::env::var_os(RELEASE).expect("a name"), "").expect("a file");
        eventually(&host, "the old image is gone", || mapped(&host).len() == 1);
        host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
    });
}

#[test]
fn a_thread_is_named_in_full_on_one_line() {
    alone("a_thread_is_named_in_full_on_one_line", &[], || {
        let library = support::plugin("leftovers", &[]);
        let host = support::hasty_host(std::slice::from_ref(&library));
        leave(&host, "long_name");
        host.reload(&[&library]).expect("there is a Master").into_result().expect("the new code runs already");
        let [ticket] = host.unloads().tickets().try_into().expect("one generation is unloading");
        let name = format!(r#""an \"exporter\"\nof everything, {}""#, "in many parts ".repeat(12));
        // A thread sets its name only some time after its start.
        eventually(&host, "it is named", || {
            let report = ticket.wait(Duration::from_millis(1)).expect_err("the thread still runs").to_string();
            report.contains(&name)
        });
        std::fs::write(std::env::var_os(RELEASE).expect("a name"), "").expect("a file");
        eventually(&host, "the old image is gone", || mapped(&host).len() == 1);
        host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
    });
}

/// Unloads the only module, and returns the unload report.
fn end_of(host: &Runtime, library: &Path) -> UnloadReport {
    let ticket = host.unload_master().expect("there is a Master").ticket;
    eventually(host, "the image is gone", || mapped(host).is_empty());
    let report = ticket.wait(Duration::from_secs(60)).unwrap_or_else(|report| panic!("{report}"));
    host.create_master(&[library]).unwrap_or_else(|error| panic!("{error}"));
    report
}

#[test]
#[cfg(target_arch = "x86_64")]
fn memory_mapped_past_the_hooks_is_reported_when_left() {
    alone("memory_mapped_past_the_hooks_is_reported_when_left", &[], || {
        let library = support::plugin("leftovers", &[]);
        let host = support::host(std::slice::from_ref(&library));
        for (habit, maps, bytes) in
            [("mapping_by_itself", 2, 6 * 4096), ("mapping_by_itself_undone", 0, 0), ("mapping_by_number", 0, 0)]
        {
            // Creates mappings in the host and in a thread of the host. The report must not attribute these mappings to the plugin.
            let mine = vec![1_u8; 8 << 20];
            let (started, has_started) = std::sync::mpsc::channel();
            let thread = std::thread::spawn(move || {
                started.send(()).expect("the test waits for it");
                std::thread::park();
            });
            // Waits until the thread has mapped its signal stack. Otherwise the stack could be mapped at the address of unmapped plugin
            // memory, to which a stale pointer may refer.
            has_started.recv().expect("it starts");
            leave(&host, habit);
            leave(&host, "megabyte");
            let report = end_of(&host, &library);
            let [end] = &report.modules[..] else { panic!("{report}") };
            assert_eq!((end.maps_unknown, end.maps_unknown_bytes), (maps, bytes), "{habit}: {report}");
            assert_eq!(end.maps_bytes, if habit == "mapping_by_number" { 2 * 4096 } else { 0 }, "{habit}: {report}");
            let is_reported = report.to_string().contains("2 untracked memory maps left (24.0 KiB)");
            assert_eq!(is_reported, maps != 0, "{report}");
            thread.thread().unpark();
            thread.join().expect("it ends");
            drop(mine);
        }
        host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
    });
}

#[test]
fn without_a_heap_of_its_own_a_megabyte_remains() {
    if std::env::var_os(JOURNAL).is_none() {
        support::plugin("leftovers", &["pass-through"]);
    }
    alone("without_a_heap_of_its_own_a_megabyte_remains", &[], || {
        // Checks that the measurements of the other tests detect leaks, with a build that has no measures against leaks.
        let library = support::plugin("leftovers", &["pass-through"]);
        let host = support::host(std::slice::from_ref(&library));
        (0..WARM_UP).for_each(|_| reload(&host, &library));
        let before = process::rss_kib().expect("a figure");
        // Leaves more memory behind than the allocator has free.
        for _ in 0..RELOADS {
            leave(&host, "megabyte");
            reload(&host, &library);
        }
        let grown = process::rss_kib().expect("a figure").saturating_sub(before);
        assert!(grown >= RELOADS * 512, "{grown} KiB");
    });
}

#[test]
fn a_built_plugin_neither_imports_nor_exports_hooked_functions() {
    const HOOKED: [&str; 12] = [
        "__cxa_thread_atexit_impl",
        "pthread_create",
        "pthread_key_create",
        "pthread_setspecific",
        "sigaction",
        "__cxa_atexit",
        "malloc",
        "free",
        "mmap",
        "munmap",
        "open64",
        "close",
    ];
    let library = support::plugin("leftovers", &[]);
    let output = Command::new("nm").arg("-D").arg(&library).output().expect("binutils are there");
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("alcedo_root_module") && table.contains(" U dlsym"), "{table}");
    for line in table.lines() {
        let name = line.split_whitespace().last().unwrap_or_default();
        let name = name.split('@').next().unwrap_or_default();
        assert!(!HOOKED.contains(&name), "{line}");
    }
}
