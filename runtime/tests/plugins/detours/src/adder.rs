// What the host `a test` declares in package `Test`, for plugins that use it. Written by `alcedo glue`: change the host
// and write it again. While a plugin is loaded each type, member and signature is compared with the host's own.

use alcedo_plugin_api::prelude::*;

/// The host's own adder.
#[uclass(imported, package = "Test", base = Object)]
pub struct Adder {
    /// What it has added up.
    #[uproperty]
    total: i32,
}

#[uclass(imported)]
impl Adder {
    /// The sum, by code of the host or of whoever overrides it.
    #[ufunction(blueprint_native_event)]
    fn sum_up(&self, left: i32, right: i32) -> i32;
}
