//! Tests that a host keeps only a bounded amount of memory for ended objects, modules and calls. After many reloads, rollbacks, Slims and
//! object lifetimes, the host must have as many memory blocks as after a few. The allocator of this process counts live blocks and bytes.
//! The counts use no times and no page counts, so they are equal on every machine. Each test has its own process: see `support/apart.rs`.

#[path = "../support/apart.rs"]
mod apart;
mod counting;

#[path = "../support/mod.rs"]
mod support;

const PREPARE: fn() -> apart::Variables = Vec::new;

const FILES_PER_PROCESSOR: usize = 1;

const WAITING: &[&str] = &[];

const FIRST: &[&str] = &[];

use std::path::PathBuf;
use std::time::Duration;

use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::{Budget, ContextState, LoadContext, ObjectHandle, Runtime, UnloadTicket, Value};

use counting::{Counting, Living};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const CUBE: &str = "/Script/Game.MagicCube";

/// Timeout for a busy machine. A successful test ends much earlier.
const LONG: Duration = Duration::from_secs(60);

/// Permitted difference in bytes between the minima of two parts, for any number of rounds. The difference is usually zero. A queue between
/// threads, or a thread that has just ended, may cause a difference. A leak of eight bytes per round exceeds the limit.
const SLACK: i64 = 512;

/// Number of rounds in a part whose rounds take some milliseconds each.
const ROUNDS: u64 = 70;

/// Runs `round` in three parts of `rounds` rounds each. The first part is a warm-up. Compares the minimum of the live bytes after a round:
/// the minimum of the third part may exceed that of the second part by at most `SLACK`. The check uses minima, because the host trims its
/// tables only at intervals.
fn check(rounds: u64, mut round: impl FnMut(u64)) {
    let mut part = |part: u64| {
        let after = |number| {
            round(number);
            Living::now()
        };
        (part * rounds..(part + 1) * rounds).map(after).min_by_key(|living| living.bytes).expect("some rounds")
    };
    let (_warm, second, third) = (part(0), part(1), part(2));
    let grown = third - second;
    assert!(
        grown.bytes <= SLACK,
        "{} blocks and {} bytes more live after {rounds} rounds more",
        grown.blocks,
        grown.bytes
    );
}

fn cube(tag: u64) -> PathBuf {
    support::tagged("magic-cube", &[], tag)
}

/// Returns a host that registers its own functions, then loads a module, and then calls some functions by name.
fn host(libraries: &[PathBuf]) -> Runtime {
    let host = support::hasty_builder().build().unwrap_or_else(|error| panic!("{error}"));
    let signature = || "u64 -> u64".parse().expect("a signature");
    host.calls()
        .register("host.same", signature(), |_: &Runtime, values: &[Value]| Ok(Some(values[0].clone())))
        .expect("free");
    host.calls().resolve("ex:/host.same").expect("it is registered");
    host.create_master(libraries).unwrap_or_else(|error| panic!("{error}"));
    host
}

/// Waits until all old generations have ended, and until their plugin parts are dropped.
fn wait_for_unloads(host: &Runtime) {
    assert!(host.unloads().wait(LONG).expect("a safe point"), "{:?}", host.unloads().tickets());
    host.drain_finalizers(LONG).expect("a safe point");
    assert_eq!(host.unloads().parked(), Vec::<String>::new());
}

fn gone(ticket: &UnloadTicket) {
    ticket.wait(LONG).unwrap_or_else(|report| panic!("{report}"));
}

/// Calls the cube by several protocols, so that handles are created in each generation.
fn greet(host: &Runtime, cube: ObjectHandle) {
    host.objects().call(cube, "say_hello", &[]).expect("the call succeeds");
    for name in ["uf:/Script/Game.MagicCube:say_hello", "up:/Script/Game.MagicCube:rotation_speed"] {
        host.calls().resolve(name).unwrap_or_else(|error| panic!("{error}"));
    }
    host.calls().call("ex:/host.same", &[Value::U64(1)]).expect("it is registered");
}

#[test]
fn a_reload_leaves_nothing() {
    let host = host(&[cube(1)]);
    let cubes: Vec<_> = (0..4).map(|_| host.objects().spawn(CUBE).expect("spawned")).collect();
    // Uses more rounds, because tables indexed by class grow by one entry per reload and some of these tables start small.
    check(2 * ROUNDS, |round| {
        cubes.iter().for_each(|cube| greet(&host, *cube));
        // Each object's name contains its class name, and the class name differs in each generation.
        host.objects().destroy(host.objects().spawn(CUBE).expect("spawned"));
        host.tick(Budget::seconds(0.1));
        let report = host.reload(&[cube(1 + round % 2)]).expect("a Master");
        assert!(report.is_committed(), "{report}");
        host.collection().collect().expect("a safe point");
        wait_for_unloads(&host);
    });
}

#[test]
fn a_reload_failing_at_any_step_leaves_nothing() {
    let host = host(&[cube(1)]);
    let cubes: Vec<_> = (0..4).map(|_| host.objects().spawn(CUBE).expect("spawned")).collect();
    check(3 * ReloadStep::ALL.len() as u64, |round| {
        cubes.iter().for_each(|cube| greet(&host, *cube));
        let step = ReloadStep::ALL[round as usize % ReloadStep::ALL.len()];
        let armed = faults::arm(Fault { step, nth: 0, kind: FaultKind::Error });
        let report = host.reload(&[cube(2)]).expect("a Master");
        // Some steps run only if classes change. The fault of such a step does not fire if the step does not run.
        assert_eq!(report.is_committed(), !armed.has_fired(), "{step}: {report}");
        drop(armed);
        wait_for_unloads(&host);
    });
}

#[test]
fn a_module_refused_while_mapping_leaves_no_gap_in_ids() {
    let host = host(&[cube(1)]);
    check(2 * ROUNDS, |round| {
        let armed = faults::arm(Fault { step: ReloadStep::LayoutCheck, nth: 0, kind: FaultKind::Error });
        assert!(!host.reload(&[cube(2)]).expect("a Master").is_committed());
        drop(armed);
        assert!(host.reload(&[cube(1 + round % 2)]).expect("a Master").is_committed());
        wait_for_unloads(&host);
    });
}

#[test]
fn a_library_that_is_refused_leaves_nothing() {
    let host = host(&[cube(1)]);
    let (folder, broken) = (support::test_dir(), support::plugin("broken", &["panic-in-main"]));
    check(ROUNDS, |round| {
        let library = if round % 2 == 0 { broken.clone() } else { folder.join("missing file") };
        let report = host.reload(&[cube(1), library]).expect("a Master");
        assert!(!report.is_committed());
        wait_for_unloads(&host);
    });
}

#[test]
fn kept_modules_cost_nothing_per_reload_of_another() {
    let libraries = |plus| {
        let attributes = support::tagged("glue-base", &[], 1);
        vec![support::tagged("glue-derived", &[], plus), attributes, cube(1)]
    };
    let host = host(&libraries(1));
    let objects = [CUBE, "/Script/Game.ShieldedSet", "/Script/Game.RegeneratingSet"];
    let objects = objects.map(|class| host.objects().spawn(class).expect("spawned"));
    check(ROUNDS, |round| {
        greet(&host, objects[0]);
        let report = host.reload_changed(&libraries(1 + (round + 1) % 2)).expect("a Master");
        assert!(report.is_committed() && report.kept_modules.len() == 2, "{report}");
        host.calls().call("nm:/glue_derived:ShieldedSet:build_tag", &[]).expect("it is offered");
        wait_for_unloads(&host);
    });
}

#[test]
fn slims_created_and_unloaded_between_reloads_leave_nothing() {
    let host = host(&[cube(1)]);
    let contexts = host.contexts();
    let reports = [1, 2].map(|tag| support::tagged("reports", &[], tag));
    // Keeps one context alive until the test ends, so that its number stays in use.
    let first = contexts.create_slim("stays").expect("a free name");
    first.load_path(&reports[0]).expect("it starts");
    check(ROUNDS, |round| {
        let slim = contexts.create_slim(&format!("round {round}")).expect("a free name");
        slim.load_path(&reports[0]).expect("it starts");
        let function = slim.function("Report", "build_tag", "-> u64").expect("it is offered");
        assert_eq!(function.call(&[]).expect("it answers"), Some(Value::U64(1)));
        let old = slim.replace(&reports[1]).expect("it starts");
        assert_eq!(function.call(&[]).expect("it answers"), Some(Value::U64(2)));
        assert!(slim.load_path(support::test_dir().join("missing file")).is_err());
        gone(&old);
        drop(function);
        gone(&slim.begin_unload().expect("it is collectible"));
        let report = host.reload(&[cube(1 + round % 2)]).expect("a Master");
        assert!(report.is_committed(), "{report}");
        wait_for_unloads(&host);
    });
}

#[test]
fn plugins_that_take_turns_leave_nothing() {
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let attributes = support::tagged("glue-base", &[], 1);
    check(ROUNDS, |round| {
        let (library, class) =
            if round % 2 == 0 { (cube(1), CUBE) } else { (attributes.clone(), "/Script/Game.RegeneratingSet") };
        host.create_master(&[library]).unwrap_or_else(|error| panic!("{error}"));
        host.objects().spawn(class).expect("spawned");
        host.tick(Budget::frame());
        // Requests more unloads than the number of results that the host stores. The test takes no result until the end.
        host.request_unload();
        host.safe_point();
        wait_for_unloads(&host);
    });
    let unloads = host.take_unloads();
    assert_eq!(unloads.len(), 64, "the last ones");
}

#[test]
fn collection_results_not_taken_are_kept_up_to_a_limit() {
    let host = host(&[cube(1)]);
    // Runs more collections than the number of results that the host stores.
    check(260, |_| {
        host.collection().begin_in_slices();
        host.tick(Budget::seconds(0.1).with_collection(LONG));
        while host.collection().is_in_progress() {
            host.tick(Budget::seconds(0.1).with_collection(LONG));
        }
    });
    assert_eq!(host.collection().take_done().len(), 256, "the last ones");
    assert!(host.collection().take_done().is_empty());
}

/// The finalizer of a kept module may fail after the old generation has ended. No caller takes the report of this failure.
#[test]
fn a_finalizer_that_fails_when_its_generation_is_gone_leaves_nothing() {
    let broken = support::plugin("broken", &[]);
    let libraries = |tag| [broken.clone(), cube(tag)];
    let host = host(&libraries(1));
    // Uses more rounds, because failures pass through a queue that reuses its memory blocks only after it has allocated all of them.
    check(2 * ROUNDS, |_| {
        let fragile = host.objects().spawn("/Script/Game.Fragile").expect("spawned");
        let report = host.reload_changed(&libraries(2)).expect("a Master");
        assert!(report.is_committed() && report.kept_modules.len() == 1, "{report}");
        wait_for_unloads(&host);
        host.calls()
            .call("nm:/broken:Fragile:panic_next_in", &[Value::Text("finalizer".to_owned())])
            .expect("the call succeeds");
        host.objects().destroy(fragile);
        host.drain_finalizers(LONG).expect("a safe point");
        assert!(host.reload(&libraries(1)).expect("a Master").is_committed());
        wait_for_unloads(&host);
    });
}

#[test]
fn reload_reports_not_taken_are_kept_up_to_a_limit() {
    let host = host(&[cube(1)]);
    // Runs more reloads than the number of reports that the host stores.
    check(ROUNDS, |_| {
        host.request_reload(vec![cube(1)]);
        host.safe_point();
        wait_for_unloads(&host);
    });
    let reports = host.take_reloads();
    assert_eq!((reports.len(), reports[63].generation), (64, host.generation()), "the last ones");
    assert!(reports.windows(2).all(|two| two[0].generation + 1 == two[1].generation));
    assert!(host.take_reloads().is_empty());
}

#[test]
fn constructions_and_destructions_leave_nothing() {
    let host = host(&[cube(1)]);
    let actor = host.objects().spawn("/Script/Engine.Actor").expect("a native actor");
    check(2000, |round| {
        let handles: Vec<_> = (0..16).map(|_| host.objects().spawn(CUBE).expect("spawned")).collect();
        host.objects().set(handles[0], "rotation_speed", &Value::F64(round as f64)).expect("a number");
        let path = host.objects().path_of(handles[1]).expect("alive");
        assert_eq!(host.objects().at_path(&path), Some(handles[1]));
        host.objects().rename(handles[3], if round % 2 == 0 { "one" } else { "other_7" }, actor).expect("a free name");
        let black = host.conjugates().make("Array(f64)", &Value::Array(vec![Value::F64(1.0)])).expect("an owned value");
        host.conjugates().give_back(black);
        handles.iter().for_each(|handle| host.objects().destroy(*handle));
        if round % 100 == 99 {
            host.tick(Budget::frame());
            host.collection().collect().expect("a safe point");
            host.collection().take_done();
            host.drain_finalizers(LONG).expect("a safe point");
        }
    });
    assert_eq!(
        host.objects().iter().filter(|object| host.objects().class_of(*object).as_deref() == Some(CUBE)).count(),
        0
    );
}

/// The host soon deletes its records of ended modules. Tickets and handles of these modules must still return results.
#[test]
fn tickets_and_handles_of_forgotten_modules_still_answer() {
    let host = host(&[cube(1)]);
    let contexts = host.contexts();
    let object = host.objects().spawn(CUBE).expect("spawned");
    let handle = host.calls().resolve("nm:/magic_cube:MagicCube:build_tag").expect("it is offered");
    let lease = host.unloads().lease("magic_cube", "the test").expect("alive");
    let first = host.generation();
    assert!(host.reload(&[cube(2)]).expect("a Master").is_committed());
    let tickets = host.unloads().tickets();
    let [ticket] = &tickets[..] else { panic!("{tickets:?}") };
    let (id, _) = (contexts.all().into_iter().map(|info| (info.id, info.state)))
        .find(|(id, _)| id.generation == first && id.index == 1)
        .expect("it is unloading");
    assert!(contexts.unload_of(id).is_some() && contexts.report(id).is_some());
    drop(lease);
    wait_for_unloads(&host);
    for round in 0..100 {
        assert!(host.reload(&[cube(1 + round % 2)]).expect("a Master").is_committed());
    }
    wait_for_unloads(&host);
    assert_eq!(ticket.wait(Duration::ZERO).expect("it is gone").modules.len(), 1);
    assert_eq!((ticket.poll(), ticket.report().blockers.len()), (ContextState::Dead, 0));
    assert!(contexts.unload_of(id).is_none() && contexts.report(id).is_none() && host.unloads().tickets().is_empty());
    assert!(host.unloads().park(first).is_err());
    let dead = host.calls().call_handle(handle, &[]).expect_err("its module has ended").to_string();
    assert!(dead.contains("is dead, its module has ended"), "{dead}");
    let never =
        host.calls().call_handle(alcedo_runtime::ZCallHandle(-1_000_000), &[]).expect_err("no such").to_string();
    assert!(never.contains("was never issued"), "{never}");
    let again = host.calls().resolve("nm:/magic_cube:MagicCube:build_tag").expect("it is offered again");
    assert_ne!(again, handle);
    assert_eq!(host.calls().call_handle(again, &[]).expect("it answers"), Some(Value::U64(2)));
    greet(&host, object);
}

#[test]
fn many_concurrent_contexts_leave_nothing_and_weak_handles_expire() {
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let contexts = host.contexts();
    let reports = support::tagged("reports", &[], 1);
    check(3, |_| {
        let slims: Vec<_> = (0..1000)
            .map(|number| contexts.create_slim(&format!("slim {number}")).unwrap_or_else(|error| panic!("{error}")))
            .collect();
        slims.iter().step_by(100).for_each(|slim| {
            slim.load_path(&reports).unwrap_or_else(|error| panic!("{error}"));
        });
        let weak: Vec<_> = slims.iter().map(LoadContext::downgrade).collect();
        assert_eq!(weak[0].upgrade().expect("it is there").name(), "slim 0");
        slims.iter().for_each(|slim| gone(&slim.begin_unload().expect("it is collectible")));
        assert!(slims.iter().all(|slim| slim.state() == ContextState::Dead && slim.unloads().is_empty()));
        drop(slims);
        assert!(weak.iter().all(|weak| weak.upgrade().is_none()));
        assert_eq!(contexts.all().len(), 1, "the Default");
    });
}
