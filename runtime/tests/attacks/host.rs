//! Tests attacks by safe host code, and by a log subscriber that calls the host. While a log line is written, no store may be borrowed and
//! no raw memory may be accessible.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::host::Listener;
use alcedo_runtime::{AnyConjugate, Budget, CallError, Error, LeaseKind, ObjectHandle, Runtime, Value};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use super::verbs::{Tools, Touch, VERBS};
use super::{assert_works, attacker, host, query, spawn, support};

/// Callback of the log subscriber. The argument is the target of the log line.
type OnEvent = Rc<dyn Fn(&str)>;

/// Slot that receives the host after its construction. The log subscriber reads the host from this slot.
type HostSlot = Rc<RefCell<Option<(Runtime, Rc<Tools>)>>>;

thread_local! {
    /// Action for each line that is logged on this thread.
    static ON_EVENT: RefCell<Option<OnEvent>> = const { RefCell::new(None) };
}

struct Logger;

impl<S: Subscriber> Layer<S> for Logger {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let callback = ON_EVENT.with(|callback| callback.borrow().clone());
        if let Some(callback) = callback {
            callback(event.metadata().target());
        }
    }
}

/// Runs `scene`, and calls `callback` for each log line.
fn logged<T>(callback: impl Fn(&str) + 'static, scene: impl FnOnce() -> T) -> T {
    ON_EVENT.with(|slot| *slot.borrow_mut() = Some(Rc::new(callback)));
    let subscriber = tracing_subscriber::registry().with(Logger);
    let outcome = tracing::subscriber::with_default(subscriber, scene);
    ON_EVENT.with(|slot| *slot.borrow_mut() = None);
    outcome
}

fn stage() -> (Runtime, Rc<Tools>, tempfile::TempDir) {
    let library = attacker(&[]);
    let host = support::host(std::slice::from_ref(&library));
    let holder = spawn(&host, "Holder");
    let black = host.conjugates().make("Array(u64)", &Value::Array(vec![Value::U64(1)])).expect("an owned value");
    let folder = tempfile::tempdir().expect("a folder");
    let world = folder.path().join("saved.world");
    host.worlds().save(&world).expect("saved");
    (host, Rc::new(Tools { holder, black, library, world }), folder)
}

/// Calls every method of [`VERBS`] while a slice is borrowed. Returns the name, the kind and the result of each call.
fn while_borrowed(function: &str, expected: &str) -> Vec<(&'static str, Touch, Result<(), String>)> {
    let results: Rc<RefCell<Vec<_>>> = Rc::default();
    let host_slot: HostSlot = Rc::default();
    let (into, from) = (Rc::clone(&results), Rc::clone(&host_slot));
    let attack = move |target: &str| {
        let Some((host, tools)) = from.borrow().clone().filter(|_| target == "attack") else { return };
        into.borrow_mut().extend(VERBS.iter().map(|(name, touch, verb)| (*name, *touch, verb(&host, &tools))));
    };
    let (host, answer) = logged(attack, || {
        let (host, tools, _folder) = stage();
        *host_slot.borrow_mut() = Some((host.clone(), Rc::clone(&tools)));
        let answer = query(&host, tools.holder, function);
        *host_slot.borrow_mut() = None;
        assert!(host.objects().is_alive(tools.holder), "it was not destroyed while its slice was lent");
        (host, answer)
    });
    assert_eq!(answer, expected);
    // Discards the stored results of earlier reload requests and unload requests.
    drop((host.take_reloads(), host.take_unloads()));
    let results = std::mem::take(&mut *results.borrow_mut());
    assert_eq!(results.len(), VERBS.len(), "the logger was called once, with the slice out");
    results
}

#[test]
fn a_logger_may_not_write_while_a_slice_is_borrowed() {
    for (name, touch, outcome) in while_borrowed("lend", "(64, 11, 11) (64, 11, 11)") {
        match touch {
            Touch::Changes => {
                let error = outcome.expect_err(name);
                assert!(error.contains("is refused while attacker holds a slice of host memory"), "{name}: {error}");
            }
            Touch::Reads => outcome.unwrap_or_else(|error| panic!("{name}: {error}")),
            Touch::Nothing => {}
        }
    }
}

#[test]
fn a_logger_may_not_read_while_a_mutable_slice_is_borrowed() {
    for (name, touch, outcome) in while_borrowed("borrow_to_write", "(64, Some(12), Some(13))") {
        if touch != Touch::Nothing {
            let error = outcome.expect_err(name);
            assert!(error.contains("is refused while attacker holds a slice of host memory"), "{name}: {error}");
        }
    }
}

#[test]
fn a_listener_dropped_during_a_slice_ends_at_the_next_safe_point() {
    let kept = Rc::new(Cell::new(None::<Listener>));
    let dropped = Rc::clone(&kept);
    let drop_it = move |target: &str| {
        if target == "attack" {
            drop(dropped.take());
        }
    };
    logged(drop_it, || {
        let (host, tools, _folder) = stage();
        let count = host.objects().iter().len();
        kept.set(Some(Listener::of(&host, |_, (times,): (u32,)| Ok(times <= 4)).expect("a closure")));
        query(&host, tools.holder, "lend");
        assert!(kept.take().is_none(), "the logger has dropped it");
        host.safe_point();
        assert_eq!(host.objects().iter().len(), count);
    });
}

#[test]
fn a_panic_returns_the_borrowed_slice_to_the_host() {
    let (host, tools, _folder) = stage();
    let refused = host.objects().call(tools.holder, "panic_while_lending", &[]).expect_err("it panics");
    assert!(matches!(refused, Error::Call(CallError::Panicked { .. })), "{refused}");
    host.objects().set(tools.holder, "numbers", &Value::Array(vec![Value::U64(5)])).expect("nothing is lent");
    assert_works(&host);
}

#[test]
fn a_logger_may_write_while_no_slice_is_borrowed() {
    let host_slot: HostSlot = Rc::default();
    let (from, done) = (Rc::clone(&host_slot), Rc::new(Cell::new(0)));
    let count = Rc::clone(&done);
    let write = move |target: &str| {
        let Some((host, tools)) = from.borrow().clone().filter(|_| target == "attack") else { return };
        host.objects().set(tools.holder, "numbers", &Value::Array(vec![Value::U64(9)])).expect("it may be written");
        count.set(count.get() + 1);
    };
    logged(write, || {
        let (host, tools, _folder) = stage();
        *host_slot.borrow_mut() = Some((host.clone(), Rc::clone(&tools)));
        host.objects().call(tools.holder, "log", &[]).expect("the call succeeds");
        *host_slot.borrow_mut() = None;
        assert_eq!(host.objects().get(tools.holder, "numbers").expect("there"), Value::Array(vec![Value::U64(9)]));
    });
    assert_eq!(done.get(), 1);
}

#[test]
fn a_host_releases_only_its_own_values() {
    let (host, tools, _folder) = stage();
    let number = match host.objects().call(tools.holder, "keep", &[]).expect("kept") {
        Some(Value::U64(number)) => number,
        other => panic!("{other:?}"),
    };
    host.conjugates().give_back(AnyConjugate::from_number(number));
    assert!(!host.conjugates().is_expired(AnyConjugate::from_number(number)), "plugin code still uses it");
    assert_eq!(host.objects().call(tools.holder, "sum", &[]).expect("it is there"), Some(Value::U64(7 * 64)));
    host.conjugates().give_back(tools.black);
    assert!(host.conjugates().is_expired(tools.black));
    assert_works(&host);
}

#[test]
fn a_redirect_that_would_close_a_cycle_is_refused() {
    let (host, _tools, _folder) = stage();
    host.types().redirect("/Script/Game.Left", "/Script/Game.Middle").expect("a valid redirect");
    host.types().redirect("/Script/Game.Middle", "/Script/Game.Right").expect("a valid redirect");
    for (old, new) in [
        ("/Script/Game.Right", "/Script/Game.Left"),
        ("/Script/Game.Middle", "/Script/Game.Left"),
        ("/Script/Game.Left", "/Script/Game.Left"),
    ] {
        let refused = host.types().redirect(old, new).expect_err("a cycle").to_string();
        assert!(refused.contains("is redirected to"), "{refused}");
    }
    assert!(host.objects().spawn("/Script/Game.Left").is_err(), "the class does not exist, as the error reports");
    assert_works(&host);
}

/// Runs the steps of a host's life cycle. Each step writes log lines.
fn life(host: &Runtime, tools: &Tools) {
    let library = std::slice::from_ref(&tools.library);
    let reload = |libraries: &[std::path::PathBuf]| drop(host.reload(libraries));
    // The log subscriber destroys `tools.holder` when it receives the first line of this call.
    let _answer = host.objects().call(tools.holder, "log", &[]);
    let holder = spawn(host, "Holder");
    host.objects().call(holder, "keep", &[]).expect("kept");
    host.objects().call(holder, "forget", &[]).expect("forgotten");
    reload(library);
    for step in [ReloadStep::Main, ReloadStep::RebuildObject, ReloadStep::BeforeCommit] {
        for kind in [FaultKind::Error, FaultKind::Panic] {
            let _armed = faults::arm(Fault { step, nth: 0, kind });
            reload(library);
        }
    }
    reload(&[std::path::PathBuf::from("/nowhere/libnothing.so")]);
    let _watch = host.watch();
    for _frame in 0..3 {
        host.tick(Budget::frame());
    }
    let _saved = host.worlds().save(&tools.world);
    let _loaded = host.worlds().load(&tools.world);
    host.collection().begin_in_slices();
    for _frame in 0..3 {
        host.tick(Budget::frame());
    }
    let _collected = host.collection().collect();
    let _unloaded = host.unload_master();
    let _created = host.create_master(library);
    let _reload = host.reload(library);
    let _unloaded = host.unload_master();
    let _waited = host.unloads().wait(std::time::Duration::from_secs(10));
}

/// A log subscriber is foreign code that may hold the host. While a line of any level is logged, no store is borrowed, and each method of
/// [`VERBS`] returns.
#[test]
fn every_log_line_leaves_stores_unborrowed_and_every_verb_returns() {
    let host_slot: HostSlot = Rc::default();
    let problems: Rc<RefCell<Vec<String>>> = Rc::default();
    let lines: Rc<RefCell<BTreeSet<String>>> = Rc::default();
    let (from, into, targets) = (Rc::clone(&host_slot), Rc::clone(&problems), Rc::clone(&lines));
    let attack = move |target: &str| {
        let open = alcedo_runtime::bench::open_borrows();
        if open != 0 {
            into.borrow_mut().push(format!("{open} stores are borrowed in a line of {target}"));
        }
        let Some((host, tools)) = from.borrow().clone() else { return };
        targets.borrow_mut().insert(target.to_owned());
        for (name, _, verb) in VERBS.iter().filter(|(name, ..)| *name != "shutdown" && *name != "request_unload") {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| verb(&host, &tools))) {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                into.borrow_mut().push(format!("{name} panicked in a line of {target}: {text:?}"));
            }
        }
    };
    logged(attack, || {
        let (host, tools, _folder) = stage();
        *host_slot.borrow_mut() = Some((host.clone(), Rc::clone(&tools)));
        life(&host, &tools);
        *host_slot.borrow_mut() = None;
        drop(host.shutdown());
    });
    let lines = lines.take();
    let has_line = |part: &str| lines.iter().any(|target| target.ends_with(part));
    assert!(
        has_line("attack") && has_line("conjugate::owned_values") && has_line("master::in_progress"),
        "the scene has lines: {lines:?}"
    );
    let mut problems = problems.take();
    problems.sort();
    problems.dedup();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// A log subscriber may reload at any line. A job ends before its failure is logged, because a reload would wait for a running job.
#[test]
fn a_failed_job_is_logged_after_its_end_and_blocks_no_reload() {
    for in_turn in [true, false] {
        for end in ["reload", "unload", "shutdown"] {
            let host_slot: HostSlot = Rc::default();
            let answers: Rc<RefCell<Vec<String>>> = Rc::default();
            let (from, into) = (Rc::clone(&host_slot), Rc::clone(&answers));
            let attack = move |target: &str| {
                let Some((host, tools)) = from.borrow_mut().take_if(|_| target.ends_with("bridge::tasks")) else {
                    return;
                };
                let ended = match end {
                    "reload" => host.reload(&[&tools.library]).map(|report| report.is_committed().to_string()),
                    "unload" => host.unload_master().map(|unload| format!("{:?}", unload.parked)),
                    _ => Ok(format!("{:?}", host.clone().shutdown().left)),
                };
                let ended = ended.unwrap_or_else(|error| error.to_string());
                let left = host.unloads().generations();
                into.borrow_mut().push(format!("{ended} {left:?}"));
            };
            logged(attack, || {
                let (host, tools, _folder) = stage();
                let hoarder = spawn(&host, "Hoarder");
                host.objects().call(hoarder, "leave_failures", &[Value::Bool(in_turn)]).expect("they are begun");
                *host_slot.borrow_mut() = Some((host.clone(), tools));
                if !in_turn {
                    host.objects().destroy(hoarder);
                }
                host.tick(Budget::frame());
                assert!(host_slot.borrow().is_none(), "they have failed");
            });
            let expected = match end {
                "reload" => "true [(2, Alive)]",
                _ => "[] []",
            };
            assert_eq!(*answers.borrow(), [expected], "{end}, in turn: {in_turn}");
        }
    }
}

/// Runs a tick in a log subscriber, which receives the line of a failed job. A task that starts after this tick waits for the next tick, as
/// does the task that this task starts. Otherwise tasks that start each other would run in one tick endlessly.
#[test]
fn a_task_that_starts_after_a_nested_tick_waits_for_the_next_tick() {
    let robot_slot: Rc<Cell<Option<ObjectHandle>>> = Rc::default();
    let host_slot: Rc<RefCell<Option<Runtime>>> = Rc::default();
    let (from, robot_from) = (Rc::clone(&host_slot), Rc::clone(&robot_slot));
    let attack = move |target: &str| {
        let Some(host) = from.borrow_mut().take_if(|_| target.ends_with("bridge::tasks")) else { return };
        host.tick(Budget::frame());
        let robot = robot_from.get().expect("it was spawned");
        host.objects().call(robot, "line_up", &[]).expect("no call is active");
    };
    logged(attack, || {
        let host = support::host(&[support::plugin("chores", &[])]);
        let robot = spawn(&host, "Robot");
        robot_slot.set(Some(robot));
        host.objects().call(robot, "stumble", &[]).expect("the call succeeds");
        *host_slot.borrow_mut() = Some(host.clone());
        host.tick(Budget::frame());
        assert!(host_slot.borrow().is_none(), "a job has failed");
        assert!(host.jobs().iter().any(|job| job.kind == LeaseKind::Task), "the task waits for the next tick");
        host.tick(Budget::frame());
        assert!(host.jobs().iter().any(|job| job.kind == LeaseKind::Task), "the second task also waits");
        host.tick(Budget::frame());
        assert!(host.jobs().iter().all(|job| job.kind != LeaseKind::Task));
    });
}

#[test]
fn a_shutdown_during_another_operation_is_refused() {
    let host = host();
    let left: Rc<RefCell<Vec<String>>> = Rc::default();
    let into = Rc::clone(&left);
    host.unloads().on_unloading(0, move |host, _generation| into.borrow_mut().extend(host.clone().shutdown().left));
    let report = host.reload(&[attacker(&[])]).expect("a Master");
    assert!(report.is_committed(), "{report}");
    assert!(left.take().concat().starts_with("shutting down is for a safe point, and `a reload` has not returned"));
    assert_works(&host);
}

#[test]
fn an_unlimited_wait_does_not_overflow() {
    let host = host();
    host.reload(&[attacker(&[])]).expect("a Master").into_result().expect("a reload");
    assert!(host.unloads().wait(std::time::Duration::MAX).expect("a safe point"));
    assert_works(&host);
}

#[test]
fn a_panicking_ticker_stops_no_other_ticker() {
    let ticked = Rc::new(Cell::new(0));
    let count = |by: u32| {
        let ticked = Rc::clone(&ticked);
        move |_: &Runtime, _: f32| ticked.set(ticked.get() + by)
    };
    let is_first = Cell::new(true);
    let panics = move |_: &Runtime, _: f32| assert!(!is_first.replace(false), "once");
    let host = Runtime::builder().ticker(count(1)).ticker(panics).ticker(count(100)).build().expect("a host");
    assert!(catch_unwind(AssertUnwindSafe(|| host.tick(Budget::frame()))).is_err(), "it is the host's own affair");
    host.tick(Budget::frame());
    assert_eq!(ticked.get(), 102, "one before the panic, both in the next tick");
}

#[test]
fn a_redirect_during_a_reload_is_refused() {
    let (host, refusals) = (host(), Rc::new(RefCell::new(Vec::new())));
    let into = Rc::clone(&refusals);
    host.unloads().on_unloading(0, move |host, _generation| {
        into.borrow_mut().extend(
            host.types().redirect("/Script/Game.Old", "/Script/Game.New").map_err(|error| error.to_string()).err(),
        );
    });
    let before = host.worlds().digest();
    let _armed = faults::arm(Fault { step: ReloadStep::BeforeCommit, nth: 0, kind: FaultKind::Error });
    assert!(!host.reload(&[attacker(&[])]).expect("a Master").is_committed());
    assert!(refusals.take().concat().starts_with("redirecting a name is for a safe point"));
    assert_eq!(before.differences(&host.worlds().digest()), Vec::<String>::new());
}
