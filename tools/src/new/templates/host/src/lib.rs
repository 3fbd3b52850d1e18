//! What this host declares: a class of robots, which stand on a line. The program and the tests begin with [`builder`].

#![forbid(unsafe_code)]

use alcedo_runtime::kinds::{PropertyKind, function_flags, property_flags};
use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{Builder, CallError, Frame, Runtime, Value, World};

/// The package of this host's own classes.
pub const PACKAGE: &str = "Robots";

/// The package in which plugins declare theirs.
pub const PLUGINS: &str = "Game";

/// The path of the class that plugins extend. `glue` says the same to them.
pub const ROBOT: &str = "/Script/Robots.Robot";

/// A host in the making, with all classes and without plugins.
pub fn builder() -> Builder {
    Runtime::builder().package(PLUGINS).natives(Natives::in_package(PACKAGE).class(robot()).ticker(tick))
}

fn robot() -> NativeClass {
    let shown = property_flags::EDIT_ANYWHERE | property_flags::BLUEPRINT_READ;
    NativeClass::new(PACKAGE, "Robot", "/Script/Core.Object")
        .doc("It stands on a line, and drives along it.")
        .property("position", (PropertyKind::F64, ""), shown, "")
        .property("odometer", (PropertyKind::F64, ""), shown, "")
        .function("drive", &[("distance", (PropertyKind::F64, ""))], None, function_flags::CALLABLE, drive)
        .event("on_tick", &[("seconds", (PropertyKind::F32, ""))])
        .member_docs(&[
            ("position", "Where it is, in meters."),
            ("odometer", "How far it has driven in all."),
            ("drive", "Drives so many meters; backward if they are negative."),
            ("on_tick", "So many seconds went by."),
        ])
}

/// The body of `Robot.drive`.
fn drive(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let distance: f64 = frame.take()?;
    frame.finish()?;
    let robot = frame.object();
    let (position, odometer): (f64, f64) = (world.get(robot, "position")?, world.get(robot, "odometer")?);
    world.set(robot, "position", position + distance)?;
    world.set(robot, "odometer", odometer + distance.abs())
}

/// Once in every tick: each robot's event. One that fails concerns only its robot.
fn tick(runtime: &Runtime, seconds: f32) {
    let objects = runtime.objects();
    for robot in objects.all() {
        // An event before may have destroyed it, and nothing happens to one whose class is gone for now.
        if !objects.is_alive(robot) || !objects.is_a(robot, ROBOT) || objects.dormant_class(robot).is_some() {
            continue;
        }
        if let Err(error) = objects.call(robot, "on_tick", &[Value::F32(seconds)]) {
            tracing::warn!(%error, "the tick of {} failed", objects.describe(robot));
        }
    }
}

/// Gives each class of robot that plugins declare a robot, where there is none yet.
pub fn populate(runtime: &Runtime) -> Result<(), alcedo_runtime::Error> {
    let objects = runtime.objects();
    let robots: Vec<_> = objects.all().into_iter().filter_map(|robot| objects.class_of(robot)).collect();
    for class in runtime.types().dynamic_classes() {
        if runtime.types().is_subclass(&class, ROBOT) && !robots.contains(&class) {
            objects.spawn(&class)?;
        }
    }
    Ok(())
}
