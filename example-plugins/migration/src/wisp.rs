//! A class that the later declaration has and the earlier has not.

use alcedo_plugin_api::prelude::*;
use engine_glue::Actor;

/// A light that is there when ghosts are not.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Wisp {
    /// How bright it is.
    #[uproperty(default = 1.0)]
    light: f64,

    /// Kept.
    #[keep]
    flickers: u32,
}

#[uclass]
impl Wisp {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { flickers: 0 }
    }

    /// It flickers once more.
    #[ufunction(blueprint_callable)]
    fn flicker(&mut self) -> u32 {
        self.flickers += 1;
        self.flickers
    }
}
