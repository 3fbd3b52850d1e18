//! The host by itself, without plugins.

use alcedo_runtime::{Budget, Value};

#[test]
fn a_robot_drives_and_keeps_count() {
    let runtime = {{host}}::builder().build().unwrap();
    let robot = runtime.objects().spawn({{host}}::ROBOT).unwrap();
    for distance in [2.0, -0.5] {
        runtime.objects().call(robot, "drive", &[Value::F64(distance)]).unwrap();
    }
    // No plugin says what it does in a tick: nothing.
    runtime.tick(Budget::seconds(1.0));
    assert_eq!(runtime.objects().get(robot, "position").unwrap(), Value::F64(1.5));
    assert_eq!(runtime.objects().get(robot, "odometer").unwrap(), Value::F64(2.5));
    runtime.shutdown().into_result().unwrap();
}
