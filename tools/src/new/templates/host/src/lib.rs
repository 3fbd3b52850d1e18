//! The declarations of this host: a class of robots on a line. The program and the tests create a host with [`builder`].

#![forbid(unsafe_code)]

use alcedo::native::{Class as _, This, uclass};
use alcedo::{Builder, ObjectHandle, Runtime, natives};

/// Package in which plugins declare their types.
pub const PLUGINS: &str = "Game";

/// A robot that drives along a line.
#[uclass(package = "Robots", blueprintable)]
pub struct Robot {
    /// Position on the line, in meters.
    #[uproperty(edit_anywhere, blueprint_read)]
    position: f64,
    /// Total distance driven, in meters.
    #[uproperty(edit_anywhere, blueprint_read)]
    odometer: f64,
    /// A Rust field of the host: plugins cannot access it, and reloads keep it.
    drives: u64,
}

#[uclass]
impl Robot {
    /// Drives `distance` meters; backward if negative.
    #[ufunction(blueprint_callable)]
    fn drive(&mut self, this: This<Self>, distance: f64) {
        self.drives += 1;
        this.set_position(this.position() + distance);
        this.set_odometer(this.odometer() + distance.abs());
    }

    /// Returns the number of drives.
    #[ufunction(blueprint_pure)]
    fn drives(&self) -> u64 {
        self.drives
    }

    /// Called every tick; `seconds` is the time since the last tick.
    #[ufunction(blueprint_native_event)]
    fn on_tick(&self, seconds: f32);
    fn on_tick_implementation(&mut self, _seconds: f32) {}
}

/// Returns a host builder with all classes and without plugins.
pub fn builder() -> Builder {
    Runtime::builder().package(PLUGINS).natives(natives![Robot].ticker(tick))
}

/// Calls `on_tick` of each robot, once per tick. An error of one robot does not affect the other robots.
fn tick(runtime: &Runtime, seconds: f32) {
    let objects = runtime.objects();
    for object in objects.iter() {
        // An earlier event may have destroyed this object; dormant objects are skipped.
        let Some(robot) = objects.cast::<Robot>(object) else { continue };
        if objects.dormant_class(object).is_some() {
            continue;
        }
        if let Err(error) = objects.with(robot, |robot| robot.on_tick(seconds)) {
            objects.log_failure("on_tick", object, &error);
        }
    }
}

/// Spawns a robot of each class that plugins declare, unless there is one already. A class that cannot be spawned, for example an
/// abstract class, does not affect the other classes.
pub fn populate(runtime: &Runtime) {
    let objects = runtime.objects();
    let robots: Vec<_> = objects.iter().filter_map(|robot| objects.class_of(robot)).collect();
    for class in runtime.types().dynamic_classes() {
        if runtime.types().is_subclass(&class, Robot::PATH)
            && !robots.contains(&class)
            && let Err(error) = objects.spawn(&class)
        {
            objects.log_failure("spawn", ObjectHandle::NONE, &error);
        }
    }
}
