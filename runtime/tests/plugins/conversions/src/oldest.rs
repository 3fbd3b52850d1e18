//! Declaration that the first declaration replaces. The heat is a string.

use alcedo_plugin_api::prelude::*;

/// A gauge.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Gauge {
    /// Heat in degrees, with the unit.
    #[uproperty(default = "20 C")]
    heat: String,
}

/// Value of a sensor.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct Reading {
    /// Number.
    pub value: f64,
}

/// A sensor.
#[uclass(package = "Game")]
#[derive(Default)]
pub struct Sensor {
    /// Latest value.
    #[uproperty]
    reading: Reading,
    /// Factor that converts the value to its unit.
    #[uproperty(default = 2.0)]
    scale: f64,
}
