//! First declaration of the class `Gauge`. The heat is a number, the filling a percentage, and the location two numbers.

use alcedo_plugin_api::prelude::*;

use crate::count;

/// A gauge.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Gauge {
    /// Heat in degrees.
    #[uproperty(default = 20.0)]
    heat: f64,
    /// Filling in percent.
    #[uproperty(default = 50)]
    #[migrate(from = "f64", with = Self::percentage)]
    filling: i32,
    /// Weights on the scale.
    #[uproperty]
    weights: UArray<f64>,
    /// Eastern coordinate.
    #[uproperty]
    east: f64,
    /// Northern coordinate.
    #[uproperty]
    north: f64,
}

impl Gauge {
    fn percentage(fraction: f64) -> i32 {
        count();
        (fraction * 100.0).round() as i32
    }
}
