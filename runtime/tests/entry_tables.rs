//! Tests function tables that a module and its host exchange through the module's entry method. The tests call functions of both tables. A
//! load with different definitions is rejected. No entry may outlive its generation.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alcedo_runtime as alcedo;
use alcedo_runtime::tables::{OfContext, TableError};
use alcedo_runtime::{
    CallError, ContextError, ContextState, Error, FoundModule, LoadContext, LoadError, Runtime, Value, VersionReq,
};
use corosensei::{Coroutine, CoroutineResult};

use crate::support;

include!("plugins/exchange/src/tables.rs");

/// Kinds of errors that the module reports as numbers.
const WRONG_THREAD: i32 = alcedo_abi::call::FailureKind::WRONG_THREAD.0 as i32;
const EXTERNAL: u32 = alcedo_abi::call::FailureKind::PANIC.0;
const DURING_REBUILD: u32 = alcedo_abi::call::FailureKind::DURING_REBUILD.0;
const UNAVAILABLE: u32 = alcedo_abi::call::FailureKind::UNAVAILABLE.0;

fn library(features: &[&str]) -> std::path::PathBuf {
    support::plugin("exchange", features)
}

/// Returns a host with its entry table, and the counter that the table's function `count` increments.
fn host() -> (Runtime, Arc<AtomicU32>) {
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let counted = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&counted);
    host.tables().offer(engine(counter)).unwrap_or_else(|error| panic!("{error}"));
    (host, counted)
}

fn engine(counter: Arc<AtomicU32>) -> impl alcedo::tables::HostEntries {
    engine_that(move || {
        counter.fetch_add(1, Ordering::Relaxed);
    })
}

fn engine_that(count: impl Fn() + Send + Sync + 'static) -> impl alcedo::tables::HostEntries {
    Engine {
        add: |left, right| i32::wrapping_add(left, right),
        count,
        fail: |number| {
            assert!(number == 0, "{number} is refused by the host");
            true
        },
        sum: |a, b, c, d, e, f, g, h| {
            f64::from(a) + f64::from(b) + f64::from(c) + d as f64 + f64::from(e) + f64::from(f) + f64::from(g) + h
        },
    }
}

fn master(host: &Runtime, features: &[&str]) -> Scores {
    host.create_master(&[library(features)]).unwrap_or_else(|error| panic!("{error}"));
    scores(host)
}

fn scores(host: &Runtime) -> Scores {
    host.tables().of_module("exchange").unwrap_or_else(|error| panic!("{error}"))
}

fn slim(host: &Runtime, features: &[&str]) -> (LoadContext, Scores<OfContext>) {
    let slim = host.contexts().create_slim("apart").expect("the name is free");
    slim.load_path(library(features)).unwrap_or_else(|error| panic!("{error}"));
    let scores = slim.table("exchange").unwrap_or_else(|error| panic!("{error}"));
    (slim, scores)
}

fn refused<T>(done: Result<T, impl std::fmt::Display>) -> String {
    match done {
        Ok(_) => panic!("it is accepted"),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn assert_names(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

alcedo::entry_table! {
    /// A table of the host. The name of its entry is a keyword.
    pub host struct Sorter {
        /// Returns the next number.
        r#type: fn(u32) -> u32,
    }
}

#[test]
fn an_entry_named_by_a_keyword_is_called_without_a_prefix() {
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    host.tables().offer(Sorter { r#type: |number| number + 1 }).unwrap_or_else(|error| panic!("{error}"));
    let next = host.function::<(u32,), u32>("ex:/Sorter/type").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(next.call((2,)).unwrap_or_else(|error| panic!("{error}")), 3);
}

#[test]
fn both_tables_work_for_a_module_of_the_master() {
    let (host, counted) = host();
    let scores = master(&host, &[]);
    assert_eq!(scores.build.call(()).expect("it is there"), 1);
    assert_eq!(scores.add.call((20, 22)).expect("it adds"), 42);
    assert_eq!(scores.sum.call(()).expect("it adds"), -0.25);
    for _ in 0..3 {
        assert_eq!(scores.count.call(()).expect("it counts"), 0);
    }
    assert_eq!(counted.load(Ordering::Relaxed), 3);
    assert_eq!(scores.add_often.call((1000,)).expect("it adds"), 1000);
    assert_eq!(scores.add_often_hot.call((1000,)).expect("it adds"), 1000, "an entry without captures has a pointer");
    let sums = scores.add.hot(|add| (0..100).fold(0, |sum, _| add.call((sum, 1)).expect("it adds")));
    assert_eq!(sums.expect("there is a pointer"), 100);
    // Entries can also be called by name.
    let two = [Value::I32(20), Value::I32(22)];
    for name in ["ex:/Engine/add", "nm:/exchange:Scores:add"] {
        assert_eq!(host.calls().call(name, &two).expect(name), Some(Value::I32(42)), "{name}");
    }
}

#[test]
fn both_tables_work_for_a_module_of_a_slim_on_any_thread() {
    let (host, counted) = host();
    let (_slim, scores) = slim(&host, &[]);
    let scores = &scores;
    let all = || {
        assert_eq!(scores.build.call(()).expect("it is there"), 1);
        assert_eq!(scores.add.call((20, 22)).expect("it adds"), 42);
        assert_eq!(scores.sum.call(()).expect("it adds"), -0.25);
        assert_eq!(scores.count.call(()).expect("it counts"), 0);
        assert_eq!(scores.add_elsewhere.call((20, 22)).expect("it adds"), 42);
        assert_eq!(scores.add_often.call((100,)).expect("it adds"), 100);
        assert_eq!(scores.add_often_hot.call((100,)).expect("it adds"), 100, "an entry without captures has a pointer");
        assert!(scores.fail.call((0,)).expect("no panic"));
        let sums = scores.add.hot(|add| (0..100).fold(0, |sum, _| add.call((sum, 1)).expect("it adds")));
        assert_eq!(sums.expect("it is open"), 100);
    };
    all();
    std::thread::scope(|scope| scope.spawn(all).join().expect("no panic"));
    assert_eq!(counted.load(Ordering::Relaxed), 1 + 2, "the main of the Slim counted once");
}

#[test]
fn a_master_module_calls_its_host_only_on_the_game_thread() {
    let (host, _) = host();
    let scores = master(&host, &[]);
    assert_eq!(scores.add_elsewhere.call((1, 2)).expect("it returns"), -WRONG_THREAD);
    assert_eq!(scores.add.call((1, 2)).expect("it adds"), 3);
}

#[test]
fn a_mismatched_host_table_is_refused_at_load_naming_each_entry() {
    let (host, _) = host();
    let names = [
        "exchange was built with another definition of the table Engine",
        "`add` is (i64, i64 -> i64) in the module and (i32, i32 -> i32) at the host",
        "`scale` (f64 -> f64) is missing at the host",
        "`fail` (u32 -> bool) is missing in the module",
        "build both with one `entry_table!`",
    ];
    let error = host.create_master(&[library(&["other-engine"])]).expect_err("it is refused");
    assert!(matches!(&error, Error::Load(LoadError::Table(TableError::Differs { .. }))), "{error}");
    assert_names(&error.to_string(), &names);
    assert!(!error.to_string().contains("`count`"), "what agrees is not named: {error}");
    // The reload fails, and the host keeps the old code.
    let scores = master(&host, &[]);
    let reload = host.reload(&[library(&["other-engine"])]).expect("a safe point");
    assert!(!reload.is_committed());
    assert_eq!(scores.add.call((1, 2)).expect("the old code answers"), 3);

    let (slim, scores) = slim(&host, &[]);
    assert_names(&refused(slim.replace(library(&["other-engine"]))), &names);
    assert_eq!(scores.add.call((1, 2)).expect("the old code answers"), 3);
}

#[test]
fn a_mismatched_module_table_is_refused_at_the_host_lookup() {
    let names = [
        "exchange was built with another definition of the table Scores",
        "`build` is (-> u64) in the module and (-> u32) at the host",
        "`add_often` (u64 -> i32) is missing in the module",
    ];
    let (host, _) = host();
    host.tables().expect::<Scores>().expect("a table");
    assert_names(&refused(host.create_master(&[library(&["other-scores"])])), &names);
    let slim = host.contexts().create_slim("apart").expect("the name is free");
    assert_names(&refused(slim.load_path(library(&["other-scores"]))), &names);
    slim.load_path(library(&[])).unwrap_or_else(|error| panic!("{error}"));

    // This host has not declared the table by a call of `expect`. The request for the table therefore fails.
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[library(&["other-scores"])]).unwrap_or_else(|error| panic!("{error}"));
    assert_names(&refused(host.tables().of_module::<Scores>("exchange")), &names);
    let slim = host.contexts().create_slim("apart").expect("the name is free");
    slim.load_path(library(&["other-scores"])).unwrap_or_else(|error| panic!("{error}"));
    assert_names(&refused(slim.table::<Scores<OfContext>>("exchange")), &names);
}

#[test]
fn a_missing_host_table_is_refused_with_the_available_tables() {
    alcedo::entry_table! {
        /// Entry table that another host declares.
        host struct Sound {
            /// Plays a sound.
            play: fn(u32),
        }
    }
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let names = ["exchange requires the table Engine", "add(i32, i32 -> i32)", "call `Tables::offer`"];
    let error = refused(host.create_master(&[library(&[])]));
    assert_names(&error, &names);
    assert_names(&error, &["this host offers none"]);
    host.tables().offer(Sound { play: |_| {} }).expect("it is new");
    let slim = host.contexts().create_slim("apart").expect("the name is free");
    let error = refused(slim.load_path(library(&[])));
    assert_names(&error, &names);
    assert_names(&error, &["this host offers Sound"]);
    assert_names(&refused(host.tables().offer(Sound { play: |_| {} })), &["the table Sound is offered already"]);
    assert!(host.tables().of_module::<Scores>("exchange").is_err(), "no Master exists");
}

#[test]
fn a_host_table_with_a_used_name_registers_no_entry() {
    alcedo::entry_table! {
        /// Entry table with a name that the host has used.
        host struct Pair {
            /// Entry with a free name.
            first: fn(u32),
            /// Entry with a used name.
            second: fn(u32),
        }
    }
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    host.calls().register_typed("Pair/second", |_: &Runtime, (number,): (u32,)| number).expect("the name is free");
    let error = refused(host.tables().offer(Pair { first: |_| {}, second: |_| {} }));
    assert_names(&error, &["ex:/Pair/second", "the host has it"]);
    assert!(host.calls().resolve("ex:/Pair/first").is_err(), "no entry is registered");
}

#[test]
fn a_table_of_the_master_ends_with_its_generation() {
    let (host, _) = host();
    let first = master(&host, &[]);
    assert_eq!(first.build.call(()).expect("it is there"), 1);
    assert!(host.reload(&[library(&["next"])]).expect("a safe point").is_committed());
    let second = scores(&host);
    for _ in 0..2 {
        let error = first.build.call(()).expect_err("expired");
        assert!(matches!(error, Error::Call(CallError::DeadHandle { .. })), "{error}");
        assert_names(&error.to_string(), &["nm:/exchange:Scores:build", "Tables::of_module"]);
        assert!(first.build.hot(|build| build.call(())).is_err());
        assert_eq!(second.build.call(()).expect("it is there"), 2);
        assert_eq!(second.add.call((1, 2)).expect("the host answers the new code"), 3);
    }
    host.unload_master().expect("a safe point");
    let error = second.build.call(()).expect_err("expired");
    assert!(matches!(error, Error::Call(CallError::DeadHandle { .. })), "{error}");
    drop(host);
    let error = second.build.call(()).expect_err("the host has ended");
    assert!(matches!(error, Error::Call(CallError::Unavailable { .. })), "{error}");
}

#[test]
fn a_table_remains_good_when_a_reload_is_rolled_back() {
    let (host, _) = host();
    let scores = master(&host, &[]);
    for features in [&["next", "panics-in-main"][..], &["next", "panics-in-entry"]] {
        let reload = host.reload(&[library(features)]).expect("a safe point");
        assert!(!reload.is_committed(), "{features:?}");
        assert_eq!(scores.build.call(()).expect("the old code answers"), 1);
        assert_eq!(scores.add.call((1, 2)).expect("it adds"), 3);
    }
    let (slim, scores) = slim(&host, &[]);
    assert_names(
        &refused(slim.replace(library(&["next", "panics-in-entry"]))),
        &["exchange", "no exchange", "plain.rs"],
    );
    assert_eq!(scores.build.call(()).expect("the old code answers"), 1);
}

#[test]
fn a_table_of_a_slim_ends_with_its_generation() {
    let (host, _) = host();
    let (slim, first) = slim(&host, &[]);
    let _old = slim.replace(library(&["next"])).unwrap_or_else(|error| panic!("{error}"));
    let second: Scores<OfContext> = slim.table("exchange").unwrap_or_else(|error| panic!("{error}"));
    for _ in 0..2 {
        let error = first.build.call(()).expect_err("expired");
        assert!(matches!(error, ContextError::ContextUnloading { .. }), "{error}");
        assert_names(&error.to_string(), &["nm:/exchange:Scores:build", "apart"]);
        assert_eq!(second.build.call(()).expect("it is there"), 2);
    }
    let elsewhere = first.add.clone();
    let late = std::thread::spawn(move || elsewhere.call((1, 2)).is_err());
    assert!(late.join().expect("no panic"));
    let ticket = slim.begin_unload().expect("a Slim");
    ticket.wait(Duration::from_secs(30)).unwrap_or_else(|report| panic!("{report}"));
    let error = second.build.call(()).expect_err("expired");
    assert!(matches!(error, ContextError::ContextUnloading { .. }), "{error}");
    assert!(slim.table::<Scores<OfContext>>("exchange").is_err());
}

#[test]
fn an_unload_of_a_slim_waits_for_a_hot_entry() {
    let (host, _) = host();
    let (slim, scores) = slim(&host, &[]);
    let ticket = scores.build.hot(|build| {
        let ticket = slim.begin_unload().expect("a Slim");
        assert_ne!(ticket.state(), ContextState::Dead, "the image is in use");
        assert_eq!(build.call(()).expect("it is mapped"), 1);
        assert!(scores.build.call(()).is_err(), "no call begins");
        ticket
    });
    let ended = ticket.expect("it was open").wait(Duration::from_secs(30));
    ended.unwrap_or_else(|report| panic!("{report}"));
}

#[test]
fn a_slim_unload_waits_for_and_names_a_running_entry() {
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let (entered, inside) = channel();
    let (leave, wait) = channel::<()>();
    let (waits, wait) = (Arc::new(AtomicBool::new(false)), Mutex::new(wait));
    let is_first = Arc::clone(&waits);
    let engine = engine_that(move || {
        if is_first.swap(false, Ordering::SeqCst) {
            entered.send(()).expect("the test waits");
            wait.lock().expect("no panic").recv().expect("the test sends");
        }
    });
    host.tables().offer(engine).unwrap_or_else(|error| panic!("{error}"));
    let (slim, scores) = slim(&host, &[]);
    waits.store(true, Ordering::SeqCst);
    let count = scores.count.clone();
    let caller = std::thread::Builder::new().name("caller".into()).spawn(move || count.call(())).expect("a thread");
    inside.recv().expect("the host is called");
    let ticket = slim.begin_unload().expect("a Slim");
    support::until("it is blocked", || ticket.poll() == ContextState::Blocked);
    let report = ticket.report().to_string();
    assert_names(&report, &["nm:/exchange:Scores:count", "\"caller\"", "entry_tables.rs"]);
    let error = scores.build.call(()).expect_err("no call begins");
    assert!(matches!(error, ContextError::ContextUnloading { .. }), "{error}");
    leave.send(()).expect("the host waits");
    assert_eq!(caller.join().expect("no panic").expect("the call completes"), 0);
    ticket.wait(Duration::from_secs(30)).unwrap_or_else(|report| panic!("{report}"));
}

#[test]
fn entries_of_an_unloading_lender_return_errors_to_its_borrower() {
    let (host, _) = host();
    let (lender, scores) = slim(&host, &[]);
    let module = lender.modules().remove(0);
    let borrower = host.contexts().create_slim("borrower").expect("the name is free");
    borrower.set_resolver(move |_| Ok(Some(FoundModule::Loaded(module.clone()))));
    borrower.load_name("exchange", &VersionReq::STAR).unwrap_or_else(|error| panic!("{error}"));
    let build = borrower.function("Scores", "build", "-> u32").unwrap_or_else(|error| panic!("{error}"));
    let ticket = lender.begin_unload().expect("a Slim");
    support::until("it is blocked", || ticket.poll() == ContextState::Blocked);
    let error = scores.build.call(()).expect_err("its context unloads");
    assert!(matches!(error, ContextError::ContextUnloading { .. }), "{error}");
    assert!(scores.build.hot(|build| build.call(())).is_err());
    assert_eq!(build.call(&[]).expect("the borrower keeps it"), Some(Value::U32(1)));
    for ticket in [borrower.begin_unload().expect("a Slim"), ticket] {
        ticket.wait(Duration::from_secs(30)).unwrap_or_else(|report| panic!("{report}"));
    }
    assert!(build.call(&[]).is_err() && scores.build.call(()).is_err());
}

#[test]
fn entries_race_replacements_and_each_table_answers_from_its_generation_alone() {
    let (host, counted) = host();
    let (slim, _) = slim(&host, &[]);
    let (ends, ended) = (AtomicBool::new(false), AtomicU32::new(0));
    let caller = || {
        while !ends.load(Ordering::SeqCst) {
            let Ok(scores) = slim.table::<Scores<OfContext>>("exchange") else { continue };
            let Ok(own) = scores.build.call(()) else { continue };
            loop {
                let all = || (scores.build.call(()), scores.add_often_hot.call((50,)), scores.count.call(()));
                let hot = scores.build.hot(|build| (0..50).all(|_| build.call(()).expect("it is mapped") == own));
                match (hot, all()) {
                    (Ok(is_own), (Ok(build), Ok(sum), Ok(kind))) => {
                        assert!(is_own && (build, sum, kind) == (own, 50, 0), "{is_own} {build} {sum} {kind}");
                    }
                    _ if scores.build.call(()).is_err() => break,
                    (hot, all) => panic!("{hot:?} {all:?}: an entry answers after its generation"),
                }
            }
            ended.fetch_add(1, Ordering::SeqCst);
        }
    };
    std::thread::scope(|scope| {
        let callers = [(); 3].map(|()| scope.spawn(caller));
        for round in 0..40 {
            let library = library(if round % 2 == 0 { &["next"][..] } else { &[] });
            let old = slim.replace(library).unwrap_or_else(|error| panic!("{error}"));
            old.wait(Duration::from_secs(30)).unwrap_or_else(|report| panic!("{report}"));
            let before = counted.load(Ordering::SeqCst);
            support::until("the new generation is called", || counted.load(Ordering::SeqCst) > before);
        }
        ends.store(true, Ordering::SeqCst);
        let ticket = slim.begin_unload().expect("a Slim");
        callers.into_iter().for_each(|caller| caller.join().expect("no panic"));
        ticket.wait(Duration::from_secs(30)).unwrap_or_else(|report| panic!("{report}"));
    });
    assert!(ended.load(Ordering::SeqCst) > 3, "callers called until their generation ended");
}

#[test]
fn a_panic_in_an_entry_has_its_location_on_every_thread() {
    let record = support::record("alcedo::panic");
    let (host, _) = host();
    let (_slim, scores) = slim(&host, &[]);
    let names = ["3 is not zero", "plain.rs"];
    let fail = scores.fail.clone();
    let elsewhere = std::thread::spawn(move || {
        [refused(fail.call((3,))), refused(fail.hot(|fail| fail.call((3,))).expect("open"))]
    });
    elsewhere.join().expect("no panic").iter().for_each(|error| assert_names(error, &names));
    let fail = scores.fail.clone();
    let mut coroutine: Coroutine<(), (), String> = Coroutine::new(move |_, ()| refused(fail.call((3,))));
    match coroutine.resume(()) {
        CoroutineResult::Return(error) => assert_names(&error, &names),
        CoroutineResult::Yield(()) => panic!("it does not yield"),
    }
    assert_eq!(record.take(), "", "what a caller receives is not logged");
    assert!(scores.fail_apart.call((4,)).expect("it panics apart"));
    assert_eq!(record.take(), "4 is not zero\n", "no caller receives the panic of another thread");
}

#[test]
fn panics_of_entries_are_errors_on_both_sides() {
    let (host, _) = host();
    let scores = master(&host, &[]);
    assert!(scores.fail.call((0,)).expect("no panic"));
    assert_names(&refused(scores.fail.call((3,))), &["3 is not zero", "plain.rs"]);
    assert_eq!(scores.host_fails.call((0,)).expect("no panic"), 0);
    assert_eq!(scores.host_fails.call((3,)).expect("the module keeps working"), EXTERNAL);
    assert_eq!(scores.add.call((1, 2)).expect("both keep working"), 3);

    let (_slim, scores) = slim(&host, &[]);
    assert_names(&refused(scores.fail.call((3,))), &["3 is not zero", "plain.rs"]);
    assert_eq!(scores.host_fails.call((3,)).expect("the module keeps working"), EXTERNAL);
    assert_eq!(scores.add.call((1, 2)).expect("both keep working"), 3);
}

#[test]
fn code_in_main_may_call_only_pure_tables() {
    let (host, counted) = host();
    let scores = master(&host, &[]);
    assert_eq!(scores.counted_in_main.call(()).expect("it is there"), DURING_REBUILD);
    assert_eq!(counted.load(Ordering::Relaxed), 0);

    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let counted = Arc::new(AtomicU32::new(0));
    host.tables().offer_pure(engine(Arc::clone(&counted))).expect("it is new");
    let scores = master(&host, &[]);
    assert_eq!(scores.counted_in_main.call(()).expect("it is there"), 0);
    assert_eq!(counted.load(Ordering::Relaxed), 1);
}

#[test]
fn an_entry_of_an_ended_host_is_an_error_in_surviving_modules() {
    let (host, counted) = host();
    let default = host.contexts().default_context();
    default.load_path(library(&[])).unwrap_or_else(|error| panic!("{error}"));
    let scores: Scores<OfContext> = default.table("exchange").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scores.count.call(()).expect("it counts"), 0);
    drop(host);
    assert_eq!(scores.build.call(()).expect("the Default stays"), 1);
    assert_eq!(scores.count.call(()).expect("it returns"), UNAVAILABLE);
    assert_eq!(counted.load(Ordering::Relaxed), 1 + 1, "the main counted once");
    assert_eq!(scores.add.call((1, 2)).expect("it returns"), 0, "an entry without captures ends with its host, too");
    assert_eq!(scores.add_often_hot.call((5,)).expect("it returns"), -1);
}

#[test]
fn a_host_ends_while_threads_call_its_entries() {
    let (host, counted) = host();
    let default = host.contexts().default_context();
    default.load_path(library(&[])).unwrap_or_else(|error| panic!("{error}"));
    let scores: Scores<OfContext> = default.table("exchange").unwrap_or_else(|error| panic!("{error}"));
    let caller = || {
        loop {
            match scores.count.call(()).expect("the Default stays") {
                0 => assert!([-1, 10].contains(&scores.add_often_hot.call((10,)).expect("it returns"))),
                kind => break kind,
            }
        }
    };
    std::thread::scope(|scope| {
        let callers = [(); 3].map(|()| scope.spawn(caller));
        support::until("they call", || counted.load(Ordering::Relaxed) > 1000);
        drop(host);
        callers.into_iter().for_each(|caller| assert_eq!(caller.join().expect("no panic"), UNAVAILABLE));
    });
    assert_eq!(Arc::strong_count(&counted), 1, "what an entry captured is dropped with the host");
}

#[test]
fn a_coroutine_calls_slims_and_is_refused_by_the_master() {
    let (host, _) = host();
    let of_master = master(&host, &[]);
    let (_slim, of_slim) = slim(&host, &[]);
    let mut coroutine: Coroutine<(), (), [bool; 3]> = Coroutine::new(move |_, ()| {
        let error = of_master.build.call(()).expect_err("it is refused");
        let is_of_stack = matches!(error, Error::Call(CallError::WrongStack { .. }));
        [is_of_stack, of_master.build.hot(|build| build.call(())).is_err(), of_slim.build.call(()).is_ok()]
    });
    assert!(matches!(coroutine.resume(()), CoroutineResult::Return([true, true, true])));
}
