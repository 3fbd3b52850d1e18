//! Later declaration of the class `Gauge`. The heat is a whole number, the filling a fraction, and the location has a distance.

use alcedo_plugin_api::prelude::*;

use crate::count;

/// Location of a gauge in the first declaration.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct GaugeV1 {
    /// Eastern coordinate.
    pub east: f64,
    /// Northern coordinate.
    pub north: f64,
}

/// Eastern coordinate of a gauge in the first declaration.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct GaugeV0 {
    /// Eastern coordinate.
    pub east: f64,
}

/// Location of a gauge.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct GaugeV2 {
    /// Distance from the origin.
    pub distance: f64,
    /// Northern coordinate.
    pub north: f64,
}

/// A gauge.
#[uclass(package = "Game", blueprintable)]
#[migrate(from = "GaugeV1", to = "GaugeV2", with = Self::of_v1)]
#[migrate(from = "GaugeV0", to = "GaugeV2", with = Self::of_v0)]
#[derive(Default)]
pub struct Gauge {
    /// Heat in degrees.
    #[uproperty(default = 20)]
    #[migrate(from = "f64", with = Self::rounded)]
    #[migrate(from = "String", with = of_text)]
    heat: i32,
    /// Filling as a fraction.
    #[uproperty(default = 0.5)]
    #[migrate(from = "i32", with = Self::fraction)]
    filling: f64,
    /// Sum of the weights on the scale.
    #[uproperty]
    #[migrate(from = "Borrowed<UArray<f64>>", with = Self::sum)]
    weights: f64,
    /// Distance from the origin.
    #[uproperty(default = 1.0)]
    distance: f64,
    /// Northern coordinate.
    #[uproperty]
    north: f64,
}

impl Gauge {
    fn rounded(heat: f64) -> Result<i32, String> {
        count();
        if heat > 1000.0 && fixture::on!("fails") {
            return Err("too hot".to_owned());
        }
        if fixture::on!("calls") {
            zcall::<_, ()>("ex:/host.touch", ()).map_err(|error| error.to_string())?;
        }
        assert!(heat <= 1000.0 || !fixture::on!("panics"), "it melts");
        Ok(heat.round() as i32)
    }

    fn fraction(percentage: i32) -> f64 {
        count();
        f64::from(percentage) / 100.0
    }

    fn sum(weights: Borrowed<'_, UArray<f64>>) -> f64 {
        count();
        weights.iter().sum()
    }

    fn of_v1(earlier: GaugeV1) -> GaugeV2 {
        count();
        GaugeV2 { distance: earlier.east.hypot(earlier.north), north: earlier.north * 2.0 }
    }

    fn of_v0(earlier: GaugeV0) -> GaugeV2 {
        count();
        GaugeV2 { distance: -earlier.east, north: -1.0 }
    }
}

fn of_text(heat: String) -> Result<i32, String> {
    count();
    let number = heat.trim_end_matches(" C");
    number.parse().map_err(|error| format!("{number}: {error}"))
}
