//! What this host declares: a class of robots, which stand on a line. The program and the tests begin with [`builder`].

#![forbid(unsafe_code)]

use alcedo_runtime::native::{Class as _, This, uclass};
use alcedo_runtime::{Builder, Runtime, natives};

/// The package in which plugins declare theirs.
pub const PLUGINS: &str = "Game";

/// It stands on a line, and drives along it.
#[uclass(package = "Robots", blueprintable)]
pub struct Robot {
    /// Where it is, in meters.
    #[uproperty(edit_anywhere, blueprint_read)]
    position: f64,
    /// How far it has driven in all.
    #[uproperty(edit_anywhere, blueprint_read)]
    odometer: f64,
    /// A Rust field of the host: no plugin sees it, and it stays over reloads.
    drives: u64,
}

#[uclass]
impl Robot {
    /// Drives so many meters; backward if they are negative.
    #[ufunction(blueprint_callable)]
    fn drive(&mut self, this: This<Self>, distance: f64) {
        self.drives += 1;
        this.set_position(this.position() + distance);
        this.set_odometer(this.odometer() + distance.abs());
    }

    /// How often it drove.
    #[ufunction(blueprint_pure)]
    fn drives(&self) -> u64 {
        self.drives
    }

    /// So many seconds went by.
    #[ufunction(blueprint_native_event)]
    fn on_tick(&self, seconds: f32);
    fn on_tick_implementation(&mut self, _seconds: f32) {}
}

/// A host in the making, with all classes and without plugins.
pub fn builder() -> Builder {
    Runtime::builder().package(PLUGINS).natives(natives![Robot].ticker(tick))
}

/// Once in every tick: each robot's event. One that fails concerns only its robot.
fn tick(runtime: &Runtime, seconds: f32) {
    let objects = runtime.objects();
    for object in objects.all() {
        // An event before may have destroyed it, and nothing happens to one whose class is gone for now.
        let Some(robot) = objects.as_a::<Robot>(object) else { continue };
        if objects.dormant_class(object).is_some() {
            continue;
        }
        if let Err(error) = objects.with(robot, |robot| robot.on_tick(seconds)) {
            objects.log_failure("on_tick", object, &error);
        }
    }
}

/// Gives each class of robot that plugins declare a robot, where there is none yet.
pub fn populate(runtime: &Runtime) -> Result<(), alcedo_runtime::Error> {
    let objects = runtime.objects();
    let robots: Vec<_> = objects.all().into_iter().filter_map(|robot| objects.class_of(robot)).collect();
    for class in runtime.types().dynamic_classes() {
        if runtime.types().is_subclass(&class, Robot::PATH) && !robots.contains(&class) {
            objects.spawn(&class)?;
        }
    }
    Ok(())
}
