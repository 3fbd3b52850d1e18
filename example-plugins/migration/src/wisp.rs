//! A class that only the later declaration has.

use alcedo_plugin_api::prelude::*;
use engine_glue::Actor;

/// A light that exists only in the build without ghosts.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Wisp {
    /// Brightness.
    #[uproperty(default = 1.0)]
    light: f64,

    /// A kept field.
    #[keep]
    flickers: u32,
}

#[uclass]
impl Wisp {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { flickers: 0 }
    }

    /// Counts a flicker.
    #[ufunction(blueprint_callable)]
    fn flicker(&mut self) -> u32 {
        self.flickers += 1;
        self.flickers
    }
}
