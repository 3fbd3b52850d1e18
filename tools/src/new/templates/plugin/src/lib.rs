//! The behavior of robots. Edit and save this file while `alcedo dev` runs: existing robots continue with the new code.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
use {{glue}}::Robot;

module! { name: "{{module}}" }

/// Length of the track in meters. A robot turns at both ends of the track.
const TRACK: f64 = 10.0;

/// A robot that drives back and forth.
#[uclass(package = "Game", base = Robot, blueprintable)]
pub struct {{camel}}Robot {
    /// Meters per second. Reflected: stored in the host's object, survives every reload.
    #[uproperty(edit_anywhere, default = 1.5)]
    speed: f64,
    /// A field of the plugin: every reload resets it.
    ticks: u32,
    /// Kept: reloads save and restore it.
    #[keep]
    turns: u32,
}

#[uclass]
impl {{camel}}Robot {
    #[overrides(Robot)]
    fn on_tick(&mut self, this: This<Self>, seconds: f32) {
        self.ticks += 1;
        // A property is read and written through `this`.
        this.drive(this.speed() * f64::from(seconds));
        let speed = turned(this.position(), this.speed());
        if speed != this.speed() {
            this.set_speed(speed);
            self.turns += 1;
            tracing::info!("{} turns for the {}. time", this.name(), self.turns);
        }
    }

    /// Returns the number of ticks of this code.
    #[ufunction(blueprint_pure)]
    fn tick_count(&self) -> u32 {
        self.ticks
    }

    /// Returns the number of turns.
    #[ufunction(blueprint_pure)]
    fn turn_count(&self) -> u32 {
        self.turns
    }
}

/// Returns the next speed: negative beyond the end of the track, positive before the start of the track.
fn turned(position: f64, speed: f64) -> f64 {
    match position {
        position if position > TRACK => -speed.abs(),
        position if position < 0.0 => speed.abs(),
        _ => speed,
    }
}

// Unit tests without a host. The tests in the folder `tests` load the library into a host.
#[cfg(test)]
mod tests {
    use super::{TRACK, turned};

    #[test]
    fn a_robot_turns_at_both_ends_of_its_track() {
        assert_eq!(turned(TRACK / 2.0, 1.5), 1.5);
        assert_eq!(turned(TRACK + 0.1, 1.5), -1.5);
        assert_eq!(turned(TRACK + 0.1, -1.5), -1.5);
        assert_eq!(turned(-0.1, -1.5), 1.5);
    }
}
