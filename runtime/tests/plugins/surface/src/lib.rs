//! A module whose descriptions are hostile. Without a feature it is healthy; `runtime/tests/attacks/surface.rs` writes other
//! texts over those of `texts`, as safe code could have written them. Each feature says one thing that no host may believe.

#![cfg_attr(not(feature = "lies"), forbid(unsafe_code))]

use alcedo_plugin_api::prelude::*;

mod hostile;
#[cfg(feature = "lies")]
mod lies;
mod texts;

module! { name: "surface" }

/// Counts how often it was asked, in its plugin part: a lost or a new one would count anew.
#[uclass(package = "Game", base = Object)]
#[derive(Default)]
pub struct Steady {
    #[keep]
    asked: u32,
}

#[uclass]
impl Steady {
    /// Counts.
    #[ufunction(blueprint_callable)]
    fn ask(&mut self) -> u32 {
        self.asked += 1;
        self.asked
    }
}
