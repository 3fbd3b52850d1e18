//! `World`: what all actors share.

use alcedo_runtime::native::uclass;

/// What all actors share: the time, and the gravity.
#[uclass(package = "Engine", blueprintable)]
pub struct World {
    /// Seconds since it began.
    #[uproperty(blueprint_read)]
    time: f64,
    /// How strongly it pulls down, in centimeters per second and second.
    #[uproperty(edit_anywhere, default = -980.0)]
    gravity: f64,
}
