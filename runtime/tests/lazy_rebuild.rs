//! Tests classes that are rebuilt lazily: a reload does not build the plugin parts of their objects. The first use of an object builds its
//! plugin part and restores the kept fields.

use crate::support;

use std::path::PathBuf;

use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::host::BatchFunction;
use alcedo_runtime::{Budget, ObjectHandle, ReloadReport, Runtime, Value};

const SLEEPER: &str = "/Script/Game.Sleeper";
const WALKER: &str = "/Script/Game.Walker";

fn crowd(features: &[&str], tag: u64) -> PathBuf {
    support::tagged("crowd", features, tag)
}

/// Host with one object that has counted two dreams, and the number of conjugates that the host has built.
struct Scene {
    host: Runtime,
    sleeper: ObjectHandle,
}

impl Scene {
    fn new() -> Self {
        let host = support::host(&[crowd(&[], 1)]);
        let sleeper = host.objects().spawn(SLEEPER).expect("an object");
        let scene = Self { host, sleeper };
        assert_eq!((scene.dream(), scene.dream()), (1, 2));
        scene
    }

    fn reload(&self, features: &[&str], tag: u64) -> ReloadReport {
        let report = self.host.reload(&[crowd(features, tag)]).expect("a Master");
        report.into_result().unwrap_or_else(|report| panic!("{report}"))
    }

    fn dream(&self) -> u64 {
        self.number("dream", &[])
    }

    fn number(&self, function: &str, values: &[Value]) -> u64 {
        number(&self.host, self.sleeper, function, values)
    }

    /// Returns the number of plugin parts that were built.
    fn built(&self) -> u64 {
        self.host.counters().conjugates_built
    }

    fn has_part(&self) -> bool {
        self.host.conjugates().color_of(self.sleeper).is_some()
    }
}

fn number(host: &Runtime, object: ObjectHandle, function: &str, values: &[Value]) -> u64 {
    match host.objects().call(object, function, values).unwrap_or_else(|error| panic!("{error}")) {
        Some(Value::U64(number)) => number,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_first_call_after_a_reload_builds_the_part_and_restores_its_fields() {
    let scene = Scene::new();
    let walker = scene.host.objects().spawn(WALKER).expect("an object");

    let report = scene.reload(&[], 2);

    assert_eq!((report.conjugates_rebuilt, report.conjugates_put_off, report.fields_kept), (1, 1, 0), "{report}");
    assert!(report.to_string().contains("1 conjugate rebuilt · 1 put off until first use · "), "{report}");
    assert_eq!(number(&scene.host, walker, "made_by", &[]), 2);
    let built = scene.built();
    assert!(!scene.has_part());
    assert_eq!(scene.dream(), 3);
    assert_eq!((scene.number("made_by", &[]), scene.built() - built), (2, 1));
    assert!(scene.has_part());
    assert_eq!(scene.host.counters().class_constructors_rerun, 0);
}

#[test]
fn fields_survive_reloads_without_any_use_in_between() {
    let scene = Scene::new();
    for tag in 2..5 {
        let report = scene.reload(&[], tag);
        assert_eq!((report.conjugates_rebuilt, report.conjugates_put_off), (0, 1));
    }
    scene.reload(&["property-added"], 5);
    scene.reload(&["base-inserted"], 6);
    scene.reload(&[], 7);
    assert!(!scene.has_part());
    assert_eq!((scene.dream(), scene.number("made_by", &[])), (3, 7));
}

#[test]
fn a_build_without_the_specifier_rebuilds_waiting_objects_in_the_reload() {
    let scene = Scene::new();
    scene.reload(&[], 2);
    let report = scene.reload(&["eager"], 3);
    assert_eq!((report.conjugates_rebuilt, report.conjugates_put_off, report.fields_kept), (1, 0, 1), "{report}");
    assert_eq!((scene.dream(), scene.number("made_by", &[])), (3, 3));
    // The next build has the specifier again.
    assert_eq!(scene.reload(&[], 4).conjugates_put_off, 1);
    assert_eq!((scene.dream(), scene.number("made_by", &[])), (4, 4));
}

#[test]
fn a_build_that_renames_a_field_rebuilds_its_objects_in_the_reload() {
    let scene = Scene::new();
    assert_eq!(scene.reload(&[], 2).conjugates_put_off, 1);
    let report = scene.reload(&["renamed"], 3);
    assert_eq!((report.conjugates_rebuilt, report.conjugates_put_off, report.fields_kept), (1, 0, 1), "{report}");
    assert_eq!((scene.dream(), scene.number("made_by", &[])), (3, 3));
}

#[test]
fn a_field_that_waits_outlives_a_build_without_it() {
    let scene = Scene::new();
    scene.reload(&[], 2);
    scene.reload(&["forgetful"], 3);
    scene.reload(&[], 4);
    assert_eq!(scene.dream(), 3, "no build without the field was used");

    // The part of the build without the field is used, so the field is put aside.
    scene.reload(&["forgetful"], 5);
    let record = support::record("alcedo_runtime::bridge::rebuild");
    assert_eq!(scene.dream(), 1);
    let lines = record.take();
    assert!(lines.contains("Game.Sleeper.dreams is no longer kept: 1 value put aside"), "{lines}");
    scene.reload(&[], 6);
    assert_eq!(scene.dream(), 4);
}

#[test]
fn a_failing_red_constructor_fails_only_the_use_and_is_tried_again() {
    let scene = Scene::new();
    scene.reload(&[], 2);
    let set_speed =
        |speed: f64| scene.host.objects().set(scene.sleeper, "speed", &Value::F64(speed)).expect("a number");
    set_speed(-1.0);
    for _ in 0..2 {
        let error = scene.host.objects().call(scene.sleeper, "dream", &[]).expect_err("it cannot wake up").to_string();
        assert!(error.contains("red constructor of Game.Sleeper") && error.contains("it cannot wake up"), "{error}");
        assert!(!scene.has_part());
    }
    assert_eq!(scene.reload(&[], 3).conjugates_put_off, 1, "the object does not prevent a reload");
    set_speed(1.0);
    assert_eq!((scene.dream(), scene.number("made_by", &[])), (3, 3));
}

#[test]
fn a_world_that_is_saved_while_objects_wait_contains_their_fields() {
    let folder = tempfile::tempdir().expect("a folder");
    let [before, path] = ["before.world", "waiting.world"].map(|name| folder.path().join(name));
    let scene = Scene::new();
    scene.host.worlds().save(&before).expect("it is saved");
    scene.reload(&[], 2);
    scene.host.worlds().save(&path).expect("it is saved");
    assert!(!scene.has_part());
    assert!(std::fs::read(&before).expect("a file") == std::fs::read(&path).expect("a file"));

    let name = scene.host.objects().path_of(scene.sleeper).expect("it has a path");
    let second = support::host(&[crowd(&[], 3)]);
    let report = second.worlds().load(&path).expect("it is loaded");
    assert_eq!((report.conjugates_built, report.conjugates_put_off), (0, 1), "{report}");
    let loaded = second.objects().at_path(&name).expect("it is there");
    assert_eq!(number(&second, loaded, "dream", &[]), 3);
}

#[test]
fn a_world_saved_by_a_build_without_the_field_contains_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("forgetful.world");
    let scene = Scene::new();
    let waiting = scene.host.objects().spawn(SLEEPER).expect("an object");
    assert_eq!(number(&scene.host, waiting, "dream", &[]), 1);
    scene.reload(&["forgetful"], 2);
    // An object with a part is saved before the waiting object.
    assert_eq!(scene.dream(), 1);
    scene.host.worlds().save(&path).expect("it is saved");

    let name = scene.host.objects().path_of(waiting).expect("it has a path");
    let second = support::host(&[crowd(&[], 3)]);
    second.worlds().load(&path).expect("it is loaded");
    let loaded = second.objects().at_path(&name).expect("it is there");
    assert_eq!(number(&second, loaded, "dream", &[]), 2);
}

#[test]
fn a_rollback_leaves_waiting_and_built_objects_as_they_were() {
    let scene = Scene::new();
    scene.reload(&[], 2);
    let built = scene.host.objects().spawn(SLEEPER).expect("an object");
    assert_eq!(number(&scene.host, built, "dream", &[]), 1);
    let before = scene.host.worlds().digest();
    for step in [ReloadStep::SaveKept, ReloadStep::RebuildObject, ReloadStep::BeforeCommit] {
        let _armed = faults::arm(Fault { step, nth: 0, kind: FaultKind::Error });
        let report = scene.host.reload(&[crowd(&["property-added"], 3)]).expect("a Master");
        assert!(!report.is_committed(), "{step:?}: {report}");
        let after = scene.host.worlds().digest();
        assert_eq!(before.differences(&after), Vec::<String>::new(), "{step:?}");
    }
    assert_eq!(number(&scene.host, built, "dream", &[]), 2);
    assert_eq!((scene.dream(), scene.number("made_by", &[])), (3, 2));
}

#[test]
fn calls_batches_and_timers_of_plugins_build_waiting_parts() {
    let scene = Scene::new();
    let others = [(); 3].map(|()| scene.host.objects().spawn(SLEEPER).expect("an object"));
    for other in others {
        number(&scene.host, other, "dream", &[]);
    }
    scene.reload(&[], 2);
    assert_eq!(scene.number("dream_of", &[Value::Object(others[0])]), 2);
    scene.host.objects().call(scene.sleeper, "dream_later", &[Value::Object(others[1])]).expect("a timer");
    scene.host.tick(Budget::seconds(0.1));
    assert_eq!(number(&scene.host, others[1], "dream", &[]), 3);
    let batch: BatchFunction<(), u64> = scene.host.batch("uf:/Script/Game.Sleeper:dream").expect("it is there");
    assert_eq!(batch.call(&others, ()).expect("called").called, 3);
    assert_eq!(others.map(|other| number(&scene.host, other, "dream", &[])), [4, 5, 3]);
}

#[test]
fn all_closures_that_are_posted_to_a_waiting_object_run() {
    let scene = Scene::new();
    let other = scene.host.objects().spawn(SLEEPER).expect("an object");
    assert_eq!(number(&scene.host, other, "dream", &[]), 1);
    scene.reload(&[], 2);
    scene.host.objects().call(scene.sleeper, "dream_twice_later", &[Value::Object(other)]).expect("they are posted");
    let built = scene.built();
    scene.host.safe_point();
    assert_eq!(scene.built() - built, 1, "the first closure builds the part");
    assert_eq!(number(&scene.host, other, "dream", &[]), 4, "the second closure has run too");
}

#[test]
fn waiting_objects_can_be_destroyed_and_their_class_removed() {
    let scene = Scene::new();
    let other = scene.host.objects().spawn(SLEEPER).expect("an object");
    scene.reload(&[], 2);
    let built = scene.built();
    scene.host.objects().destroy(other);
    assert_eq!(scene.built(), built, "no part is built for the end of an object");
    // Without its class, the object is dormant.
    let report = scene.host.reload(&[support::tagged("magic-cube", &[], 1)]).expect("a Master");
    assert!(report.is_committed(), "{report}");
    let error = scene.host.objects().call(scene.sleeper, "dream", &[]).expect_err("it is dormant").to_string();
    assert!(error.contains("dream"), "{error}");
    let report = scene.host.reload(&[crowd(&[], 3)]).expect("a Master");
    assert_eq!(report.conjugates_put_off, 1, "{report}");
    assert_eq!((scene.dream(), scene.number("made_by", &[])), (3, 3));
}
