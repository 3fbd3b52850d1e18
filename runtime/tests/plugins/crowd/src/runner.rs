//! Class for measuring reloads of objects with a kept field.

use alcedo_plugin_api::prelude::*;

use crate::SCALE;

crowd_class! {
    /// Class with one kept field.
    Runner, inserted base Athlete, default 4.5, other default 4.75, fields {
        #[keep]
        run: f64,
        steps: u64,
        tag: u64,
    }
}

#[uclass]
impl Runner {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { run: 0.0, steps: 0, tag: fixture::tag() }
    }

    /// Runs for a number of seconds.
    #[ufunction]
    fn run_for(&mut self, this: This<Self>, seconds: f64) -> f64 {
        self.run += this.speed() * seconds * SCALE;
        self.steps += 1;
        self.run
    }

    /// Returns the tag of the build that created the plugin part.
    #[ufunction]
    fn made_by(&self) -> u64 {
        self.tag
    }
}
