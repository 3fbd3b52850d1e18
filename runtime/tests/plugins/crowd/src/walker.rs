//! Class without a kept field.

use alcedo_plugin_api::prelude::*;

use crate::SCALE;

/// Inserted base of walkers.
#[cfg(feature = "base-inserted")]
#[uclass(package = "Game", base = Object, blueprintable)]
#[derive(Default)]
pub struct Mover {}

/// Class with a plugin part of three words, which a reload creates again.
#[cfg(not(any(feature = "other-default", feature = "property-added", feature = "base-inserted")))]
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

/// Class with a plugin part of three words, which a reload creates again.
#[cfg(feature = "other-default")]
#[uclass(package = "Game", base = Object)]
pub struct Walker {
    /// Speed in meters per second.
    #[uproperty(default = 1.75)]
    speed: f64,

    /// Meters walked since this generation was loaded.
    walked: f64,
    steps: u64,
    tag: u64,
}

/// Class with a plugin part of three words, which a reload creates again.
#[cfg(feature = "property-added")]
#[uclass(package = "Game", base = Object)]
pub struct Walker {
    /// Speed in meters per second.
    #[uproperty(default = 1.5)]
    speed: f64,

    /// Additional property.
    #[uproperty(default = 0.5)]
    stride: f64,

    /// Meters walked since this generation was loaded.
    walked: f64,
    steps: u64,
    tag: u64,
}

/// Class with a plugin part of three words, which a reload creates again.
#[cfg(feature = "base-inserted")]
#[uclass(package = "Game", base = Mover)]
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
        self.walked += this.speed() * seconds * SCALE;
        self.steps += 1;
        self.walked
    }

    /// Returns the tag of the build that created the plugin part.
    #[ufunction]
    fn made_by(&self) -> u64 {
        self.tag
    }
}
