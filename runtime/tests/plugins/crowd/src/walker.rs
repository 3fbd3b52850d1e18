//! Class for measuring reloads of objects without a kept field.

use alcedo_plugin_api::prelude::*;

use crate::SCALE;

crowd_class! {
    /// Class with a plugin part of three words. A reload creates this plugin part again.
    Walker, inserted base Mover, default 1.5, other default 1.75, fields {
        /// Meters walked since this generation was loaded.
        walked: f64,
        steps: u64,
        tag: u64,
    }
}

#[uclass]
impl Walker {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { walked: 0.0, steps: 0, tag: fixture::tag() }
    }

    /// Walks for a number of seconds.
    #[ufunction]
    fn walk(&mut self, this: This<Self>, seconds: f64) -> f64 {
        self.walked += this.speed() * seconds * SCALE;
        self.steps += 1;
        self.walked
    }

    /// Returns the tag of the build that created the plugin part.
    #[ufunction]
    fn made_by(&self) -> u64 {
        self.tag
    }
}
