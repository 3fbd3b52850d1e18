//! Tests of the host without plugins.

use alcedo::Budget;
use {{host}}::Robot;

#[test]
fn a_robot_drives_and_keeps_count() {
    let runtime = {{host}}::builder().build().unwrap();
    let robot = runtime.objects().spawn_as::<Robot>().unwrap();
    runtime.objects().with(robot, |robot| [2.0, -0.5].map(|distance| robot.drive(distance))).unwrap();
    // Without a plugin, a tick does nothing.
    runtime.tick(Budget::seconds(1.0));
    let totals = runtime.objects().with(robot, |robot| (robot.position(), robot.odometer(), robot.drives())).unwrap();
    assert_eq!(totals, (1.5, 2.5, 2));
    runtime.shutdown().into_result().unwrap();
}
