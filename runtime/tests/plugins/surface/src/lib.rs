//! Module with hostile descriptions. Without a feature it is healthy; `runtime/tests/attacks/surface.rs` overwrites the names of `texts`
//! with other names that safe code could have declared. Each feature adds one description that hosts must reject.

#![cfg_attr(not(feature = "forged"), forbid(unsafe_code))]

use alcedo_plugin_api::prelude::*;

#[cfg(feature = "forged")]
mod forged;
mod hostile;
mod texts;

module! { name: "surface" }

/// Counts its calls in the plugin part. A lost or new plugin part would restart this count.
#[uclass(package = "Game", base = Object)]
#[derive(Default)]
pub struct Steady {
    #[keep]
    calls: u32,
}

#[uclass]
impl Steady {
    /// Increments the counter.
    #[ufunction(blueprint_callable)]
    fn query(&mut self) -> u32 {
        self.calls += 1;
        self.calls
    }
}
