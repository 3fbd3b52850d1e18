//! Tests unloading. Covers the rules with the letter E: see `main.rs`.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use alcedo_runtime::{
    Blocker, BlockerReport, ContextError, ContextEventKind, ContextState, Error, FoundModule, LeaseKind, LoadContext,
    LoadError, Runtime, UnloadTicket, Value, process,
};

use super::{
    LONG, any, build_tag, figures, gone, lingering_slim, needy, number, refusal, render_arguments, reports, runtime,
    slim, support, text,
};

/// Starts a thread that calls `wait_for`. The call returns when the file exists.
fn caller(slim: &LoadContext, file: &Path, name: &str) -> thread::JoinHandle<Result<Option<Value>, ContextError>> {
    let wait = slim.function("Report", "wait_for", "String -> bool").expect("it is offered");
    let path = text(&file.to_string_lossy());
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(move || wait.call(&[path])).expect("a thread can be started")
}

/// Waits until a lease of this kind blocks an unload, and returns the report.
fn until_held(ticket: &UnloadTicket, kind: LeaseKind) -> BlockerReport {
    support::until("it is blocked", || ticket.poll() == ContextState::Blocked);
    let report = ticket.report();
    assert!(report.blockers.iter().any(|by| by.kind == kind), "{report}");
    report
}

#[test]
fn e1_an_unload_waits_for_running_calls_and_names_them() {
    let runtime = runtime();
    let contexts = runtime.contexts();
    let dir = tempfile::tempdir().expect("a folder");
    let (slim, file) = (slim(&contexts, "e1"), dir.path().join("go"));
    let thread = caller(&slim, &file, "worker-3");
    support::until("the call has begun", || !slim.held_by().is_empty());
    let ticket = slim.begin_unload().expect("it is collectible");
    let report = until_held(&ticket, LeaseKind::Call);
    assert_eq!((report.state, ticket.state()), (ContextState::Blocked, ContextState::Blocked));
    let call = &report.blockers[0];
    assert_eq!(call.owner, "nm:/reports:Report:wait_for");
    assert!(call.thread.starts_with("\"worker-3\" ("), "{call:?}");
    assert!(call.place.as_deref().is_some_and(|place| place.contains("unloading.rs:")), "{call:?}");
    assert!(report.to_string().starts_with("Slim \"e1\" is blocked ("), "{report}");
    std::fs::write(&file, "").expect("it can be written");
    let answer = thread.join().expect("it does not panic").expect("the call completes");
    assert_eq!(answer, Some(Value::Bool(true)));
    gone(&ticket);
    assert_eq!(
        process::stale_mappings(&runtime.stage_dir()).expect("it can be asked"),
        Vec::<std::path::PathBuf>::new()
    );
}

#[test]
fn e2_context_states_are_alive_unloading_and_dead() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "e2");
    assert_eq!(slim.state(), ContextState::Alive);
    let scope = slim.enter().expect("it is alive");
    let ticket = slim.begin_unload().expect("it is collectible");
    assert!(matches!(slim.state(), ContextState::Unloading | ContextState::Blocked));
    until_held(&ticket, LeaseKind::Scope);
    assert_eq!(slim.state(), ContextState::Blocked);
    drop(scope);
    gone(&ticket);
    assert_eq!((slim.state(), ticket.state()), (ContextState::Dead, ContextState::Dead));
}

#[test]
fn e3_unloading_is_raised_once_after_the_seal_and_dead_last() {
    let contexts = runtime().contexts();
    let log = Arc::new(Mutex::new(Vec::new()));
    let slim = slim(&contexts, "e3");
    let (inner, own) = (Arc::clone(&log), contexts.clone());
    contexts.on_event(move |event| {
        let word = match &event.event {
            ContextEventKind::Unloading => format!("unloading, and `slim` returns {:?}", own.slim("e3").is_some()),
            other => format!("{other:?}"),
        };
        inner.lock().expect("not poisoned").push(word);
    });
    let again = contexts.slim("e3").expect("alive");
    let refused = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&refused);
    slim.on_unloading(0, move |_| {
        assert!(matches!(again.load_path(figures(1)), Err(ContextError::ContextUnloading { .. })));
        count.fetch_add(1, Ordering::Relaxed);
    });
    let ticket = slim.begin_unload().expect("it is collectible");
    let _same = slim.begin_unload().expect("it is collectible");
    gone(&ticket);
    assert_eq!(*log.lock().expect("not poisoned"), ["unloading, and `slim` returns false", "Dead"]);
    assert_eq!(refused.load(Ordering::Relaxed), 1);
    assert!(ticket.report().problems.is_empty(), "{}", ticket.report());
}

#[test]
fn e4_a_panicking_callback_stops_nothing_and_is_on_the_ticket() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "e4");
    let log = Arc::new(Mutex::new(Vec::new()));
    for (priority, name) in [(7, "last"), (1, "first"), (3, "panics")] {
        let log = Arc::clone(&log);
        slim.on_unloading(priority, move |_| {
            assert!(name != "panics", "on purpose");
            log.lock().expect("not poisoned").push(name);
        });
    }
    let ticket = slim.begin_unload().expect("it is collectible");
    gone(&ticket);
    assert_eq!(*log.lock().expect("not poisoned"), ["first", "last"]);
    assert_eq!(ticket.report().problems, ["a callback of priority 3 panicked: \"on purpose\""]);
}

#[test]
fn a_panicking_log_subscriber_does_not_keep_a_slim_loaded() {
    for target in ["alcedo_runtime::load::context::unloading", "alcedo_runtime::load::context::event"] {
        let record = support::record(target);
        record.fail();
        let contexts = runtime().contexts();
        let slim = slim(&contexts, "panicking logs");
        slim.on_unloading(0, |_| panic!("on purpose"));
        gone(&slim.begin_unload().expect("it is collectible"));
    }
}

#[test]
fn e4_a_panicking_exit_hook_stops_nothing_and_is_on_the_ticket() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("e4").expect("the name is free");
    slim.load_path(support::plugin("reports", &["panic-in-exit"])).expect("it is loaded");
    let ticket = slim.begin_unload().expect("it is collectible");
    gone(&ticket);
    let problems = ticket.report().problems;
    assert!(problems[0].starts_with("the exit hook of reports panicked: \"broken on purpose: exit\""), "{problems:?}");
}

#[test]
fn a_slim_resource_that_recreates_itself_on_drop_is_reported() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("endless").expect("the name is free");
    slim.load_path(support::plugin("reports", &["endless-resource"])).expect("it is loaded");
    let ticket = slim.begin_unload().expect("it is collectible");
    gone(&ticket);
    let problems = ticket.report().problems;
    let expected =
        "the exit hook of reports leaked a resource: each drop of `reports::Endless`, passed to `auto_dispose` at ";
    assert!(problems.len() == 1 && problems[0].starts_with(expected), "{problems:?}");
}

#[test]
fn e5_requesting_an_unload_again_returns_the_same_unload() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "e5");
    let first = slim.begin_unload().expect("it is collectible");
    assert_eq!(slim.begin_unload().expect("it is collectible"), first);
    gone(&first);
    assert_eq!(slim.begin_unload().expect("it is collectible"), first, "also after its end");
}

#[test]
fn e6_the_default_is_not_collectible() {
    let contexts = runtime().contexts();
    let default = contexts.default_context();
    assert!(matches!(default.begin_unload(), Err(ContextError::NotCollectible { .. })));
    for path in [reports(1), "/nowhere.so".into()] {
        assert!(matches!(default.replace(path), Err(ContextError::NotCollectible { .. })));
    }
    assert!(refusal(default.begin_unload()).starts_with("Default is never unloaded"));
}

#[test]
fn e7_dropping_the_last_handle_unloads_a_slim_and_logs_the_location() {
    let record = support::record("alcedo_runtime::load::context::handle");
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "e7 dropped");
    let other = slim.clone();
    let function = build_tag(&slim);
    drop(slim);
    assert_eq!(number(&function).expect("another handle is there"), 1);
    let thread = thread::Builder::new().name("dropper".into());
    thread.spawn(move || drop(other)).expect("a thread can be started").join().expect("it does not panic");
    assert!(matches!(number(&function), Err(ContextError::ContextUnloading { .. })));
    let lines = record.take();
    let line = lines.lines().find(|line| line.contains("e7 dropped")).unwrap_or_else(|| panic!("{lines}"));
    assert!(line.contains("thread=\"dropper\" (") && line.contains("contexts/main.rs:"), "{line}");
    support::until("it is gone", || contexts.all().len() == 1);
}

#[test]
fn e8_running_calls_finish_and_new_calls_are_refused() {
    let contexts = runtime().contexts();
    let dir = tempfile::tempdir().expect("a folder");
    let (slim, file) = (slim(&contexts, "e8"), dir.path().join("go"));
    let (function, thread) = (build_tag(&slim), caller(&slim, &file, "inside"));
    support::until("the call has begun", || !slim.held_by().is_empty());
    let ticket = slim.begin_unload().expect("it is collectible");
    assert!(matches!(number(&function), Err(ContextError::ContextUnloading { .. })));
    assert!(matches!(function.pointer(), Err(ContextError::ContextUnloading { .. })));
    assert!(matches!(slim.function("Report", "calls", "-> u64"), Err(ContextError::ContextUnloading { .. })));
    assert!(matches!(slim.enter(), Err(ContextError::ContextUnloading { .. })));
    assert!(matches!(slim.native_library("m", None), Err(ContextError::ContextUnloading { .. })));
    assert!(matches!(slim.load_name("reports", &any()), Err(ContextError::ContextUnloading { .. })));
    std::fs::write(&file, "").expect("it can be written");
    assert_eq!(thread.join().expect("it does not panic").expect("it completes"), Some(Value::Bool(true)));
    gone(&ticket);
    assert!(refusal(number(&function)).starts_with("Slim \"e8\" has been unloading for "));
}

#[test]
fn e11_the_private_copy_is_removed_with_its_image() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "e11");
    let image = slim.modules()[0].image.clone();
    assert!(image.exists());
    gone(&slim.begin_unload().expect("it is collectible"));
    assert!(!image.exists());
}

#[test]
fn e12_a_hundred_contexts_are_created_and_all_unload() {
    let runtime = runtime();
    let contexts = runtime.contexts();
    for round in 0..100 {
        let slim = contexts.create_slim("e12").expect("the one before is dead");
        slim.load_path(reports(1 + round % 2)).expect("it is loaded");
        assert_eq!(number(&build_tag(&slim)).expect("it answers"), 1 + round % 2);
        gone(&slim.begin_unload().expect("it is collectible"));
    }
    assert!(process::stale_mappings(&runtime.stage_dir()).expect("it can be asked").is_empty());
    assert_eq!(contexts.all().len(), 1);
}

#[test]
fn e13_slim_thread_locals_drop_on_their_threads_and_may_log() {
    let record = support::record("reports");
    let runtime = runtime();
    let contexts = runtime.contexts();
    let (slim, render) = lingering_slim(&contexts, "e13");
    let render = Arc::new(render);
    assert_eq!(render.call(&render_arguments()).expect("it answers"), Some(text("somebody x2 by build 0")));
    let (done, wait) = std::sync::mpsc::channel::<()>();
    let (inside, called) = (Arc::clone(&render), Arc::new(AtomicU32::new(0)));
    let count = Arc::clone(&called);
    let thread = thread::Builder::new().name("keeper".into()).spawn(move || {
        let answer = inside.call(&render_arguments());
        count.fetch_add(u32::from(answer.is_ok()), Ordering::SeqCst);
        wait.recv().expect("a message arrives");
    });
    let thread = thread.expect("a thread can be started");
    support::until("it has called", || called.load(Ordering::SeqCst) == 1);
    let ticket = slim.begin_unload().expect("it is collectible");
    let report = until_held(&ticket, LeaseKind::ThreadLocal);
    assert!(report.blockers.iter().any(|by| by.thread.contains("keeper")), "{report}");
    done.send(()).expect("it listens");
    thread.join().expect("it does not panic");
    let end = ticket.wait(LONG).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(end.modules[0].thread_locals_run, 2, "{end}");
    let lines = record.take();
    assert_eq!(lines.matches("a thread-local of 1 bytes ends").count(), 2, "{lines}");
}

#[test]
fn e14_the_address_of_a_function_keeps_it() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "e14");
    let pointer = slim.get_function_pointer("Report", "build_tag", "-> u64").expect("it is offered");
    let ticket = slim.begin_unload().expect("it is collectible");
    let report = until_held(&ticket, LeaseKind::Borrow);
    assert_eq!(report.blockers[0].owner, "pointer to nm:/reports:Report:build_tag");
    assert!(report.blockers[0].place.as_deref().is_some_and(|place| place.contains("unloading.rs:")), "{report}");
    assert_eq!(pointer.call(&[]).expect("its image is there"), Some(Value::U64(1)));
    drop(pointer);
    gone(&ticket);
}

#[test]
fn a_context_unloads_although_the_log_line_of_its_last_handle_panics() {
    let record = support::record("alcedo_runtime::load::context::handle");
    record.fail();
    let contexts = runtime().contexts();
    let last = slim(&contexts, "not logged");
    drop(last);
    support::until("it unloads", || !contexts.all().iter().any(|info| info.name == "not logged"));
}

#[test]
fn e15_a_context_that_cannot_end_can_be_parked_and_remains_listed() {
    let runtime = runtime();
    let contexts = runtime.contexts();
    let slim = slim(&contexts, "e15");
    let pointer = slim.get_function_pointer("Report", "build_tag", "-> u64").expect("it is offered");
    let ticket = slim.begin_unload().expect("it is collectible");
    until_held(&ticket, LeaseKind::Borrow);
    slim.park();
    assert_eq!(ticket.state(), ContextState::Parked);
    assert!(
        ticket.report().parked[0].reason.contains("pointer to nm:/reports:Report:build_tag"),
        "{}",
        ticket.report()
    );
    assert_eq!(pointer.call(&[]).expect("its image stays"), Some(Value::U64(1)));
    let listed = contexts.all().into_iter().find(|info| info.name == "e15").expect("it is listed permanently");
    assert_eq!(listed.state, ContextState::Parked);
    assert_eq!(runtime.unloads().parked().len(), 1);
    contexts.create_slim("e15").expect("the name of a parked context is free");
}

#[test]
fn e15_a_report_names_dependents_of_modules_and_holders_of_the_context() {
    let contexts = runtime().contexts();
    let lender = slim(&contexts, "lender");
    let borrowed = lender.load_path(figures(1)).expect("it is loaded");
    let borrower = contexts.create_slim("borrower").expect("the name is free");
    borrower.set_resolver(move |_| Ok(Some(FoundModule::Loaded(borrowed.clone()))));
    borrower.load_path(needy()).expect("its dependencies are borrowed");
    let pointer = lender.get_function_pointer("Report", "build_tag", "-> u64").expect("it is offered");
    let ticket = lender.begin_unload().expect("it is collectible");
    let report = until_held(&ticket, LeaseKind::Borrow);
    let names =
        |kind: LeaseKind, owner: &str| report.blockers.iter().any(|by| by.kind == kind && by.owner.contains(owner));
    assert!(names(LeaseKind::Borrow, "pointer to") && names(LeaseKind::Dependent, "Slim \"borrower\""), "{report}");
    drop(pointer);
    gone(&borrower.begin_unload().expect("it is collectible"));
    gone(&ticket);
}

#[test]
fn e15_a_context_is_parked_automatically_under_that_host_policy() {
    let contexts = runtime().contexts();
    contexts.park_after(Some(Duration::from_millis(1)));
    let slim = slim(&contexts, "patience");
    let _pointer = slim.get_function_pointer("Report", "build_tag", "-> u64").expect("it is offered");
    let ticket = slim.begin_unload().expect("it is collectible");
    support::until("it is parked", || ticket.state() == ContextState::Parked);
}

#[test]
fn a_parked_image_of_a_failed_load_is_listed_and_counted() {
    let builder = support::builder().unloads(|policy| policy.parked_budget = 0);
    let runtime = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let contexts = runtime.contexts();
    let slim = contexts.create_slim("refuses").expect("the name is free");
    let id = slim.id().expect("it is alive");
    let broken = support::plugin("reports", &["thread-in-main", "panic-in-main"]);
    assert!(refusal(slim.load_path(broken)).contains("broken on purpose: main"));
    let tickets = contexts.unloads();
    assert_eq!((tickets.len(), contexts.unload_of(id)), (1, None), "{contexts:?}");
    until_held(&tickets[0], LeaseKind::Thread);
    contexts.park(id).expect("a failed load is unfinished");
    assert_eq!((tickets[0].state(), slim.state()), (ContextState::Parked, ContextState::Alive));
    let parked = runtime.unloads().parked();
    assert!(parked.len() == 1 && parked[0].starts_with("reports of Slim \"refuses\" stays mapped"), "{parked:?}");
    let refused = slim.load_path(reports(1));
    assert!(matches!(refused, Err(ContextError::Load(LoadError::ParkedBudget { budget: 0, .. }))), "{refused:?}");
    let refused = runtime.create_master(&[reports(1)]);
    let refused = refused.expect_err("all contexts share one budget");
    assert!(matches!(refused, Error::Load(LoadError::ParkedBudget { budget: 0, .. })), "{refused}");
    assert_eq!(runtime.shutdown().left, parked);
}

#[test]
fn a_host_that_shuts_down_ends_every_slim() {
    let runtime = runtime();
    let contexts = runtime.contexts();
    let [one, other] = ["one", "other"].map(|name| slim(&contexts, name));
    assert!(runtime.shutdown().into_result().is_ok());
    assert_eq!((one.state(), other.state()), (ContextState::Dead, ContextState::Dead));
    assert!(matches!(one.load_path(figures(1)), Err(ContextError::ContextUnloading { .. })));
}

#[test]
fn a_slim_without_handles_is_found_by_name_and_id_and_parked() {
    let runtime = runtime();
    let contexts = runtime.contexts();
    let slim = slim(&contexts, "out of reach");
    let name_in_use = refusal(contexts.create_slim("out of reach"));
    assert!(
        name_in_use.ends_with("one is alive under this name: take another, or `replace` what is in it"),
        "{name_in_use}"
    );
    let again = contexts.slim("out of reach").expect("it is alive");
    gone(&again.replace(reports(2)).expect("the advice of the message works"));
    let id = slim.id().expect("it is alive");
    let pointer = slim.get_function_pointer("Report", "build_tag", "-> u64").expect("it is offered");
    let held = contexts.report(id).expect("it is alive");
    assert_eq!((held.state, held.blockers.len()), (ContextState::Alive, 1), "{held}");
    assert_eq!((contexts.unloads(), contexts.unload_of(id)), (vec![], None));
    assert!(refusal(contexts.park(id)).ends_with("it is alive: begin its unload first"));
    drop((slim, again));
    assert!(contexts.slim("out of reach").is_none());
    let tickets = contexts.unloads_of("out of reach");
    assert_eq!((tickets.len(), contexts.unloads().len()), (1, 1), "{contexts:?}");
    assert_eq!(contexts.unload_of(id).as_ref(), tickets.first());
    support::until("it is blocked", || tickets[0].poll() == ContextState::Blocked);
    let report = contexts.report(id).expect("it is not dead");
    assert_eq!(report.blockers[0].owner, "pointer to nm:/reports:Report:build_tag", "{report}");
    let name_in_use = refusal(contexts.create_slim("out of reach"));
    assert!(
        name_in_use.contains(
            "under this name: take another, wait on its ticket (`Contexts::unloads_of`), or park it \
             (`Contexts::park`)"
        ),
        "{name_in_use}"
    );
    contexts.park(id).expect("it is blocked");
    assert_eq!(tickets[0].state(), ContextState::Parked);
    contexts.park(id).expect("it stays parked");
    contexts.create_slim("out of reach").expect("the name is free");
    assert_eq!(pointer.call(&[]).expect("its image stays"), Some(Value::U64(2)));
}

#[test]
fn every_thread_sees_the_master_unload_and_only_its_thread_parks_it() {
    let builder = support::builder().unloads(|policy| policy.grace = Duration::ZERO);
    let runtime = builder.build().unwrap_or_else(|error| panic!("{error}"));
    runtime.create_master(&[reports(1)]).unwrap_or_else(|error| panic!("{error}"));
    let contexts = runtime.contexts();
    let id = contexts.all().iter().find(|info| info.name == "Master").expect("it is alive").id;
    let lease = runtime.unloads().lease("reports", "a test").expect("it is alive");
    let begun = runtime.unload_master().expect("a Master");
    let other = contexts.clone();
    let (tickets, refused) =
        thread::spawn(move || (other.unloads_of("Master"), refusal(other.park(id)))).join().expect("it does not panic");
    assert_eq!(tickets, [begun.ticket]);
    let report = contexts.report(id).expect("it is not dead");
    assert!(report.blockers.iter().any(|by| (by.kind, by.owner.as_str()) == (LeaseKind::Borrow, "a test")), "{report}");
    assert!(refused.ends_with("only its game thread can, with `Unloads::park`"), "{refused}");
    drop(lease);
    runtime.unloads().wait(LONG).expect("no plugin code is on the stack");
    assert_eq!((contexts.unloads_of("Master"), contexts.report(id)), (vec![], None));
    assert!(refusal(contexts.park(id)).contains("only its game thread can"));
}

/// Returns the kind and the source file of each lease. Omits the line numbers.
fn call_sites(blockers: &[Blocker]) -> Vec<(LeaseKind, String)> {
    let of = |blocker: &Blocker| {
        let call_site = blocker.place.as_deref().expect("it has a location");
        (blocker.kind, call_site.rsplit_once(':').expect("file and line").0.to_owned())
    };
    blockers.iter().map(of).collect()
}

#[test]
fn a_host_lease_reports_name_and_location_through_every_entry_point() {
    let runtime = support::hasty_host(&[support::plugin("switchboard", &[])]);
    let contexts = runtime.contexts();
    let named = |leases: Vec<Blocker>, name: &str| {
        let lease = leases.into_iter().find(|lease| lease.owner == name).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(call_sites(&[lease]), [(LeaseKind::Borrow, file!().to_owned())], "{name}");
    };
    let of_master = |runtime: &Runtime| runtime.unloads().leases().into_iter().map(|lease| lease.blocker).collect();
    let module = runtime.unloads().lease("switchboard", "the lines").expect("it is alive");
    named(of_master(&runtime), "the lines");
    let whole = runtime.unloads().lease_master("all of it").expect("it is alive");
    named(of_master(&runtime), "all of it");
    let unload = runtime.unload_master().expect("there is one");
    let held: Vec<_> = unload.ticket.report().blockers.into_iter().map(|by| by.owner).collect();
    assert_eq!(held, ["the lines", "all of it"]);
    assert!(runtime.unloads().lease_master("too late").is_err());
    drop((module, whole));
    support::until("no holder is left", || unload.ticket.poll() == ContextState::Dead);

    let slim = slim(&contexts, "places");
    for (context, name) in [(&contexts.default_context(), "tables"), (&slim, "reports")] {
        let lease = context.lease(name).expect("it is alive");
        named(context.held_by(), name);
        drop(lease);
        assert_eq!(context.held_by(), []);
    }

    let scope = slim.enter().expect("it is alive");
    let future = slim.scope(async {}).expect("it is alive");
    let function = slim.function("Report", "build_tag", "-> u64").expect("it is offered");
    let pointers = [
        function.pointer().expect("it is alive"),
        slim.get_function_pointer("Report", "build_tag", "-> u64").expect("it is offered"),
    ];
    let held = slim.held_by();
    assert_eq!(held.len(), 4, "{held:?}");
    assert!(call_sites(&held).iter().all(|(_, file)| file == file!()), "{held:?}");
    drop((scope, future, pointers));

    // A load in progress holds a lease on its context. The resolver records the leases that exist when it is called.
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (inner, line) = (Arc::clone(&seen), contexts.clone());
    slim.set_resolver(move |request| {
        let here = line.slim("places").expect("it is alive");
        inner.lock().expect("not poisoned").extend(here.held_by());
        Ok((request.name == "figures").then(|| FoundModule::File(figures(1))))
    });
    contexts.default_context().load_path(figures(1)).expect("it is loaded");
    slim.load_name("figures", &any()).expect("the resolver finds it");
    let bytes = std::fs::read(figures(1)).expect("it was built");
    slim.load_bytes("again", &bytes, None).expect("it is there");
    slim.load_reader("again", bytes.as_slice(), None).expect("it is there");
    gone(&slim.replace(needy()).expect("it starts"));
    let held = std::mem::take(&mut *seen.lock().expect("not poisoned"));
    assert!(!held.is_empty() && call_sites(&held).iter().all(|(_, file)| file == file!()), "{held:?}");
    let threads: Vec<_> = held.iter().map(|by| by.thread.clone()).collect();
    let own = process::describe_this_thread();
    assert!(threads.iter().all(|thread| *thread == own), "{threads:?} on {own}");

    // The borrower holds a lease on a borrowed module. The lease names the call that loaded the module as its call site.
    let lender = contexts.create_slim("lender").expect("the name is free");
    let borrowed = lender.load_path(figures(1)).expect("it is loaded");
    let borrower = contexts.create_slim("borrower").expect("the name is free");
    borrower.set_resolver(move |_| Ok(Some(FoundModule::Loaded(borrowed.clone()))));
    borrower.load_path(needy()).expect("it borrows");
    let ticket = lender.begin_unload().expect("it is collectible");
    let held = ticket.report().blockers;
    assert!(!held.is_empty() && call_sites(&held).iter().all(|(_, file)| file == file!()), "{held:?}");
    slim.set_resolver(|_| Ok(None));
    gone(&borrower.begin_unload().expect("it is collectible"));
    gone(&ticket);
}
