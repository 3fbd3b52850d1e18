//! Later declaration of further classes, with conversions of their structs, references, subobjects and bases.

use alcedo_plugin_api::prelude::*;
use engine_glue::{Actor, SceneComponent};

use crate::count;
use crate::later::Gauge;

/// Health of a pilot in the first declaration.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct HealthV1 {
    /// Points.
    pub points: f64,
    /// Power of spells.
    pub mana: f64,
}

/// Health of a pilot.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct HealthV2 {
    /// Points.
    pub points: f64,
    /// Points and power of spells.
    pub energy: f64,
}

/// Orders of a pilot in the first declaration, in which the field was a soft reference.
#[ustruct(pod, package = "Game")]
pub struct OrdersV1 {
    /// Actor that the pilot escorts.
    pub escorted: Obj<Actor>,
}

/// A pilot.
#[uclass(package = "Game")]
#[derive(Default)]
pub struct Pilot {
    /// Health.
    #[uproperty]
    #[migrate(from = "HealthV1", with = Self::of_health)]
    health: HealthV2,
    /// Pilot that this pilot attacks.
    #[uproperty]
    #[migrate(from = "Obj<Gauge>", with = Self::of_target)]
    target: Obj<Pilot>,
    /// Set if the pilot follows an actor.
    #[uproperty]
    #[migrate(from = "Obj<Actor>", with = Self::of_guide)]
    guide: bool,
    /// Set if the pilot escorts an actor.
    #[uproperty]
    #[migrate(from = "OrdersV1", with = Self::of_orders)]
    orders: bool,
    /// Own gauge.
    #[uproperty(default_subobject)]
    gauge: Obj<Gauge>,
}

impl Pilot {
    fn of_health(health: HealthV1) -> HealthV2 {
        count();
        HealthV2 { points: health.points * 2.0, energy: health.points + health.mana }
    }

    fn of_target(_target: Obj<Gauge>) -> Obj<Self> {
        count();
        Obj::none()
    }

    fn of_guide(guide: Obj<Actor>) -> bool {
        count();
        !guide.is_none()
    }

    fn of_orders(orders: OrdersV1) -> bool {
        count();
        !orders.escorted.is_none()
    }
}

/// A buoy, which is a component.
#[uclass(package = "Game", base = SceneComponent)]
#[derive(Default)]
pub struct Buoy {
    /// Depth in centimeters.
    #[uproperty]
    #[migrate(from = "f64", with = Self::of_meters)]
    depth: i32,
}

impl Buoy {
    fn of_meters(depth: f64) -> i32 {
        count();
        (depth * 100.0).round() as i32
    }
}

/// A gauge that declares a coordinate of its own, because the base no longer has this coordinate.
#[uclass(package = "Game", base = Gauge)]
#[derive(Default)]
pub struct Compass {
    /// Eastern coordinate.
    #[uproperty]
    east: f64,
}

/// Value of a sensor. One of its fields differs from the first declaration.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct Reading {
    /// Number.
    pub value: f64,
    /// Quality in percent.
    #[uproperty(default = 100)]
    pub quality: i32,
}

/// Properties of a sensor in the first declaration.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct SensorV1 {
    /// Latest value.
    pub reading: Reading,
    /// Factor that converts the value to its unit.
    pub scale: f64,
}

/// Properties of a sensor.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct SensorV2 {
    /// Level in units.
    pub level: f64,
}

/// A sensor.
#[uclass(package = "Game")]
#[migrate(from = "SensorV1", to = "SensorV2", with = Self::of_v1)]
#[derive(Default)]
pub struct Sensor {
    /// Level in units.
    #[uproperty]
    level: f64,
}

impl Sensor {
    fn of_v1(earlier: SensorV1) -> SensorV2 {
        count();
        SensorV2 { level: earlier.reading.value * earlier.scale + f64::from(earlier.reading.quality) }
    }
}
