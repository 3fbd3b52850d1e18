//! Classes that some builds lack. While a class is missing, its objects are dormant.

use alcedo_plugin_api::prelude::*;
use engine_glue::{Actor, SceneComponent};

/// An actor whose class is removed and added again.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Ghost {
    /// Temperature drop around the ghost.
    #[uproperty(default = 10.0)]
    chill: f64,
    /// Appearance.
    #[uproperty(default = "pale")]
    look: String,
    /// Actor that the ghost follows.
    #[uproperty]
    haunts: Obj<Actor>,
    /// A default subobject.
    #[uproperty(default_subobject, root_component)]
    sheet: Obj<SceneComponent>,

    /// A kept field.
    #[keep]
    moans: u32,
    /// A field that is not kept, so each reload resets it.
    steps: u32,
}

#[uclass]
impl Ghost {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { moans: 0, steps: 0 }
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        this.set_can_tick(true);
    }

    /// Increments both fields of the plugin part, and returns them.
    #[ufunction(blueprint_callable)]
    fn moan(&mut self) -> String {
        self.moans += 1;
        self.steps += 1;
        self.own()
    }

    /// Formats the fields of the plugin part.
    #[ufunction(blueprint_pure)]
    fn own(&self) -> String {
        format!("moans={} steps={}", self.moans, self.steps)
    }
}

/// A rare ghost.
#[uclass(package = "Game", base = Ghost, blueprintable)]
pub struct Phantom {
    /// Thickness of its veil.
    #[uproperty(default = 2)]
    veil: i32,

    /// A kept field.
    #[keep]
    sightings: u32,
}

#[uclass]
impl Phantom {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { sightings: 0 }
    }

    /// Counts a sighting.
    #[ufunction(blueprint_callable)]
    fn appear(&mut self) -> u32 {
        self.sightings += 1;
        self.sightings
    }
}
