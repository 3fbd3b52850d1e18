// Declarations of the host `a test` in package `Graph` for plugins, written by `alcedo glue`.
// Run it again after a change of the host. Each load of a plugin compares every type, member and signature here with the host.

use alcedo_plugin_api::prelude::*;

/// The native part calls another object when it is destroyed.
#[uclass(imported, package = "Graph", base = Object)]
pub struct Teller {}
