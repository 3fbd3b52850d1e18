// What the host `a test` declares in package `Test`, for plugins that use it. Written by `alcedo glue`: change the host
// and write it again. While a plugin is loaded each type, member and signature is compared with the host's own.

use alcedo_plugin_api::prelude::*;

/// A bell of the host was rung.
#[udelegate(imported, multicast, package = "Test")]
pub type OnRung = fn(times: u32);

/// It is beaten.
#[uclass(imported, package = "Test", base = Object)]
pub struct Gong {
    /// Is told each time.
    #[uproperty]
    on_rung: OnRung,
}
