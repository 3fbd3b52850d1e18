//! A class that extends a component. The declaration in `diver.rs` extends an actor.

use alcedo_plugin_api::prelude::*;
use engine_glue::SceneComponent;

/// Dives and rises.
#[uclass(package = "Game", base = SceneComponent, blueprintable)]
pub struct Diver {
    /// Current depth.
    #[uproperty(default = 3.0)]
    depth: f64,
    /// The class constructor that ran last.
    #[uproperty]
    constructed_as: String,
    /// A default subobject that both declarations have.
    #[uproperty(default_subobject)]
    suit: Obj<SceneComponent>,

    /// A kept field.
    #[keep]
    dives: u32,
    /// A field that is not kept, so each reload resets it.
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

    /// Counts a dive.
    #[ufunction(blueprint_callable)]
    fn dive(&mut self) -> String {
        self.dives += 1;
        self.breath += 1;
        self.own()
    }

    /// Formats the fields of the plugin part.
    #[ufunction(blueprint_pure)]
    fn own(&self) -> String {
        format!("component dives={} breath={}", self.dives, self.breath)
    }
}
