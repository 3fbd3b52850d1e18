//! Tests the generated names of objects after loads of worlds. A load claims the generated names that its file contains. A failed load
//! releases these names.

use crate::support;

use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::{ObjectHandle, Runtime};

const ACTOR: &str = "/Script/Engine.Actor";

/// Returns a host with native classes only.
fn natives() -> Runtime {
    support::builder().build().unwrap_or_else(|error| panic!("{error}"))
}

fn spawn(host: &Runtime) -> ObjectHandle {
    host.objects().spawn(ACTOR).expect("an actor")
}

fn path_of(host: &Runtime, object: ObjectHandle) -> String {
    host.objects().path_of(object).expect("it has a path")
}

fn paths(host: &Runtime) -> Vec<String> {
    host.objects().iter().map(|object| path_of(host, object)).collect()
}

/// Loads a world with a fault in the last step.
fn fail_to_load(host: &Runtime, file: &std::path::Path) {
    let armed = faults::arm(Fault { step: ReloadStep::BeforeCommit, nth: 0, kind: FaultKind::Error });
    host.worlds().load(file).expect_err("the last step fails");
    assert!(armed.has_fired());
}

#[test]
fn generated_names_are_unique_after_a_failed_and_a_successful_load() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("named.world");
    let host = natives();
    let old = [(); 3].map(|()| spawn(&host));
    host.worlds().save(&file).expect("it is saved");
    host.objects().destroy(old[1]);
    fail_to_load(&host, &file);
    assert_eq!(paths(&host), ["/World/Actor_1", "/World/Actor_3"]);
    assert_eq!(host.objects().at_path("/World/Actor_3"), Some(old[2]));
    assert_eq!(path_of(&host, spawn(&host)), "/World/Actor_2");
    host.worlds().load(&file).expect("it is loaded");
    assert_eq!(paths(&host), ["/World/Actor_1", "/World/Actor_2", "/World/Actor_3"]);
    assert!(host.objects().iter().all(|object| host.objects().at_path(&path_of(&host, object)) == Some(object)));
    assert_eq!(path_of(&host, spawn(&host)), "/World/Actor_4");
}

#[test]
fn a_failed_load_does_not_change_the_next_generated_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("named.world");
    let (first, second) = (natives(), natives());
    let saved = [(); 3].map(|()| spawn(&first));
    // The file then contains `Actor_1` and `Actor_3`. The series of names in the second host has no such numbers.
    first.objects().destroy(saved[1]);
    first.worlds().save(&file).expect("it is saved");
    fail_to_load(&second, &file);
    for expected in ["/World/Actor_1", "/World/Actor_2"] {
        assert_eq!(path_of(&second, spawn(&second)), expected);
        fail_to_load(&second, &file);
    }
    assert_eq!(path_of(&second, spawn(&second)), "/World/Actor_3");
}
