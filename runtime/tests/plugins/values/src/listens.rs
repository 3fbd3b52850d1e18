// What the host `a test` declares in package `Test`, for plugins that use it. Written by `alcedo glue`: change the host
// and write it again. While a plugin is loaded each type, member and signature is compared with the host's own.

use alcedo_plugin_api::prelude::*;

/// What hears a sound.
#[uinterface(imported, package = "Test")]
pub trait Listens {}
