//! First declaration of further classes. Later builds convert their structs, references, subobjects and bases.

use alcedo_plugin_api::prelude::*;
use engine_glue::Actor;

use crate::first::Gauge;

/// Health of a pilot.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct HealthV1 {
    /// Points.
    pub points: f64,
    /// Power of spells.
    pub mana: f64,
}

/// Orders of a pilot.
#[ustruct(package = "Game")]
pub struct OrdersV1 {
    /// Actor that the pilot escorts.
    escorted: SoftObject<Actor>,
}

/// A pilot.
#[uclass(package = "Game")]
#[derive(Default)]
pub struct Pilot {
    /// Health.
    #[uproperty]
    health: HealthV1,
    /// Gauge that the pilot reads.
    #[uproperty]
    target: Obj<Gauge>,
    /// Actor that the pilot follows.
    #[uproperty]
    guide: Obj<Actor>,
    /// Orders.
    #[uproperty]
    orders: OrdersV1,
    /// Own gauge.
    #[uproperty(default_subobject)]
    gauge: Obj<Gauge>,
}

/// A buoy, which is an actor.
#[uclass(package = "Game", base = Actor)]
#[derive(Default)]
pub struct Buoy {
    /// Depth in meters.
    #[uproperty]
    depth: f64,
}

/// A gauge that inherits its coordinates from its base.
#[uclass(package = "Game", base = Gauge)]
#[derive(Default)]
pub struct Compass {}

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
    #[uproperty(default = 1.0)]
    scale: f64,
}
