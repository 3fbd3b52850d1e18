//! Declaration that replaces the later declaration. The heat is a number in tenths of a degree, and the health has other fields.

use alcedo_plugin_api::prelude::*;

use crate::count;

/// A gauge.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Gauge {
    /// Heat in tenths of a degree.
    #[uproperty(default = 200.0)]
    #[migrate(from = "i32", with = Self::tenths)]
    heat: f32,
}

impl Gauge {
    fn tenths(heat: i32) -> f32 {
        count();
        heat as f32 * 10.0
    }
}

/// Health of a pilot in the later declaration.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct HealthV2 {
    /// Points.
    pub points: f64,
    /// Points and power of spells.
    pub energy: f64,
}

/// Health of a pilot.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct HealthV3 {
    /// Points.
    pub points: f64,
    /// Share of the energy that does not consist of points.
    pub magic: f64,
}

/// A pilot.
#[uclass(package = "Game")]
#[derive(Default)]
pub struct Pilot {
    /// Health.
    #[uproperty]
    #[migrate(from = "HealthV2", with = Self::of_health)]
    health: HealthV3,
}

impl Pilot {
    fn of_health(health: HealthV2) -> HealthV3 {
        count();
        HealthV3 { points: health.points + 0.5, magic: health.energy - health.points }
    }
}
