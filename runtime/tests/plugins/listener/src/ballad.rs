// What the module `Ballad` 0.0.0 declares, for plugins that use it. Written by `alcedo glue`: change the module
// and write it again. While a plugin is loaded each type, member and signature is compared with the module's own.

use alcedo_plugin_api::prelude::*;

/// Sings, and knows how often. A plugin listens to it: see runtime/tests/plugins/listener.
#[uclass(imported, package = "Ballad", base = engine_glue::Actor)]
pub struct Singer {
    /// How many songs there were.
    #[uproperty]
    songs: i32,
}

#[uclass(imported)]
impl Singer {
    /// Sings so many songs; gives how many there were in all.
    #[ufunction(blueprint_native_event)]
    fn sing(&self, times: i32) -> i32;
}
