//! Classes that are not in every build: what becomes of their objects meanwhile?

use alcedo_plugin_api::prelude::*;
use engine_glue::{Actor, SceneComponent};

/// An actor that comes and goes.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Ghost {
    /// How cold it makes.
    #[uproperty(default = 10.0)]
    chill: f64,
    /// What is seen of it.
    #[uproperty(default = "pale")]
    look: String,
    /// Whom it follows.
    #[uproperty]
    haunts: Obj<Actor>,
    /// What it wears.
    #[uproperty(default_subobject, root_component)]
    sheet: Obj<SceneComponent>,

    /// Kept.
    #[keep]
    moans: u32,
    /// Not kept.
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

    /// Changes everything that is the plugin's own, and says what it is now.
    #[ufunction(blueprint_callable)]
    fn moan(&mut self) -> String {
        self.moans += 1;
        self.steps += 1;
        self.own()
    }

    /// What is the plugin's own.
    #[ufunction(blueprint_pure)]
    fn own(&self) -> String {
        format!("moans={} steps={}", self.moans, self.steps)
    }
}

/// A ghost that is seldom seen.
#[uclass(package = "Game", base = Ghost, blueprintable)]
pub struct Phantom {
    /// How thick its veil is.
    #[uproperty(default = 2)]
    veil: i32,

    /// Kept.
    #[keep]
    sightings: u32,
}

#[uclass]
impl Phantom {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { sightings: 0 }
    }

    /// It is seen once more.
    #[ufunction(blueprint_callable)]
    fn appear(&mut self) -> u32 {
        self.sightings += 1;
        self.sightings
    }
}
