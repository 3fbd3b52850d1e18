// Declarations of the host `a test` in package `Test` for plugins, written by `alcedo glue`.
// Run it again after a change of the host. Each load of a plugin compares every type, member and signature here with the host.

use alcedo_plugin_api::prelude::*;

/// A bell of the host was rung.
#[udelegate(imported, multicast, package = "Test")]
pub type OnRung = fn(times: u32);

/// A gong of the host.
#[uclass(imported, package = "Test", base = Object)]
pub struct Gong {
    /// Called at each stroke.
    #[uproperty]
    on_rung: OnRung,
}
