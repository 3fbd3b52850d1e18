//! The class `Ghost` of a later build, which lacks the class `Phantom`.

use alcedo_plugin_api::prelude::*;
use engine_glue::{Actor, SceneComponent};

/// An actor whose class is removed and added again.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Ghost {
    /// Temperature drop, under another name.
    #[uproperty(default = 20.0, was = "chill")]
    cold: f64,
    /// Appearance, a string before.
    #[uproperty]
    look: UName,
    /// Actor that the ghost follows.
    #[uproperty]
    haunts: Obj<Actor>,
    /// A default subobject that was added.
    #[uproperty(default_subobject, root_component)]
    chain: Obj<SceneComponent>,

    /// A kept field that had another name before.
    #[keep(was = "moans")]
    wails: u32,
}

#[uclass]
impl Ghost {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { wails: 0 }
    }

    /// Formats the fields of the plugin part.
    #[ufunction(blueprint_pure)]
    fn own(&self) -> String {
        format!("later moans={}", self.wails)
    }
}
