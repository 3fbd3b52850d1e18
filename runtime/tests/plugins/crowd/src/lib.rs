//! Minimal classes for measuring the cost of a reload per object.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

module! { name: "crowd" }

/// Class with a plugin part of three words, which a reload creates again.
#[uclass(package = "Game", base = Object)]
pub struct Walker {
    /// Speed in meters per second.
    #[uproperty(default = 1.5)]
    speed: f64,

    /// Meters walked since this generation was loaded.
    walked: f64,
    steps: u64,
    tag: u64,
}

#[uclass]
impl Walker {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { walked: 0.0, steps: 0, tag: fixture::tag() }
    }

    /// Walks for a number of seconds.
    #[ufunction]
    fn walk(&mut self, this: This<Self>, seconds: f64) -> f64 {
        self.walked += this.speed() * seconds;
        self.steps += 1;
        self.walked
    }

    /// Returns the tag of the build that created the plugin part.
    #[ufunction]
    fn made_by(&self) -> u64 {
        self.tag
    }
}

/// Class with one kept field.
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

#[uclass]
impl Runner {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { run: 0.0, steps: 0, tag: fixture::tag() }
    }

    /// Runs for a number of seconds.
    #[ufunction]
    fn run_for(&mut self, this: This<Self>, seconds: f64) -> f64 {
        self.run += this.speed() * seconds;
        self.steps += 1;
        self.run
    }

    /// Returns the tag of the build that created the plugin part.
    #[ufunction]
    fn made_by(&self) -> u64 {
        self.tag
    }
}
