//! The declaration before the first one: the heat is a string.

use alcedo_plugin_api::prelude::*;

/// A gauge.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Gauge {
    /// Heat in degrees, with the unit.
    #[uproperty(default = "20 C")]
    heat: String,
}
