// Declarations of the host `a test` in package `Test` for plugins, written by `alcedo glue`.
// Run it again after a change of the host. Each load of a plugin compares every type, member and signature here with the host.

use alcedo_plugin_api::prelude::*;

/// The host's own adder.
#[uclass(imported, package = "Test", base = Object)]
pub struct Adder {
    /// Sum of all additions.
    #[uproperty]
    total: i32,
}

#[uclass(imported)]
impl Adder {
    /// The sum, computed by the host or by an override.
    #[ufunction(blueprint_native_event)]
    fn sum_up(&self, left: i32, right: i32) -> i32;
}
