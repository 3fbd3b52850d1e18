// Declarations of the host `a test` in package `Test` for plugins, written by `alcedo glue`.
// Run it again after a change of the host. Each load of a plugin compares every type, member and signature here with the host.

use alcedo_plugin_api::prelude::*;

/// Location declared by the host.
#[ustruct(pod, imported, package = "Test")]
#[derive(Debug, Default, PartialEq)]
pub struct Place {
    pub x: f64,
}
