//! Glue of the scale that the module `renames` declares at first.

use alcedo_plugin_api::prelude::*;

/// Weighs.
#[uclass(imported, package = "Game", base = Object)]
pub struct Scale {
    /// In pounds.
    #[uproperty]
    weight: i32,
    /// The owner.
    #[uproperty]
    label: String,
    /// The year of its test.
    #[uproperty]
    stamp: u32,
}

#[uclass(imported)]
impl Scale {
    /// Reads out the owner.
    #[ufunction]
    fn owner(&self) -> String;
    /// Presses it down.
    #[ufunction]
    fn press(&self, by: i32) -> i32;
}
