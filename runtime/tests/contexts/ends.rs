//! Tests that every context sends its events when the runtime or the process ends.

use std::cell::RefCell;
use std::process::Command;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use alcedo_runtime::{
    ContextError, ContextEventKind, ContextState, Contexts, LeaseKind, LoadContext, Runtime, ShutdownReport, Value,
};

use super::{LONG, build_tag, gone, number, reports, runtime, slim, support};

type Log = Arc<Mutex<Vec<String>>>;

fn push_line(log: &Log, line: impl Into<String>) {
    log.lock().expect("not poisoned").push(line.into());
}

fn take(log: &Log) -> Vec<String> {
    std::mem::take(&mut *log.lock().expect("not poisoned"))
}

/// Returns a runtime with a Master and a Slim. Adds listeners for both, and for the Default.
fn listened(log: &Log) -> (Runtime, LoadContext) {
    let runtime = support::host(&[reports(1)]);
    let contexts = runtime.contexts();
    let inner = Arc::clone(log);
    runtime.unloads().on_unloading(0, move |_runtime, generation| {
        push_line(&inner, format!("callback of the Master: {generation}"))
    });
    let inner = Arc::clone(log);
    contexts.on_event(move |event| {
        if event.event == ContextEventKind::Unloading {
            push_line(&inner, format!("event: {}", event.name));
        }
    });
    let slim = slim(&contexts, "slim");
    for context in [slim.clone(), contexts.default_context()] {
        let inner = Arc::clone(log);
        context.on_unloading(0, move |event| push_line(&inner, format!("callback: {event}")));
    }
    (runtime, slim)
}

const ALL: [&str; 6] = [
    "event: Master",
    "callback of the Master: 1",
    "event: slim",
    "callback: Unloading Slim \"slim\" 1",
    "event: Default",
    "callback: Unloading Default 1",
];

#[test]
fn a_shutdown_notifies_the_master_the_slims_and_the_default_once() {
    let log = Log::default();
    let (runtime, slim) = listened(&log);
    let other = runtime.clone();
    assert_eq!(runtime.shutdown().into_result().map_err(|error| error.to_string()), Ok(()));
    assert_eq!(take(&log), ALL);
    assert_eq!(slim.state(), ContextState::Dead);
    drop(other.shutdown());
    assert_eq!(take(&log), [""; 0]);
}

#[test]
fn dropping_a_runtime_notifies_every_context() {
    let log = Log::default();
    let (runtime, slim) = listened(&log);
    let (function, contexts) = (build_tag(&slim), runtime.contexts());
    let other = runtime.clone();
    drop(runtime);
    assert_eq!(take(&log), [""; 0], "another handle is there");
    drop(other);
    assert_eq!(take(&log), ALL);
    assert_eq!(slim.state(), ContextState::Dead);
    assert!(matches!(number(&function), Err(ContextError::ContextUnloading { .. })));
    assert_eq!(contexts.all().len(), 1, "{contexts:?}");
}

#[test]
fn a_slim_created_after_its_runtime_ended_still_works() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "late");
    assert_eq!(number(&build_tag(&slim)).expect("it answers"), 1);
    gone(&slim.begin_unload().expect("it is collectible"));
}

#[test]
fn posted_closures_run_while_a_shutdown_waits_for_a_slim() {
    let builder = support::builder().unloads(|policy| policy.shutdown = LONG);
    let runtime = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let slim = slim(&runtime.contexts(), "held");
    let (poster, lease) = (runtime.post_handle(), slim.lease("a page is being sent").expect("it lives"));
    let (answer, answered) = channel();
    assert!(poster.post(move |_runtime| answer.send(()).expect("the sender waits")));
    let sender = thread::spawn(move || {
        let answered = answered.recv_timeout(LONG / 2);
        drop(lease);
        answered
    });
    assert_eq!(runtime.shutdown().left, Vec::<String>::new());
    assert_eq!(sender.join().expect("it does not panic"), Ok(()));
}

/// Returns a runtime with a short shutdown timeout, a Slim, and a function pointer that prevents the end of the Slim.
fn held() -> (Runtime, Contexts, LoadContext, alcedo_runtime::FunctionPointer) {
    let builder = support::builder().unloads(|policy| policy.shutdown = Duration::from_millis(100));
    let runtime = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let contexts = runtime.contexts();
    let slim = slim(&contexts, "held");
    let pointer = slim.get_function_pointer("Report", "build_tag", "-> u64").expect("it is offered");
    (runtime, contexts, slim, pointer)
}

#[test]
fn a_shutdown_report_lists_a_blocked_slim_once_with_its_blockers() {
    let (runtime, contexts, slim, pointer) = held();
    let ShutdownReport { left, leases, .. } = runtime.shutdown();
    let owner = "pointer to nm:/reports:Report:build_tag";
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(
        left[0].starts_with("Slim \"held\" is blocked: kept by borrowed data") && left[0].contains(owner),
        "{left:?}"
    );
    let leases: Vec<_> = leases.iter().map(|lease| (lease.kind, lease.owner.as_str())).collect();
    assert_eq!(leases, [(LeaseKind::Borrow, owner)]);
    assert_eq!(pointer.call(&[]).expect("its image is there"), Some(Value::U64(1)));
    drop(pointer);
    gone(&slim.begin_unload().expect("it has begun"));
    assert_eq!(contexts.all().len(), 1);
}

#[test]
fn a_shutdown_report_lists_images_of_parked_slims() {
    let (runtime, _contexts, slim, _pointer) = held();
    let _ticket = slim.begin_unload().expect("it is collectible");
    slim.park();
    let ShutdownReport { left, leases, .. } = runtime.shutdown();
    assert_eq!((left.len(), leases.len()), (1, 0), "{left:?}");
    assert!(left[0].starts_with("reports of Slim \"held\" stays mapped"), "{left:?}");
}

#[test]
fn a_shutdown_report_lists_images_that_are_parked_during_its_wait() {
    let builder = support::builder().unloads(|policy| policy.shutdown = LONG);
    let runtime = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let contexts = runtime.contexts();
    let slim = slim(&contexts, "held");
    let _pointer = slim.get_function_pointer("Report", "build_tag", "-> u64").expect("it is offered");
    contexts.park_after(Some(Duration::from_millis(200)));
    let ShutdownReport { left, leases, .. } = runtime.shutdown();
    assert_eq!((left.len(), leases.len()), (1, 0), "{left:?}");
    assert!(left[0].starts_with("reports of Slim \"held\" stays mapped"), "{left:?}");
}

/// Environment variable of the child process. Contains the kind of end, a space, and the path of the file for received events.
const HOW: &str = "ALCEDO_TEST_END";

#[test]
fn process_exit_notifies_slims_and_the_default_if_the_host_opts_in() {
    if let Ok(how) = std::env::var(HOW) {
        return end_process(&how);
    }
    let run_child = |how: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("heard");
        let name = "process_exit_notifies_slims_and_the_default_if_the_host_opts_in";
        let name = support::full_name(module_path!(), name);
        let output = Command::new(std::env::current_exe().expect("this test"))
            .args([&*name, "--exact", "--test-threads=1"])
            .env(HOW, format!("{how} {}", file.display()))
            .output()
            .expect("it can be started");
        let code = output.status.code().unwrap_or_else(|| panic!("{how}: {output:?}"));
        (code, std::fs::read_to_string(file).unwrap_or_default())
    };
    let notices = "Unloading Slim \"one\" 1\nUnloading Default 1\n";
    let own = "Unloading Slim \"gone\" 1\n";
    assert_eq!(run_child("exit"), (7, format!("{own}{notices}")));
    assert_eq!(run_child("other-thread"), (7, format!("{own}{notices}")));
    assert_eq!(run_child("panics"), (7, format!("{own}{notices}")));
    assert_eq!(run_child("return"), (0, format!("{own}{notices}")), "`main` returns and the runtime is never dropped");
    let with_master = format!("{own}Unloading Master 1\n{notices}");
    assert_eq!(run_child("thread-local"), (0, with_master), "its thread ends, and drops it");
    assert_eq!(run_child("unasked"), (7, own.to_owned()), "the host has not opted in");
    assert_eq!(run_child("drop"), (7, format!("{own}{notices}")), "each is notified once");
}

thread_local! {
    /// Slot for a runtime. The runtime is dropped when its thread ends.
    static KEPT: RefCell<Option<(Runtime, LoadContext)>> = const { RefCell::new(None) };
}

/// Runs in the child process. Unloads one Slim, keeps another Slim alive, and ends the process as `how` specifies.
fn end_process(how: &str) {
    let (how, file) = how.split_once(' ').expect("how, and a file");
    if how == "thread-local" {
        // A runtime belongs to the thread that creates it.
        let (how, file) = (format!("kept {file}"), std::path::PathBuf::from(file));
        thread::spawn(move || end_process(&how)).join().expect("it does not panic");
        return assert!(file.exists(), "the thread has ended");
    }
    let file = std::path::PathBuf::from(file);
    let runtime = runtime();
    let contexts = runtime.contexts();
    if how == "panics" {
        contexts.on_event(|_| panic!("a listener panics"));
    }
    contexts.on_event(move |event| {
        use std::io::Write as _;
        if event.event == ContextEventKind::Unloading {
            let mut file = std::fs::File::options().create(true).append(true).open(&file).expect("it is writable");
            writeln!(file, "{event}").expect("it is writable");
        }
    });
    if how != "unasked" {
        contexts.raise_at_exit().expect("it is available");
        contexts.raise_at_exit().expect("asking again changes nothing");
    }
    gone(&slim(&contexts, "gone").begin_unload().expect("it is collectible"));
    let one = slim(&contexts, "one");
    match how {
        "return" => std::mem::forget((runtime, one)),
        "kept" => {
            runtime.create_master(&[reports(1)]).expect("it starts");
            KEPT.set(Some((runtime, one)));
        }
        "drop" => {
            drop(runtime);
            std::process::exit(7);
        }
        "other-thread" => {
            // This thread keeps the handles alive while a second thread ends the process.
            let ends = thread::spawn(|| std::process::exit(7));
            let _never = ends.join();
        }
        _ => {
            // Blocks a thread inside the module.
            let wait = one.function("Report", "wait_for", "String -> bool").expect("it is offered");
            thread::spawn(move || wait.call(&[super::text("/nowhere/at all")]));
            support::until("the call has begun", || !one.held_by().is_empty());
            std::process::exit(7);
        }
    }
}
