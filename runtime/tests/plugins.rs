//! Tests the life of a real plugin in a real host: load, calls, reloads and unload. The test ends when the plugin's image is unmapped.

use crate::support::{self, tag};

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::{Budget, ContextEventKind, ObjectHandle, Pause, Phase, ReloadReport, Runtime, Value, process};
use tempfile::TempDir;

#[test]
fn objects_survive_a_reload_and_run_the_new_code() {
    let (first, second) = (support::tagged("magic-cube", &[], 1), support::tagged("magic-cube", &[], 2));
    let host = support::host(&[first]);
    assert_eq!(tag(&host), 1);
    let cube = host.objects().spawn("/Script/Game.MagicCube").expect("a cube");
    host.objects().set(cube, "rotation_speed", &Value::F64(1234.5)).expect("a number");
    host.tick(Budget::frame());
    host.objects().call(cube, "say_hello", &[]).expect("the call succeeds");

    let report = host.reload(&[second]).expect("a Master").into_result().expect("a reload");

    assert_eq!(tag(&host), 2);
    assert!(host.objects().is_alive(cube));
    assert_eq!(host.objects().get(cube, "rotation_speed").expect("it has one"), Value::F64(1234.5));
    assert_eq!(host.objects().call(cube, "greeting_count", &[]).expect("it counts"), Some(Value::U32(1)), "kept field");
    assert_eq!((report.objects_kept, report.conjugates_rebuilt, report.class_constructors_rerun), (2, 1, 0));
}

#[test]
fn an_unloaded_plugin_leaves_no_image_and_no_object() {
    let host = support::host(&[support::plugin("magic-cube", &[])]);
    let cube = host.objects().spawn("/Script/Game.MagicCube").expect("a cube");
    let unload = host.unload_master().expect("a Master");
    assert_eq!((unload.objects_ended, unload.parked), (1, vec![]));
    assert!(!host.objects().is_alive(cube));
    assert_eq!(process::stale_mappings(&host.stage_dir()).expect("the process map"), Vec::<PathBuf>::new());
    assert_eq!(host.generation(), 0);
}

#[test]
fn a_reloaded_world_keeps_moving() {
    let library = support::plugin("magic-cube", &[]);
    let host = support::host(std::slice::from_ref(&library));
    let cube = host.objects().spawn("/Script/Game.MagicCube").expect("a cube");
    let mut seen = Vec::new();
    for _ in 0..3 {
        host.tick(Budget::seconds(0.1));
        seen.push(host.objects().get(cube, "rotation").expect("it turns"));
        host.reload(std::slice::from_ref(&library)).expect("a Master").into_result().expect("a reload");
    }
    assert!(seen[0] != seen[1] && seen[1] != seen[2], "{seen:?}");
}

/// Returns a host that has loaded a copy of this build, and the path of the copy. Tests replace the copy, which is in the returned folder.
fn host_of_copy(build: &Path) -> (TempDir, PathBuf, Runtime) {
    let folder = tempfile::tempdir().expect("a folder");
    let watched = folder.path().join("libmagic_cube.so");
    std::fs::copy(build, &watched).expect("the first build");
    let host = support::host(std::slice::from_ref(&watched));
    (folder, watched, host)
}

/// Ticks until a reload is complete, for at most ten seconds.
fn next_reload(host: &Runtime) -> Option<ReloadReport> {
    reload_within(host, Duration::from_secs(10))
}

/// Ticks until a reload is complete, for at most this time.
fn reload_within(host: &Runtime, limit: Duration) -> Option<ReloadReport> {
    let until = Instant::now() + limit;
    while Instant::now() < until {
        host.tick(Budget::frame());
        if let Some(report) = host.take_reloads().pop() {
            return Some(report);
        }
        std::thread::yield_now();
    }
    None
}

#[test]
fn a_watch_reloads_changed_files_and_ignores_partial_ones() {
    let (first, second) = (support::tagged("magic-cube", &[], 1), support::tagged("magic-cube", &[], 2));
    let (_folder, watched, host) = host_of_copy(&first);
    host.watch().expect("a folder to watch");
    let whole = std::fs::read(&second).expect("the second build");

    std::fs::write(&watched, &whole[..whole.len() / 2]).expect("half of it");
    let refused = next_reload(&host).expect("it was noticed");
    assert!(!refused.is_committed(), "{refused}");
    assert_eq!(tag(&host), 1);

    std::fs::write(&watched, &whole).expect("all of it");
    let done = next_reload(&host).expect("it was noticed");
    assert!(done.is_committed(), "{done}");
    assert_eq!(tag(&host), 2);

    // A reload only reads the file. If it wrote the file, the watch would start a second reload within milliseconds.
    assert_eq!((reload_within(&host, Duration::from_millis(300)), host.generation()), (None, 2));
}

#[test]
fn a_watch_reloads_a_file_that_has_changed_since_its_load() {
    let (first, second) = (support::tagged("magic-cube", &[], 1), support::tagged("magic-cube", &[], 2));
    let (_folder, watched, host) = host_of_copy(&first);
    std::fs::copy(&second, &watched).expect("the second build");
    host.watch().expect("a folder to watch");
    let done = next_reload(&host).expect("it was noticed");
    assert!(done.is_committed(), "{done}");
    assert_eq!(tag(&host), 2);

    // A new watch does not load a build again that was rolled back.
    let armed = faults::arm(Fault { step: ReloadStep::BeforeCommit, nth: 0, kind: FaultKind::Error });
    std::fs::copy(&first, &watched).expect("the first build");
    let refused = next_reload(&host).expect("it was noticed");
    assert!(armed.has_fired() && !refused.is_committed(), "{refused}");
    drop(armed);
    host.watch().expect("a folder to watch");
    assert_eq!((reload_within(&host, Duration::from_millis(300)), host.generation()), (None, 2));
}

#[test]
fn a_second_call_of_watch_keeps_a_change_that_is_not_loaded_yet() {
    let builds = [1, 2, 3].map(|tag| support::tagged("magic-cube", &[], tag));
    let (folder, watched, host) = host_of_copy(&builds[0]);
    host.watch().expect("a folder to watch");
    std::fs::copy(&builds[1], &watched).expect("the second build");
    host.watch().expect("a folder to watch");
    assert!(next_reload(&host).expect("it was noticed").is_committed());
    assert_eq!(tag(&host), 2);

    // The watch follows the library to the path from which the host itself has loaded the library.
    let other = folder.path().join("other.so");
    std::fs::copy(&builds[0], &other).expect("the first build");
    let (third, to) = (builds[2].clone(), other.clone());
    let listening = host.contexts().on_event(move |event| {
        if matches!(event.event, ContextEventKind::Loaded(_)) {
            std::fs::copy(&third, &to).expect("the third build");
        }
    });
    assert!(host.reload(std::slice::from_ref(&other)).expect("a Master").is_committed());
    drop(listening);
    // The third build has replaced the library during the reload.
    support::wait_for_build(&host, 3);
    std::fs::copy(&builds[1], &other).expect("the second build");
    support::wait_for_build(&host, 2);

    // The watch also follows the libraries of a new Master.
    host.unload_master().expect("a Master");
    host.create_master(std::slice::from_ref(&watched)).expect("it loads");
    std::fs::copy(&builds[2], &watched).expect("the third build");
    support::wait_for_build(&host, 3);
}

#[test]
fn a_change_of_a_watched_file_keeps_the_libraries_of_a_request() {
    let [first, second] = [1, 2].map(|tag| support::tagged("magic-cube", &[], tag));
    let (_folder, watched, host) = host_of_copy(&first);
    host.watch().expect("a folder to watch");
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        std::fs::copy(&first, &watched).expect("the first build");
        // The first tick reads the change, and the second tick reports the change, because the file was quiet between the ticks.
        std::thread::sleep(Duration::from_millis(100));
        host.tick(Budget::frame());
        std::thread::sleep(Duration::from_millis(50));
        host.request_reload(vec![second.clone()]);
        host.tick(Budget::frame());
        let report = host.take_reloads().pop().expect("it was requested");
        if report.requests == 2 {
            assert_eq!(tag(&host), 2, "{report}");
            return;
        }
        // The system has reported the change too early or too late for the second tick.
        assert!(Instant::now() < until, "{report}");
        assert!(host.reload(std::slice::from_ref(&watched)).expect("a Master").is_committed());
    }
}

#[test]
fn several_requests_become_one_reload_at_the_safe_point() {
    let (first, second) = (support::tagged("magic-cube", &[], 1), support::tagged("magic-cube", &[], 2));
    let host = support::host(std::slice::from_ref(&first));
    host.request_reload(vec![first]);
    host.request_reload(vec![second]);
    host.safe_point();
    let reports = host.take_reloads();
    assert_eq!((reports.len(), host.generation()), (1, 2));
    assert_eq!(tag(&host), 2, "the last request counts");
}

#[test]
fn a_rolled_back_reload_leaves_the_world_unchanged() {
    let host = support::host(&[support::plugin("broken", &[])]);
    let object = host.objects().spawn("/Script/Game.Fragile").expect("an actor");
    host.tick(Budget::frame());
    let before = (host.worlds().hash(), host.counters().objects, host.conjugates().color_of(object));
    let report = host.reload(&[support::plugin("broken", &["panic-in-red-constructor"])]).expect("a Master");
    assert!(!report.is_committed(), "{report}");
    assert_eq!((host.worlds().hash(), host.counters().objects, host.conjugates().color_of(object)), before);
    assert_eq!(host.unloads().generations(), [(1, alcedo_runtime::ContextState::Alive)]);
}

#[test]
fn a_pause_contains_its_phases_and_is_part_of_the_call() {
    let builds = [1, 2].map(|tag| support::tagged("crowd", &[], tag));
    let host = support::host(&builds[..1]);
    for _ in 0..1_000 {
        host.objects().spawn("/Script/Game.Walker").expect("a walker");
    }
    let begun = Instant::now();
    let report = host.reload(&builds[1..]).expect("a Master").into_result().expect("a reload");
    let call = begun.elapsed();
    let (pause, phases) = (report.pause.total(), &report.phases);
    for phase in Phase::ALL.into_iter().filter(|phase| *phase >= Phase::Quiesce) {
        assert!(phases.get(phase) <= pause, "{phase} of {pause:?}: {report}");
    }
    assert!(phases.swap() + phases.get(Phase::Retire) <= pause, "{pause:?}: {report}");
    let before = phases.get(Phase::Stage) + phases.get(Phase::Canary);
    assert!(before + pause <= call, "{before:?} and {pause:?} of {call:?}");
    assert_eq!(report.pause, Pause::new(pause, 1_000));
}

#[test]
fn a_pause_includes_a_rollback_and_does_not_begin_in_staging() {
    let host = support::host(&[support::plugin("broken", &[])]);
    host.objects().spawn("/Script/Game.Fragile").expect("an actor");
    let begun = Instant::now();
    let failed = host.reload(&[support::plugin("broken", &["panic-in-red-constructor"])]).expect("a Master");
    let call = begun.elapsed();
    let pause = failed.pause.total();
    assert!(failed.phases.swap() <= pause && pause <= call, "{pause:?} of {call:?}: {failed}");

    let refused = host.reload(&[support::plugin("broken", &["unknown-base"])]).expect("a Master");
    assert!(!refused.is_committed(), "{refused}");
    assert_eq!(refused.pause, Pause::default(), "{refused}");
}

#[test]
fn a_reload_restores_the_kept_field_of_each_object_among_objects_of_other_classes() {
    let builds = [1, 2].map(|tag| support::tagged("crowd", &[], tag));
    let host = support::host(&builds[..1]);
    let run = |object: ObjectHandle, seconds: f64| {
        let way = host.objects().call(object, "run_for", &[Value::F64(seconds)]).expect("it runs");
        let Some(Value::F64(way)) = way else { panic!("{way:?}") };
        way
    };
    let mut runners = Vec::new();
    // Runs of three runners, single runners, and pairs of walkers.
    for at in 0..60 {
        if matches!(at % 6, 0..3 | 5) {
            let runner = host.objects().spawn("/Script/Game.Runner").expect("a runner");
            runners.push((runner, run(runner, f64::from(at) + 1.0)));
        } else {
            host.objects().spawn("/Script/Game.Walker").expect("a walker");
        }
    }
    for tag in [1, 0] {
        let report = host.reload(&builds[tag..=tag]).expect("a Master").into_result().expect("a reload");
        assert_eq!((report.conjugates_rebuilt, report.fields_kept, report.fields_lost), (60, 40, vec![]));
        for (runner, way) in &runners {
            assert_eq!(run(*runner, 0.0), *way);
            assert_eq!(
                host.objects().call(*runner, "made_by", &[]).expect("it answers"),
                Some(Value::U64(tag as u64 + 1))
            );
        }
    }
}

#[test]
fn a_class_held_by_a_host_follows_its_path() {
    const WALKER: &str = "/Script/Game.Walker";
    let (first, second) = (support::tagged("crowd", &[], 1), support::tagged("crowd", &[], 2));
    let host = support::host(std::slice::from_ref(&first));
    let walker = host.types().class(WALKER).expect("crowd has it");
    let made_by = |host: &Runtime| {
        let object = host.objects().spawn(&walker).expect("a walker");
        host.objects().call(object, "made_by", &[]).expect("it answers")
    };
    assert_eq!((walker.path(), made_by(&host)), (WALKER, Some(Value::U64(1))));

    host.reload(std::slice::from_ref(&second)).expect("a Master").into_result().expect("a reload");
    assert_eq!(made_by(&host), Some(Value::U64(2)), "the class of the new code");

    let other = support::host(std::slice::from_ref(&first));
    assert_eq!(made_by(&other), Some(Value::U64(1)), "the class of another host by that path");
    assert_eq!(made_by(&host), Some(Value::U64(2)));

    host.unload_master().expect("a Master");
    let gone = host.objects().spawn(&walker).expect_err("the class is not declared").to_string();
    assert_eq!(gone, host.objects().spawn(WALKER).expect_err("the class is not declared").to_string());
    host.create_master(&[first]).expect("it loads again");
    assert_eq!(made_by(&host), Some(Value::U64(1)), "the class has returned");
    assert!(host.types().class("/Script/Game.Missing").is_err());
}

#[test]
fn an_object_of_a_held_class_is_kept_only_without_an_outer() {
    let host = support::host(&[support::tagged("crowd", &[], 1)]);
    let walker = host.types().class("/Script/Game.Walker").expect("crowd has it");
    let street = host.objects().spawn(&walker).expect("a walker");
    let inside = host.objects().spawn_in(&walker, street).expect("a walker");
    assert_eq!((host.objects().outer_of(street), host.objects().outer_of(inside)), (None, Some(street)));
    host.collection().collect().expect("a safe point");
    assert_eq!(
        (host.objects().is_alive(street), host.objects().is_alive(inside)),
        (true, false),
        "the second is unreferenced"
    );
    assert!(host.objects().spawn_in(&walker, inside).is_err(), "its outer no longer exists");
}
