//! Module with hostile descriptions. Without a feature it is healthy; `runtime/tests/attacks/surface.rs` overwrites the names of `texts`
//! with others that safe code could have declared. Each feature adds one description that hosts must reject.

#![cfg_attr(not(feature = "lies"), forbid(unsafe_code))]

use alcedo_plugin_api::prelude::*;

mod hostile;
#[cfg(feature = "lies")]
mod lies;
mod texts;

module! { name: "surface" }

/// Counts its calls in the plugin part, so that a lost or new plugin part is detected.
#[uclass(package = "Game", base = Object)]
#[derive(Default)]
pub struct Steady {
    #[keep]
    asked: u32,
}

#[uclass]
impl Steady {
    /// Increments the counter.
    #[ufunction(blueprint_callable)]
    fn ask(&mut self) -> u32 {
        self.asked += 1;
        self.asked
    }
}
