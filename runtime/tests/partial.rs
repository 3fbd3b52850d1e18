//! Tests partial reloads. A partial reload replaces only changed modules and their dependents. All other modules stay mapped and keep their
//! generation, plugin parts and handles.

use crate::support;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::{Budget, ObjectHandle, Outcome, Phase, ReloadReport, ReloadScope, Runtime, Value, process};

const SET: &str = "/Script/Game.RegeneratingSet";
const SHIELDED: &str = "/Script/Game.ShieldedSet";
const HERO: &str = "/Script/Game.Hero";
const CUBE: &str = "/Script/Game.MagicCube";

/// Returns builds of the three modules, selected by their tags. `glue_derived` depends on `glue_base`. `magic_cube` has no dependencies.
fn libraries(attributes: u64, plus: u64, cube: u64) -> Vec<PathBuf> {
    vec![
        support::tagged("glue-derived", &[], plus),
        support::tagged("glue-base", &[], attributes),
        support::tagged("magic-cube", &[], cube),
    ]
}

/// Host with one object for each module, and one object whose class has parts in two modules.
struct Scene {
    host: Runtime,
    set: ObjectHandle,
    shielded: ObjectHandle,
    hero: ObjectHandle,
    cube: ObjectHandle,
}

fn scene() -> Scene {
    let host = support::host(&libraries(1, 1, 1));
    let [set, shielded, hero, cube] =
        [SET, SHIELDED, HERO, CUBE].map(|class| host.objects().spawn(class).expect("spawned"));
    for health in [set, shielded] {
        host.objects().call(health, "change_health", &[Value::F64(-60.0)]).expect("it changes");
    }
    host.objects().set(set, "regeneration", &Value::F64(0.5)).expect("a number");
    host.objects().call(cube, "say_hello", &[]).expect("the call succeeds");
    host.tick(Budget::seconds(0.25));
    Scene { host, set, shielded, hero, cube }
}

impl Scene {
    fn reload(&self, attributes: u64, plus: u64, cube: u64) -> ReloadReport {
        let report = self.host.reload_changed(&libraries(attributes, plus, cube)).expect("a Master");
        report.into_result().unwrap_or_else(|report| panic!("{report}"))
    }

    fn generations(&self) -> [u64; 3] {
        let generations = self.host.modules();
        ["glue_base", "glue_derived", "magic_cube"].map(|name| {
            let found = generations.iter().find(|module| module.name == name);
            found.unwrap_or_else(|| panic!("{name} is loaded: {generations:?}")).generation
        })
    }

    fn tags(&self) -> [Option<Value>; 3] {
        [
            "nm:/glue_base:AttributeSet:build_tag",
            "nm:/glue_derived:ShieldedSet:build_tag",
            "nm:/magic_cube:MagicCube:build_tag",
        ]
        .map(|name| self.host.calls().call(name, &[]).unwrap_or_else(|error| panic!("{error}")))
    }

    /// Returns the line of the world digest that describes the object's plugin part.
    fn half(&self, object: ObjectHandle) -> String {
        let digest = self.host.worlds().digest();
        let line = digest.part("plugin-parts").iter().find(|line| line.starts_with(&format!("{object} at ")));
        line.expect("it is there").clone()
    }

    fn mapped(&self) -> usize {
        process::stale_mappings(&self.host.stage_dir()).expect("the process map").len()
    }
}

fn tags(tags: [u64; 3]) -> [Option<Value>; 3] {
    tags.map(|tag| Some(Value::U64(tag)))
}

#[test]
fn a_module_that_changed_alone_is_replaced_alone() {
    let scene = scene();
    let Scene { host, set, shielded, hero, cube } = &scene;
    let kept = [*set, *cube].map(|object| scene.half(object));
    let handles = ["nm:/glue_base:AttributeSet:build_tag", "nm:/magic_cube:MagicCube:build_tag"]
        .map(|name| host.calls().resolve(name).expect("it is offered"));
    let gone = host.calls().resolve("nm:/glue_derived:ShieldedSet:build_tag").expect("it is offered");

    let report = scene.reload(1, 2, 1);

    assert_eq!(report.modules, ["glue_derived"]);
    assert_eq!(report.kept_modules, ["glue_base of generation 1", "magic_cube of generation 1"]);
    assert_eq!(report.replaced_because, ["glue_derived: its library has changed"]);
    assert_eq!((report.generation, report.conjugates_rebuilt, report.parked.len()), (2, 3, 0), "set, hero, hero's set");
    assert_eq!((host.generation(), scene.generations()), (2, [1, 2, 1]));
    assert_eq!(host.unloads().generations(), [(2, alcedo_runtime::ContextState::Alive)]);
    assert_eq!(scene.tags(), tags([1, 2, 1]));
    assert_eq!([*set, *cube].map(|object| scene.half(object)), kept, "the very plugin parts");
    assert_eq!(
        handles.map(|handle| host.calls().call_handle(handle, &[]).expect("it answers")),
        [1, 1].map(|tag| Some(Value::U64(tag)))
    );
    assert!(host.calls().call_handle(gone, &[]).is_err());
    assert_eq!(
        host.objects().call(*set, "change_count", &[]).expect("it counts"),
        Some(Value::U32(2)),
        "a tick healed it once"
    );
    assert_eq!(
        host.objects().call(*shielded, "absorbed", &[]).expect("the call succeeds"),
        Some(Value::F64(50.0)),
        "a kept field of the new"
    );
    assert_eq!(
        host.objects().call(*shielded, "change_health", &[Value::F64(-10.0)]).expect("over two modules"),
        Some(Value::F64(81.25))
    );
    assert!(host.objects().is_alive(*hero));
    assert_eq!(scene.mapped(), 3);
    for class in [SET, SHIELDED, HERO, CUBE] {
        host.objects().spawn(class).expect("spawned from old and new modules");
    }
    host.tick(Budget::frame());
}

#[test]
fn dependents_of_a_module_are_reloaded_with_it() {
    let scene = scene();
    let cube = scene.half(scene.cube);
    let report = scene.reload(2, 1, 1);
    assert_eq!(report.modules, ["glue_base", "glue_derived"]);
    assert_eq!(report.kept_modules, ["magic_cube of generation 1"]);
    assert_eq!(report.replaced_because, ["glue_base: its library has changed", "glue_derived: it uses glue_base"]);
    assert_eq!((scene.generations(), scene.tags()), ([2, 2, 1], tags([2, 1, 1])));
    assert_eq!(scene.half(scene.cube), cube);
    assert_eq!(
        scene.host.objects().call(scene.set, "change_count", &[]).expect("it counts"),
        Some(Value::U32(2)),
        "kept across the reload"
    );
}

#[test]
fn inheriting_a_class_makes_a_module_dependent_without_a_declaration() {
    let libraries =
        |attributes| [support::tagged("glue-base", &[], attributes), support::plugin("glue-derived", &["undeclared"])];
    let host = support::host(&libraries(1));
    let shielded = host.objects().spawn(SHIELDED).expect("spawned");
    let report = host.reload_changed(&libraries(2)).expect("a Master").into_result().expect("a reload");
    assert_eq!(report.replaced_because, ["glue_base: its library has changed", "glue_derived: it uses glue_base"]);
    host.objects().call(shielded, "change_health", &[Value::F64(-60.0)]).expect("over two modules");
}

#[test]
fn generations_coexist_and_end_with_their_last_module() {
    let scene = scene();
    scene.reload(1, 2, 1);
    scene.reload(1, 2, 2);
    assert_eq!((scene.generations(), scene.tags()), ([1, 2, 3], tags([1, 2, 2])));
    scene.reload(1, 3, 2);
    assert_eq!((scene.generations(), scene.mapped()), ([1, 4, 3], 3));
    let report = scene.host.reload(&libraries(2, 3, 2)).expect("a Master").into_result().expect("all of them");
    assert_eq!((report.kept_modules.len(), report.modules.len()), (0, 3));
    assert_eq!((scene.generations(), scene.tags(), scene.mapped()), ([5, 5, 5], tags([2, 3, 2]), 3));
    assert_eq!(scene.host.objects().call(scene.cube, "greeting_count", &[]).expect("it counts"), Some(Value::U32(1)));
    assert_eq!(scene.host.unload_master().expect("a Master").parked, Vec::<String>::new());
    assert_eq!((scene.mapped(), scene.host.unloads().generations()), (0, vec![]));
}

#[test]
fn when_no_library_has_changed_nothing_happens() {
    let scene = scene();
    let before = scene.host.worlds().digest();
    let report = scene.reload(1, 1, 1);
    assert_eq!((report.generation, report.modules.len()), (1, 0));
    assert!(report.to_string().contains("no library has changed"), "{report}");
    assert_eq!(before.differences(&scene.host.worlds().digest()), Vec::<String>::new());
    assert_eq!(scene.reload(1, 2, 1).generation, 2, "no generation number was skipped");
}

#[test]
fn a_watch_follows_a_library_that_a_reload_has_found_unchanged_at_another_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let [old, new] = ["old.so", "new.so"].map(|name| folder.path().join(name));
    let copy = |tag: u64, path: &Path| {
        std::fs::copy(support::tagged("magic-cube", &[], tag), path).expect("a copy");
    };
    copy(1, &old);
    copy(1, &new);
    let host = support::host(std::slice::from_ref(&old));
    let report = host.reload_changed(std::slice::from_ref(&new)).expect("a Master");
    assert_eq!((report.generation, report.modules.len()), (1, 0), "{report}");
    host.watch_changed().expect("a folder to watch");
    copy(2, &new);
    support::wait_for_build(&host, 2);
}

#[test]
fn a_failed_partial_reload_leaves_the_world_unchanged() {
    let scene = scene();
    let handle = scene.host.calls().resolve("nm:/glue_derived:ShieldedSet:build_tag").expect("it is offered");
    for (step, kind) in [
        (ReloadStep::Map, FaultKind::Error),
        (ReloadStep::Declare, FaultKind::Panic),
        (ReloadStep::SaveKept, FaultKind::Error),
        (ReloadStep::ShutGates, FaultKind::Panic),
        (ReloadStep::Main, FaultKind::Error),
        (ReloadStep::ClassDefault, FaultKind::Error),
        (ReloadStep::CarryObject, FaultKind::Panic),
        (ReloadStep::RebuildObject, FaultKind::Error),
        (ReloadStep::LoadKept, FaultKind::Panic),
        (ReloadStep::BeforeCommit, FaultKind::Error),
    ] {
        let before = scene.host.worlds().digest();
        let armed = faults::arm(Fault { step, nth: 0, kind });
        let report = scene.host.reload_changed(&libraries(1, 2, 1)).expect("a Master");
        assert!(armed.has_fired() && !report.is_committed(), "{step}: {report}");
        drop(armed);
        assert_eq!(before.differences(&scene.host.worlds().digest()), Vec::<String>::new(), "{step}: {report}");
        assert_eq!((scene.generations(), scene.mapped()), ([1, 1, 1], 3), "{step}");
        assert_eq!(scene.host.calls().call_handle(handle, &[]).expect("it answers"), Some(Value::U64(1)), "{step}");
    }
    scene.reload(1, 2, 1);
    assert_eq!(scene.tags(), tags([1, 2, 1]));
}

#[test]
fn removing_a_base_module_fails_for_its_remaining_dependent() {
    let scene = scene();
    let without = [support::tagged("glue-derived", &[], 1), support::tagged("magic-cube", &[], 1)];
    let before = scene.host.worlds().digest();
    let report = scene.host.reload_changed(&without).expect("a Master");
    let Outcome::RolledBack { phase: Phase::Stage, error } = &report.outcome else { panic!("{report}") };
    assert!(error.contains("no module `glue_base` ^0.1, which `glue_derived` needs"), "{error}");
    assert_eq!(before.differences(&scene.host.worlds().digest()), Vec::<String>::new());
    let without = [support::tagged("glue-derived", &[], 1), support::tagged("glue-base", &[], 1)];
    let report =
        scene.host.reload_changed(&without).expect("a Master").into_result().expect("no module depends on the cube");
    assert_eq!(report.replaced_because, ["magic_cube: its library was taken out"]);
    assert_eq!(scene.host.objects().dormant_class(scene.cube).as_deref(), Some(CUBE));
    assert_eq!((report.generation, scene.mapped()), (2, 2));
    scene.reload(1, 1, 1);
    assert_eq!(scene.host.objects().dormant_class(scene.cube), None);
    assert_eq!(scene.host.objects().call(scene.cube, "greeting_count", &[]).expect("it counts"), Some(Value::U32(1)));
}

#[test]
fn listeners_receive_the_modules_kept_by_a_reload() {
    let events = Rc::new(RefCell::new(Vec::new()));
    let inner = Rc::clone(&events);
    let host =
        support::builder().on_event(move |event| inner.borrow_mut().push(event.to_string())).build().expect("a host");
    host.create_master(&libraries(1, 1, 1)).expect("a Master");
    events.borrow_mut().clear();
    host.reload_changed(&libraries(1, 2, 1)).expect("a Master").into_result().expect("a reload");
    assert_eq!(
        *events.borrow(),
        [
            "Unloading Master 1",
            "Kept Master 2: glue_base of generation 1, magic_cube of generation 1",
            "PreStartup Master 2",
            "Startup Master 2 glue_derived",
            "PostStartup Master 2",
            "Loaded Master 2 glue_derived",
            "Unloaded Master 1",
            "Dead Master 1",
        ]
    );
}

#[test]
fn requests_are_one_reload_that_is_as_wide_as_any_of_them() {
    let scene = scene();
    scene.host.request_reload_of(libraries(1, 2, 1), ReloadScope::Changed);
    scene.host.request_reload_of(libraries(1, 3, 1), ReloadScope::Changed);
    scene.host.safe_point();
    let reports = scene.host.take_reloads();
    assert_eq!(reports.iter().map(|report| (report.requests, report.kept_modules.len())).collect::<Vec<_>>(), [(2, 2)]);
    assert_eq!(scene.tags(), tags([1, 3, 1]));
    scene.host.request_reload_of(libraries(1, 1, 1), ReloadScope::Changed);
    scene.host.request_reload(libraries(1, 1, 1));
    scene.host.safe_point();
    let reports = scene.host.take_reloads();
    assert_eq!(reports.iter().map(|report| (report.requests, report.kept_modules.len())).collect::<Vec<_>>(), [(2, 0)]);
}

#[test]
fn a_refused_library_is_reported_under_its_module() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut paths = libraries(1, 1, 1);
    let cube = folder.path().join("cube.so");
    std::fs::copy(&paths[2], &cube).expect("a copy");
    paths[2] = cube.clone();
    let host = support::host(&paths);
    std::fs::write(&cube, "no library").expect("the folder is ours");
    let report = host.reload_changed(&paths).expect("a Master");
    assert!(!report.is_committed(), "{report}");
    assert!(report.to_string().starts_with("magic_cube  generation 1 stays"), "{report}");
}

#[test]
fn a_watch_can_replace_only_changed_modules() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy_to_folder = |library: &Path, name: &str| {
        let path = folder.path().join(name);
        std::fs::copy(library, &path).expect("a copy");
        path
    };
    let [plus, attributes, cube] = ["plus.so", "attributes.so", "cube.so"];
    let first = libraries(1, 1, 1);
    let watched =
        [copy_to_folder(&first[0], plus), copy_to_folder(&first[1], attributes), copy_to_folder(&first[2], cube)];
    let host = support::host(&watched);
    host.watch_changed().expect("a folder to watch");
    copy_to_folder(&libraries(1, 1, 2)[2], cube);
    let until = Instant::now() + Duration::from_secs(60);
    let report = loop {
        host.tick(Budget::frame());
        match host.take_reloads().pop().filter(ReloadReport::is_committed) {
            Some(report) if !report.modules.is_empty() => break report,
            _ => assert!(Instant::now() < until, "no module was reloaded"),
        }
        std::thread::yield_now();
    };
    assert_eq!((report.modules.len(), report.kept_modules.len()), (1, 2), "{report}");
    assert_eq!(support::tag(&host), 2);
}

#[test]
fn a_watch_follows_a_folder_that_is_deleted_and_recreated() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("target/debug");
    let cube = folder.join("cube.so");
    let build = |tag: u64| {
        std::fs::create_dir_all(&folder).expect("the folder is ours");
        std::fs::copy(&libraries(1, 1, tag)[2], &cube).expect("a copy");
    };
    build(1);
    let mut paths = libraries(1, 1, 1);
    paths[2] = cube.clone();
    let host = support::host(&paths);
    host.watch_changed().expect("a folder to watch");
    for pause in [Duration::ZERO, Duration::from_millis(1500)] {
        std::fs::remove_dir_all(root.path().join("target")).expect("the folder is ours");
        let until = Instant::now() + pause;
        while Instant::now() < until {
            host.tick(Budget::frame());
            std::thread::yield_now();
        }
        build(2);
        support::wait_for_build(&host, 2);
        // Saves another build in the new folder.
        build(1);
        support::wait_for_build(&host, 1);
    }
}
