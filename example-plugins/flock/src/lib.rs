//! Birds of the Bevy app in `runtime/examples/bevy`. Each entity of the app has an object of `Bird`. In each frame, the app runs the
//! functions with the metadata `system` for all birds.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

use crate::app::Behavior;

// Types of the app, written by `alcedo glue`.
mod app;

module! { name: "flock" }

/// Data of a bird. Position and velocity are components of Bevy. The base class contains copies of both.
#[cfg(not(feature = "weary"))]
#[uclass(package = "Game", base = Behavior)]
pub struct Bird {
    /// Number of frames.
    #[uproperty]
    frames: u32,
    /// Number of eggs.
    #[uproperty(edit_anywhere)]
    eggs: u32,
}

/// Data of a bird that tires.
#[cfg(feature = "weary")]
#[uclass(package = "Game", base = Behavior)]
pub struct Bird {
    /// Number of frames.
    #[uproperty]
    frames: u32,
    /// Number of eggs.
    #[uproperty(edit_anywhere)]
    eggs: u32,
    /// Seconds until the bird leaves the flock.
    #[uproperty(edit_anywhere, default = 10.0)]
    strength: f32,
}

#[uclass]
impl Bird {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        assert!(!fixture::on!("panic-in-constructor"), "a broken wing");
        Self {}
    }

    /// Moves the bird by its velocity, or further in a gust.
    #[ufunction(meta(system = "1"))]
    fn fly(&self, this: This<Self>, seconds: f32) {
        assert!(!fixture::on!("panic-at-the-fence") || this.x() < 500.0, "the fence");
        let gust = if fixture::on!("gust") { 2.0 } else { 1.0 };
        this.set_x(this.x() + this.velocity_x() * seconds * gust);
        this.set_y(this.y() + this.velocity_y() * seconds * gust);
        this.set_frames(this.frames() + 1);
    }

    /// Hatches an egg. The app spawns an entity for the new bird.
    #[ufunction(meta(system = "2"))]
    fn hatch(&self, this: This<Self>, _seconds: f32) -> Result<(), CallError> {
        if this.eggs() > 0 {
            this.set_eggs(this.eggs() - 1);
            let chick = this.get(this.spawn::<Self>(Obj::none())?)?;
            chick.set_x(this.x());
            chick.set_y(this.y());
        }
        Ok(())
    }

    /// Tires the bird. A bird without strength leaves, and the app despawns its entity.
    #[cfg(feature = "weary")]
    #[ufunction(meta(system = "3"))]
    fn tire(&self, this: This<Self>, seconds: f32) -> Result<(), CallError> {
        this.set_strength(this.strength() - seconds);
        if this.strength() > 0.0 { Ok(()) } else { this.destroy() }
    }
}
