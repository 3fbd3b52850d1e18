// What the host `a test` declares in package `Test`, for plugins that use it. Written by `alcedo glue`: change the host
// and write it again. While a plugin is loaded each type, member and signature is compared with the host's own.

use alcedo_plugin_api::prelude::*;

/// A place, as the host has it.
#[ustruct(pod, imported, package = "Test")]
#[derive(Debug, Default, PartialEq)]
pub struct Place {
    pub x: f64,
}
