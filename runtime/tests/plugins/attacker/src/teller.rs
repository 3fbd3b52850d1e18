// What the host `a test` declares in package `Graph`, for plugins that use it. Written by `alcedo glue`: change the host
// and write it again. While a plugin is loaded each type, member and signature is compared with the host's own.

use alcedo_plugin_api::prelude::*;

/// Its native part asks others when it ends.
#[uclass(imported, package = "Graph", base = Object)]
pub struct Teller {}
