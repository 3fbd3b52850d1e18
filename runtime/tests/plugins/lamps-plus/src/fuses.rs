//! Fuse that extends a fuse of another module, and an object that owns such a fuse. Their hooks also log to the target `order`.

use alcedo_plugin_api::prelude::*;

use crate::lamps::{Fuse, SlowFuse};

/// Fuse that covers a drop of its current from a reserve.
#[uclass(package = "Game", base = SlowFuse, blueprintable)]
pub struct SafeFuse {
    /// Remaining reserve.
    #[uproperty(default = 50.0)]
    reserve: f64,

    /// Total current taken from the reserve.
    #[keep]
    absorbed: f64,
}

#[uclass]
impl SafeFuse {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        tracing::info!(target: "order", object = this.name(), "red Game.SafeFuse");
        // During a construction, all properties are zero. During a reload, they have the values that the existing object has.
        let rebuilt = this.current() != 0.0;
        assert!(!(rebuilt && fixture::on!("panics-when-rebuilt")), "no fuse for {}", this.name());
        Self { absorbed: 0.0 }
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        tracing::info!(target: "order", object = this.name(), "class Game.SafeFuse");
    }

    #[post_init_properties]
    fn differ(&mut self, this: This<Self>) {
        tracing::info!(target: "order", object = this.name(), "post_init Game.SafeFuse");
        this.base_post_init_properties();
    }

    #[overrides(Fuse)]
    fn limit(&mut self, this: This<Self>, current: f64) -> f64 {
        tracing::info!(target: "order", object = this.name(), "event Game.SafeFuse");
        let taken = (this.current() - current).clamp(0.0, this.reserve());
        this.set_reserve(this.reserve() - taken);
        self.absorbed += taken;
        this.base_limit(current + taken)
    }

    /// Returns the total current taken from the reserve.
    #[ufunction]
    fn absorbed(&self) -> f64 {
        self.absorbed
    }
}

impl Drop for SafeFuse {
    fn drop(&mut self) {
        tracing::info!(target: "order", "finalize Game.SafeFuse");
    }
}

/// Owns a fuse.
#[uclass(package = "Game", blueprintable)]
pub struct FuseBox {
    /// The fuse of the box.
    #[uproperty(default_subobject)]
    fuse: Obj<SafeFuse>,
}

#[uclass]
impl FuseBox {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        tracing::info!(target: "order", object = this.name(), "red Game.FuseBox");
        Self {}
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        tracing::info!(target: "order", object = this.name(), "class Game.FuseBox");
    }

    #[post_init_properties]
    fn differ(&mut self, this: This<Self>) {
        tracing::info!(target: "order", object = this.name(), "post_init Game.FuseBox");
        // Has no effect, because no base class has this hook.
        this.base_post_init_properties();
    }
}

impl Drop for FuseBox {
    fn drop(&mut self) {
        tracing::info!(target: "order", "finalize Game.FuseBox");
    }
}
