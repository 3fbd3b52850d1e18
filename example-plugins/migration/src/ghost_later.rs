//! The ghost as it comes back after a while, without its phantoms.

use alcedo_plugin_api::prelude::*;
use engine_glue::{Actor, SceneComponent};

/// An actor that comes and goes.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Ghost {
    /// Cold around it, under another name.
    #[uproperty(default = 20.0, was = "chill")]
    cold: f64,
    /// What is seen of it, which was a text.
    #[uproperty]
    look: UName,
    /// Whom it follows.
    #[uproperty]
    haunts: Obj<Actor>,
    /// What it drags along.
    #[uproperty(default_subobject, root_component)]
    chain: Obj<SceneComponent>,

    /// Kept, under another name.
    #[keep(was = "moans")]
    wails: u32,
}

#[uclass]
impl Ghost {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { wails: 0 }
    }

    /// What is the plugin's own.
    #[ufunction(blueprint_pure)]
    fn own(&self) -> String {
        format!("later moans={}", self.wails)
    }
}
