// Declarations of the host `bevy-host` in package `Bevy` for plugins, written by `alcedo glue`.
// Run it again after a change of the host. Each load of a plugin compares every type, member and signature here with the host.

use alcedo_plugin_api::prelude::*;

/// Native class that plugins extend to script entities.
#[uclass(imported, package = "Bevy", base = Object)]
pub struct Behavior {
    /// Position to the right.
    #[uproperty]
    x: f32,
    /// Position upward.
    #[uproperty]
    y: f32,
    /// Velocity to the right, per second.
    #[uproperty]
    velocity_x: f32,
    /// Velocity upward, per second.
    #[uproperty]
    velocity_y: f32,
}
