//! What these robots do. Save this file while `alcedo dev` runs: they go on with the new code.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
use {{glue}}::Robot;

module! { name: "{{module}}" }

/// How far from its start a robot turns, in meters.
const TRACK: f64 = 10.0;

/// A robot that drives to and fro.
#[uclass(package = "Game", base = Robot, blueprintable)]
pub struct {{camel}}Robot {
    /// Meters a second. Reflected: it lives in the host's object and survives every reload.
    #[uproperty(edit_anywhere, default = 1.5)]
    speed: f64,
    /// Ours: built anew in every reload …
    ticks: u32,
    /// … unless we ask to keep it.
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

    /// How many ticks this code has seen.
    #[ufunction(blueprint_pure)]
    fn tick_count(&self) -> u32 {
        self.ticks
    }

    /// How often it has turned.
    #[ufunction(blueprint_pure)]
    fn turn_count(&self) -> u32 {
        self.turns
    }
}

/// The speed from here on: backward behind the end of the track, forward before its start.
fn turned(position: f64, speed: f64) -> f64 {
    match position {
        position if position > TRACK => -speed.abs(),
        position if position < 0.0 => speed.abs(),
        _ => speed,
    }
}

// What needs no host is tested here; `tests` loads the library.
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
