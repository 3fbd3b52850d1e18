//! Class with a kept field.

use alcedo_plugin_api::prelude::*;

use crate::SCALE;

/// Inserted base of runners.
#[cfg(feature = "base-inserted")]
#[uclass(package = "Game", base = Object, blueprintable)]
#[derive(Default)]
pub struct Athlete {}

/// Class with one kept field.
#[cfg(not(any(feature = "other-default", feature = "property-added", feature = "base-inserted")))]
#[uclass(package = "Game", base = Object)]
pub struct Runner {
    /// Speed in meters per second.
    #[uproperty(default = 4.5)]
    speed: f64,

    #[keep]
    run: f64,
    steps: u64,
    tag: u64,
}

/// Class with one kept field.
#[cfg(feature = "other-default")]
#[uclass(package = "Game", base = Object)]
pub struct Runner {
    /// Speed in meters per second.
    #[uproperty(default = 4.75)]
    speed: f64,

    #[keep]
    run: f64,
    steps: u64,
    tag: u64,
}

/// Class with one kept field.
#[cfg(feature = "property-added")]
#[uclass(package = "Game", base = Object)]
pub struct Runner {
    /// Speed in meters per second.
    #[uproperty(default = 4.5)]
    speed: f64,

    /// Additional property.
    #[uproperty(default = 0.5)]
    stride: f64,

    #[keep]
    run: f64,
    steps: u64,
    tag: u64,
}

/// Class with one kept field.
#[cfg(feature = "base-inserted")]
#[uclass(package = "Game", base = Athlete)]
pub struct Runner {
    /// Speed in meters per second.
    #[uproperty(default = 4.5)]
    speed: f64,

    #[keep]
    run: f64,
    steps: u64,
    tag: u64,
}

#[uclass]
impl Runner {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { run: 0.0, steps: 0, tag: fixture::tag() }
    }

    /// Runs for a number of seconds.
    #[ufunction]
    fn run_for(&mut self, this: This<Self>, seconds: f64) -> f64 {
        self.run += this.speed() * seconds * SCALE;
        self.steps += 1;
        self.run
    }

    /// Returns the tag of the build that created the plugin part.
    #[ufunction]
    fn made_by(&self) -> u64 {
        self.tag
    }
}
