//! Glue for the class `Merchant` of the module `renames`. A later build of that module renames the class.

use alcedo_plugin_api::prelude::*;

/// A merchant.
#[uclass(imported, package = "Game", base = Object)]
pub struct Merchant {
    /// Weight in pounds.
    #[uproperty]
    weight: i32,
}
