// Declarations of the module `Ballad` 0.0.0 for plugins, written by `alcedo glue`.
// Run it again after a change of the module. Each load of a plugin compares every type, member and signature here with the module.

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
