//! An actor that turns and rises. Edit and save this file while `alcedo dev` runs: existing objects continue with the new code.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
use engine_glue::{Actor, Rotator, Vector};

module! { name: "{{module}}" }

/// Height above which an actor returns to the ground.
const CEILING: f64 = 10.0;

/// An actor that turns and rises.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct {{camel}}Actor {
    /// Degrees per second. Reflected: stored in the host's object, survives every reload.
    #[uproperty(edit_anywhere, default = 90.0)]
    turning: f64,
    /// A field of the plugin: every reload resets it.
    ticks: u32,
    /// Kept: reloads save and restore it.
    #[keep]
    flights: u32,
}

#[uclass]
impl {{camel}}Actor {
    /// Runs once per object.
    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        this.set_can_tick(true);
    }

    #[overrides(Actor)]
    fn receive_tick(&mut self, this: This<Self>, delta: f32) {
        self.ticks += 1;
        // A property is read and written through `this`.
        this.add_rotation(Rotator::yaw(this.turning() * f64::from(delta)));
        let z = risen(this.location().z, f64::from(delta));
        if z < this.location().z {
            self.flights += 1;
            tracing::info!("{} has flown for the {}. time", this.name(), self.flights);
        }
        this.set_location(Vector::up(z));
    }

    /// Returns the number of ticks of this code.
    #[ufunction(blueprint_pure)]
    fn tick_count(&self) -> u32 {
        self.ticks
    }

    /// Returns how often this actor has reached the ceiling.
    #[ufunction(blueprint_pure)]
    fn flight_count(&self) -> u32 {
        self.flights
    }
}

/// Returns the next height: zero if this height would be above the ceiling.
fn risen(z: f64, delta: f64) -> f64 {
    if z + delta > CEILING { 0.0 } else { z + delta }
}

// Unit tests without a host. The tests in the folder `tests` load the library into a host.
#[cfg(test)]
mod tests {
    use super::{CEILING, risen};

    #[test]
    fn a_flight_rises_to_the_ceiling_and_restarts() {
        assert_eq!(risen(1.0, 0.5), 1.5);
        assert_eq!(risen(CEILING, 0.5), 0.0);
    }
}
