//! Classes as small as they can be: what a reload costs for each object is measured on them.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

module! { name: "crowd" }

/// One of many, whose plugin part is three words that a reload makes anew.
#[uclass(package = "Game", base = Object)]
pub struct Walker {
    /// Meters a second.
    #[uproperty(default = 1.5)]
    speed: f64,

    /// Meters walked since this code began.
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

    /// Walks for so many seconds.
    #[ufunction]
    fn walk(&mut self, this: This<Self>, seconds: f64) -> f64 {
        self.walked += this.speed() * seconds;
        self.steps += 1;
        self.walked
    }

    /// Which build made this half.
    #[ufunction]
    fn made_by(&self) -> u64 {
        self.tag
    }
}

/// One of many, who keeps one of its words over a reload.
#[uclass(package = "Game", base = Object)]
pub struct Runner {
    /// Meters a second.
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

    /// Runs for so many seconds.
    #[ufunction]
    fn run_for(&mut self, this: This<Self>, seconds: f64) -> f64 {
        self.run += this.speed() * seconds;
        self.steps += 1;
        self.run
    }

    /// Which build made this half.
    #[ufunction]
    fn made_by(&self) -> u64 {
        self.tag
    }
}
