// What the host `a test` declares in package `Test`, for plugins that use it. Written by `alcedo glue`: change the host
// and write it again. While a plugin is loaded each type, member and signature is compared with the host's own.

use alcedo_plugin_api::prelude::*;

/// How somebody feels.
#[uenum(imported, package = "Test")]
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Mood {
    #[default]
    Calm = 0,
    Angry = 1,
    Lost = 9,
}
