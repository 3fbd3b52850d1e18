//! A shield before the health: a class derived from one of another module, whose event it overrides.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
use engine_glue::Actor;

use crate::glue_base::{AttributeSet, RegeneratingSet};

// The classes of the module `glue_base`: what `alcedo glue` writes.
mod glue_base;

#[cfg(not(feature = "undeclared"))]
module! {
    name: "glue_derived",
    main: started,
    exit: ended,
    dependencies: [("glue_base", "^0.1")],
}

#[cfg(feature = "undeclared")]
module! { name: "glue_derived", main: started, exit: ended }

fn started() {
    tracing::info!(target: "order", "main glue_derived");
}

fn ended() {
    tracing::info!(target: "order", "exit glue_derived");
}

/// Attributes behind a shield that takes the damage first.
#[uclass(package = "Game", base = RegeneratingSet, blueprintable)]
pub struct ShieldedSet {
    /// What the shield can still take.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write, default = 50.0)]
    shield: f64,

    /// What it took so far.
    #[keep]
    absorbed: f64,
}

#[uclass]
impl ShieldedSet {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        tracing::info!(target: "order", object = this.name(), "red Game.ShieldedSet");
        // In a construction every property is zero still; in a reload they are the living object's.
        let rebuilt = this.health() != 0.0;
        assert!(!(rebuilt && fixture::on!("panics-when-rebuilt")), "no shield for {}", this.name());
        Self { absorbed: 0.0 }
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        tracing::info!(target: "order", object = this.name(), "class Game.ShieldedSet");
    }

    #[post_init_properties]
    fn differ(&mut self, this: This<Self>) {
        tracing::info!(target: "order", object = this.name(), "post_init Game.ShieldedSet");
    }

    #[overrides(AttributeSet)]
    fn pre_attribute_change(&mut self, this: This<Self>, attribute: String, wanted: f64) -> f64 {
        tracing::info!(target: "order", object = this.name(), "event Game.ShieldedSet");
        let damage = this.health() - wanted;
        if attribute != "health" || damage <= 0.0 {
            return this.base_pre_attribute_change(attribute, wanted);
        }
        let taken = damage.min(this.shield());
        this.set_shield(this.shield() - taken);
        self.absorbed += taken;
        this.base_pre_attribute_change(attribute, wanted + taken)
    }

    /// Which build this is.
    #[zmethod]
    fn build_tag() -> u64 {
        fixture::tag()
    }

    /// What the shield took so far.
    #[ufunction(blueprint_pure)]
    fn absorbed(&self) -> f64 {
        self.absorbed
    }
}

impl Drop for ShieldedSet {
    fn drop(&mut self) {
        tracing::info!(target: "order", "finalize Game.ShieldedSet");
    }
}

/// Somebody with a shield.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Hero {
    /// Health, and what stands before it.
    #[uproperty(default_subobject)]
    attributes: Obj<ShieldedSet>,
}

#[uclass]
impl Hero {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        tracing::info!(target: "order", object = this.name(), "red Game.Hero");
        Self {}
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        tracing::info!(target: "order", object = this.name(), "class Game.Hero");
    }

    #[post_init_properties]
    fn differ(&mut self, this: This<Self>) {
        tracing::info!(target: "order", object = this.name(), "post_init Game.Hero");
    }
}

impl Drop for Hero {
    fn drop(&mut self) {
        tracing::info!(target: "order", "finalize Game.Hero");
    }
}
