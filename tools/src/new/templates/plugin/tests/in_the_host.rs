//! Loads the library into the host. A test cannot link a `cdylib`: it is built and loaded, as in production.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use alcedo::build::BuildRequest;
use alcedo::{Budget, Runtime, Value};

/// Built once for all tests: a file that is being written cannot be loaded.
static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let built = alcedo::build::build(&BuildRequest::new(&manifest).package(env!("CARGO_PKG_NAME")));
    built.unwrap_or_else(|error| panic!("{error}")).artifacts.remove(0).path
});

fn host() -> Runtime {
    let runtime = {{host}}::builder().build().unwrap();
    runtime.create_master(&[&*LIBRARY]).unwrap_or_else(|error| panic!("{error}"));
    runtime
}

#[test]
fn a_robot_drives_and_turns() {
    let runtime = host();
    let robot = runtime.objects().spawn("/Script/Game.{{camel}}Robot").unwrap();
    runtime.tick(Budget::seconds(2.0));
    assert_eq!(runtime.objects().get(robot, "position").unwrap(), Value::F64(3.0));
    runtime.tick(Budget::seconds(5.0));
    assert_eq!(runtime.objects().get(robot, "speed").unwrap(), Value::F64(-1.5));
    assert_eq!(runtime.objects().call(robot, "turn_count", &[]).unwrap(), Some(Value::U32(1)));
    runtime.shutdown().into_result().unwrap();
}

#[test]
fn a_reload_keeps_robots_and_their_values() {
    let runtime = host();
    let robot = runtime.objects().spawn("/Script/Game.{{camel}}Robot").unwrap();
    runtime.tick(Budget::seconds(7.0));
    runtime.reload(&[&*LIBRARY]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(runtime.generation(), 2);
    assert!(runtime.objects().is_alive(robot));
    assert_eq!(runtime.objects().get(robot, "position").unwrap(), Value::F64(10.5));
    assert_eq!(runtime.objects().call(robot, "turn_count", &[]).unwrap(), Some(Value::U32(1)), "it is kept");
    assert_eq!(runtime.objects().call(robot, "tick_count", &[]).unwrap(), Some(Value::U32(0)), "it is rebuilt");
    runtime.shutdown().into_result().unwrap();
}
