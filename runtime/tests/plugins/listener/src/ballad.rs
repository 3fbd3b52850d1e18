// Declarations of the module `Ballad` 0.0.0 for plugins, written by `alcedo glue`.
// Run it again after a change of the module. Each load of a plugin compares every type, member and signature here with the module.
// Types of other packages: Engine=engine_glue

use alcedo_plugin_api::prelude::*;

/// Sings and counts songs. A plugin uses it: see runtime/tests/plugins/listener.
#[uclass(imported, package = "Ballad", base = engine_glue::Actor)]
pub struct Singer {
    /// Number of songs.
    #[uproperty]
    songs: i32,
}

#[uclass(imported)]
impl Singer {
    /// Sings `times` songs; returns the number of all songs.
    #[ufunction(blueprint_native_event)]
    fn sing(&self, times: i32) -> i32;
}
