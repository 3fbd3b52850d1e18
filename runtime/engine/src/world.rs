//! `World`: state that all actors share.

use alcedo_runtime::native::uclass;

/// State that all actors share: time and gravity.
#[uclass(package = "Engine", blueprintable)]
pub struct World {
    /// Seconds since the world began.
    #[uproperty(blueprint_read)]
    time: f64,
    /// Vertical acceleration, in centimeters per second squared.
    #[uproperty(edit_anywhere, default = -980.0)]
    gravity: f64,
}
