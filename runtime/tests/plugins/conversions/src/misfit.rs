//! A class whose conversion sets a property that the class does not have.

use alcedo_plugin_api::prelude::*;

/// Properties of an earlier scale.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct ScaleV1 {
    /// Weight in pounds.
    pub pounds: f64,
}

/// Properties of a scale.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct ScaleV2 {
    /// Weight in kilograms.
    pub kilograms: f64,
}

/// A scale.
#[uclass(package = "Game")]
#[migrate(from = "ScaleV1", to = "ScaleV2", with = Self::of_v1)]
#[derive(Default)]
pub struct Scale {
    /// Weight in grams.
    #[uproperty]
    grams: f64,
}

impl Scale {
    fn of_v1(earlier: ScaleV1) -> ScaleV2 {
        ScaleV2 { kilograms: earlier.pounds * 0.4536 }
    }
}
