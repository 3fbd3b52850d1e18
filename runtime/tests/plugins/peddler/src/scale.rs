//! Glue for the first version of the class `Scale` in the module `renames`.

use alcedo_plugin_api::prelude::*;

/// A scale.
#[uclass(imported, package = "Game", base = Object)]
pub struct Scale {
    /// Weight in pounds.
    #[uproperty]
    weight: i32,
    /// The owner.
    #[uproperty]
    label: String,
    /// Year in which the scale was tested.
    #[uproperty]
    stamp: u32,
}

#[uclass(imported)]
impl Scale {
    /// Reads out the owner.
    #[ufunction]
    fn owner(&self) -> String;
    /// Presses the scale down.
    #[ufunction]
    fn press(&self, by: i32) -> i32;
}
