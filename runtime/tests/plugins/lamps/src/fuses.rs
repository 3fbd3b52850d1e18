//! Classes whose hooks each write a line to the log target `order`. `lamps-plus` extends these classes. A test compares all lines.

use alcedo_plugin_api::prelude::*;

/// Limits a current.
#[uclass(package = "Game", blueprintable)]
pub struct Fuse {
    /// Current; zero after the fuse has blown.
    #[uproperty(default = 100.0)]
    current: f64,

    /// Number of changes.
    changes: u32,
}

#[uclass]
impl Fuse {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        tracing::info!(target: "order", object = this.name(), "red Game.Fuse");
        Self { changes: 0 }
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        tracing::info!(target: "order", object = this.name(), "class Game.Fuse");
    }

    #[post_init_properties]
    fn differ(&mut self, this: This<Self>) {
        tracing::info!(target: "order", object = this.name(), "post_init Game.Fuse");
    }

    /// Returns the new current for a requested `current`.
    #[ufunction(blueprint_native_event)]
    fn limit(&self, current: f64) -> f64;
    fn limit_implementation(&mut self, this: This<Self>, current: f64) -> f64 {
        tracing::info!(target: "order", object = this.name(), "event Game.Fuse");
        self.changes += 1;
        current.clamp(0.0, 100.0)
    }

    /// Adds to the current and returns the new value.
    #[ufunction]
    fn add_current(&mut self, this: This<Self>, more: f64) -> f64 {
        let current = this.lend(self, |this| this.limit(this.current() + more));
        this.set_current(current);
        current
    }

    /// Returns the number of changes.
    #[ufunction]
    fn changes(&self) -> u32 {
        self.changes
    }
}

impl Drop for Fuse {
    fn drop(&mut self) {
        tracing::info!(target: "order", "finalize Game.Fuse");
    }
}

/// Slow-blow fuse.
#[uclass(package = "Game", base = Fuse, blueprintable)]
pub struct SlowFuse {}

#[uclass]
impl SlowFuse {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        tracing::info!(target: "order", object = this.name(), "red Game.SlowFuse");
        Self {}
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        tracing::info!(target: "order", object = this.name(), "class Game.SlowFuse");
    }

    #[post_init_properties]
    fn differ(&mut self, this: This<Self>) {
        tracing::info!(target: "order", object = this.name(), "post_init Game.SlowFuse");
    }
}

impl Drop for SlowFuse {
    fn drop(&mut self) {
        tracing::info!(target: "order", "finalize Game.SlowFuse");
    }
}
