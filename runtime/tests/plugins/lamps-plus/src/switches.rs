// Declarations of the host `a test` in package `Test` for plugins, written by `alcedo glue`.
// Run it again after a change of the host. Each load of a plugin compares every type, member and signature here with the host.

use alcedo_plugin_api::prelude::*;

/// Switchable object.
#[uinterface(imported, package = "Test")]
pub trait Switches {
    /// Switches and returns the new state.
    fn switch(&self, on: bool) -> String;
}

#[uclass(imported, package = "Test", base = Object)]
pub struct Bulb {}

#[uclass(imported)]
impl Bulb {
    #[ufunction]
    fn switch(&self, on: bool) -> String;
}
