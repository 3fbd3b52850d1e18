//! Tests rules of Slims that have no counterpart in .NET, so the names of these tests have no letter and number.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use alcedo_runtime::{CallError, ContextError, ContextState, LoadContext, SlimWatch, UnloadTicket, Value};
use tempfile::TempDir;

use super::{
    LONG, build_tag, gone, lingering_slim, number, refusal, render_arguments, reports, runtime, slim, support, text,
};

#[test]
fn a_slim_lives_on_any_thread() {
    let contexts = runtime().contexts();
    let life = move || {
        let slim = slim(&contexts, "anywhere");
        let tag = number(&build_tag(&slim)).expect("it answers");
        gone(&slim.begin_unload().expect("it is collectible"));
        (tag, slim.state())
    };
    assert_eq!(thread::spawn(life).join().expect("it does not panic"), (1, ContextState::Dead));
}

#[test]
fn a_replacement_answers_at_once_while_the_old_one_drains() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "replaced");
    let function = build_tag(&slim);
    let old = slim.get_function_pointer("Report", "build_tag", "-> u64").expect("it is offered");
    let ticket = slim.replace(reports(2)).expect("it starts");
    assert_eq!(ticket.subject(), "Slim \"replaced\" generation 1");
    assert_eq!(number(&function).expect("the new one answers"), 2);
    assert_eq!(old.call(&[]).expect("the old one is there"), Some(Value::U64(1)));
    assert!(ticket.wait(std::time::Duration::ZERO).is_err(), "a pointer holds it");
    assert_eq!((slim.state(), slim.unloads().len()), (ContextState::Alive, 1));
    drop(old);
    gone(&ticket);
    assert_eq!((slim.unloads().len(), slim.id().expect("it is alive").generation), (0, 2));
}

#[test]
fn a_replacement_that_does_not_come_up_changes_nothing() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "unchanged");
    let function = build_tag(&slim);
    let before = slim.to_string();
    for library in [support::plugin("reports", &["panic-in-main"]), support::plugin("reports", &["needs-figures"])] {
        assert!(slim.replace(library).is_err());
        assert_eq!((slim.to_string(), number(&function).expect("it answers")), (before.clone(), 1));
    }
    gone(&slim.replace(reports(2)).expect("it starts"));
    assert_eq!(slim.to_string(), "Slim \"unchanged\" #2 generation 2: alive", "numbers are not lost");
}

/// Starts a watch, and returns the watch with a receiver for its results.
fn watched(slim: &LoadContext, library: &Path) -> (SlimWatch, Receiver<Result<UnloadTicket, ContextError>>) {
    let (sender, receiver) = channel();
    let watch = SlimWatch::start(slim, library, move |outcome| sender.send(outcome).expect("the test listens"));
    (watch.unwrap_or_else(|error| panic!("{error}")), receiver)
}

#[test]
fn a_watched_slim_follows_its_file_unless_it_becomes_invalid() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("libreports.so");
    // Replaces the file as cargo does: writes a new file, then renames it.
    let write = |bytes: &[u8]| {
        let temporary = folder.path().join("beside");
        std::fs::write(&temporary, bytes).expect("it can be written");
        std::fs::rename(&temporary, &library).expect("it can be moved");
    };
    write(&std::fs::read(reports(1)).expect("it was built"));
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("watched").unwrap_or_else(|error| panic!("{error}"));
    slim.load_path(&library).unwrap_or_else(|error| panic!("{error}"));
    let function = build_tag(&slim);
    let (watch, receiver) = watched(&slim, &library);
    let next = || receiver.recv_timeout(LONG).expect("the watch reports");
    for tag in [2, 1] {
        write(&std::fs::read(reports(tag)).expect("it was built"));
        gone(&next().expect("it starts"));
        // Calls a clone of the function on another thread, as a request handler in a server does.
        let clone = function.clone();
        assert_eq!(thread::spawn(move || number(&clone).expect("it answers")).join().expect("no panic"), tag);
    }
    write(b"half a library");
    assert!(next().is_err());
    assert_eq!(number(&function).expect("the old one answers"), 1);
    drop(watch);
    write(&std::fs::read(reports(2)).expect("it was built"));
    assert!(receiver.recv().is_err(), "the watch has ended");
    assert_eq!(number(&function).expect("it answers"), 1);
}

/// Returns a folder with builds 1 and 2 of `reports`, and their paths. Tests replace build 1 by a rename of build 2, because a partly
/// copied file would be a damaged library.
fn two_builds() -> (TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let (library, complete) = (folder.path().join("libreports.so"), folder.path().join("complete.so"));
    std::fs::copy(reports(1), &library).expect("it can be copied");
    std::fs::copy(reports(2), &complete).expect("it can be copied");
    (folder, library, complete)
}

#[test]
fn a_watch_replaces_a_library_that_has_changed_since_its_load() {
    let (_folder, library, complete) = two_builds();
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("late").unwrap_or_else(|error| panic!("{error}"));
    slim.load_path(&library).unwrap_or_else(|error| panic!("{error}"));
    std::fs::rename(&complete, &library).expect("it can be moved");
    let (_watch, receiver) = watched(&slim, &library);
    gone(&receiver.recv_timeout(LONG).expect("the watch reports").expect("it starts"));
    assert_eq!(number(&build_tag(&slim)).expect("it answers"), 2);
}

#[test]
fn the_thread_of_a_watch_drops_thread_locals_of_unloading_slims() {
    // Keeps the log lines of this test out of the records of other tests.
    let _record = support::record("reports");
    let (_folder, library, complete) = two_builds();
    let contexts = runtime().contexts();
    let (slim, (called, render)) = (slim(&contexts, "replaced"), lingering_slim(&contexts, "called"));
    let (sender, receiver) = channel();
    let watch = SlimWatch::start(&slim, &library, move |_outcome| {
        let answer = render.call(&render_arguments());
        sender.send(answer.is_ok()).expect("the test listens");
    });
    let watch = watch.unwrap_or_else(|error| panic!("{error}"));
    std::fs::rename(&complete, &library).expect("it can be moved");
    assert_eq!(receiver.recv_timeout(LONG), Ok(true));
    // The thread of the watch still runs, and waits for the next change.
    let ticket = called.begin_unload().expect("it is collectible");
    let end = ticket.wait(LONG).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(end.modules[0].thread_locals_run, 1, "{end}");
    drop(watch);
}

#[test]
fn a_watch_is_for_slims_and_for_files_that_can_be_watched() {
    let contexts = runtime().contexts();
    let on_replaced = |_outcome| panic!("nothing is replaced");
    let refused = SlimWatch::start(&contexts.default_context(), reports(1), on_replaced).expect_err("it is not a Slim");
    assert!(refused.to_string().contains("is never unloaded"), "{refused}");
    let slim = slim(&contexts, "nowhere");
    let refused =
        SlimWatch::start(&slim, "/nowhere/libreports.so", on_replaced).expect_err("the folder does not exist");
    assert!(refused.to_string().starts_with("cannot watch /nowhere"), "{refused}");
}

#[test]
fn a_watch_dropped_by_its_own_callback_ends() {
    let (_folder, library, complete) = two_builds();
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "dropping");
    let watch_slot = Arc::new(Mutex::new(None::<SlimWatch>));
    let (inner, (sender, receiver)) = (Arc::clone(&watch_slot), channel());
    let drops = move |outcome: Result<UnloadTicket, ContextError>| {
        drop(inner.lock().expect("it is free").take());
        sender.send(outcome.is_ok()).expect("the test listens");
        panic!("a callback may panic");
    };
    *watch_slot.lock().expect("it is free") =
        Some(SlimWatch::start(&slim, &library, drops).expect("it can be watched"));
    std::fs::rename(&complete, &library).expect("it can be moved");
    assert_eq!(receiver.recv_timeout(LONG), Ok(true));
    assert!(receiver.recv().is_err(), "its thread has ended");
}

#[test]
fn a_replacement_may_come_from_bytes() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "bytes");
    let bytes = std::fs::read(reports(2)).expect("it was built");
    gone(&slim.replace_bytes("reports", &bytes, None).expect("it starts"));
    assert_eq!(number(&build_tag(&slim)).expect("it answers"), 2);
}

#[test]
fn a_function_is_found_by_type_method_and_signature() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "functions");
    for ty in ["Report", "reports:Report"] {
        let render = contexts.function("functions", ty, "render", "String, u32 -> String").expect("it is offered");
        let answer = render.call(&[text("somebody"), Value::U32(3)]).expect("it answers");
        assert_eq!(answer, Some(text("somebody x3 by build 1")));
    }
    match slim.function("Report", "render", "String -> String") {
        Err(ContextError::Call(CallError::Signature { name, found, expected })) => assert_eq!(
            (name.as_str(), found.as_str(), expected.as_str()),
            ("nm:/reports:Report:render", "String, u32 -> String", "String -> String")
        ),
        other => panic!("{other:?}"),
    }
    let refused = refusal(slim.function("Report", "print", ""));
    assert!(
        refused.starts_with("Slim \"functions\" offers no function Report:print: it offers nm:/reports:"),
        "{refused}"
    );
    assert!(refused.contains("nm:/reports:Report:render"), "{refused}");
    assert!(slim.function("other:Report", "render", "String, u32 -> String").is_err());
}

#[test]
fn arguments_that_do_not_fit_are_refused_before_the_call() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "arguments");
    let render = slim.function("Report", "render", "String, u32 -> String").expect("it is offered");
    let calls = slim.function("Report", "calls", "-> u64").expect("it is offered");
    let refused = refusal(render.call(&[Value::U32(1), text("x")]));
    assert!(refused.contains("argument 0 is u32, it must be String"), "{refused}");
    assert!(refusal(render.call(&[])).contains("does not take 0 arguments"));
    assert_eq!(number(&calls).expect("it answers"), 0);
}

#[test]
fn a_panic_in_a_slim_is_a_call_error_with_its_location() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "panics");
    let fail = slim.function("Report", "fail", "String").expect("it is offered");
    let failed = thread::spawn(move || fail.call(&[text("on purpose")])).join().expect("the plugin catches it");
    match failed {
        Err(ContextError::Call(CallError::Panicked { message, place })) => {
            assert_eq!(message, "on purpose");
            let line = support::line_of("reports", "panic!(\"{message}\")");
            assert!(place.is_some_and(|place| place.to_string().starts_with(&line)));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(number(&build_tag(&slim)).expect("it answers as before"), 1);
}

#[test]
fn log_lines_of_a_slim_arrive_from_any_thread() {
    let record = support::record("reports");
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "logs");
    let note = slim.function("Report", "note", "String").expect("it is offered");
    thread::spawn(move || note.call(&[text("a line of the Slim's")]))
        .join()
        .expect("it is caught")
        .expect("it answers");
    assert!(record.take().lines().any(|line| line == "a line of the Slim's"));
}

#[test]
fn two_slims_have_statics_of_their_own() {
    let contexts = runtime().contexts();
    let [one, other] = ["statics one", "statics other"].map(|name| slim(&contexts, name));
    for _ in 0..3 {
        number(&build_tag(&one)).expect("it answers");
    }
    let calls = |slim: &LoadContext| {
        number(&slim.function("Report", "calls", "-> u64").expect("it is offered")).expect("it answers")
    };
    assert_eq!((calls(&one), calls(&other)), (3, 0));
}
