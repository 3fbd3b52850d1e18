//! A class that sits on a component: the other declaration has it elsewhere.

use alcedo_plugin_api::prelude::*;
use engine_glue::SceneComponent;

/// Goes up and down.
#[uclass(package = "Game", base = SceneComponent, blueprintable)]
pub struct Diver {
    /// How deep it is.
    #[uproperty(default = 3.0)]
    depth: f64,
    /// Which class constructor it had last.
    #[uproperty]
    constructed_as: String,
    /// What it wears, on every base.
    #[uproperty(default_subobject)]
    suit: Obj<SceneComponent>,

    /// Kept.
    #[keep]
    dives: u32,
    /// Not kept.
    breath: u32,
}

#[uclass]
impl Diver {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { dives: 0, breath: 0 }
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        this.set_constructed_as("component");
    }

    /// It dives once more.
    #[ufunction(blueprint_callable)]
    fn dive(&mut self) -> String {
        self.dives += 1;
        self.breath += 1;
        self.own()
    }

    /// What is the plugin's own.
    #[ufunction(blueprint_pure)]
    fn own(&self) -> String {
        format!("component dives={} breath={}", self.dives, self.breath)
    }
}
