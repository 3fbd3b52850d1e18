//! A component with attributes, and one derived from it that heals.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
use engine_glue::ActorComponent;

module! { name: "glue_base" }

/// What an actor can have more or less of.
#[uclass(package = "Game", base = ActorComponent, blueprintable)]
#[derive(Default)]
pub struct AttributeSet {
    /// At zero the actor is done for.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write, default = 100.0)]
    health: f64,
    /// What `health` never gets above.
    #[uproperty(edit_anywhere, blueprint_read, default = 100.0)]
    max_health: f64,

    /// How often an attribute changed.
    #[keep]
    changes: u32,
}

#[uclass]
impl AttributeSet {
    /// An attribute is about to become `wanted`: the answer is what it becomes.
    #[ufunction(blueprint_native_event, blueprint_callable)]
    fn pre_attribute_change(&self, attribute: String, wanted: f64) -> f64;
    fn pre_attribute_change_implementation(&mut self, this: This<Self>, attribute: String, wanted: f64) -> f64 {
        self.changes += 1;
        if attribute == "health" { wanted.clamp(0.0, this.max_health()) } else { wanted }
    }

    /// Changes `health` by `amount`, and gives what it became.
    #[ufunction(blueprint_callable)]
    fn change_health(&mut self, this: This<Self>, amount: f64) -> f64 {
        // The event may be ours, so our half must be free while it runs.
        let health = this.lend(self, |this| this.pre_attribute_change("health".to_owned(), this.health() + amount));
        this.set_health(health);
        health
    }

    /// Which build this is.
    #[zmethod]
    fn build_tag() -> u64 {
        fixture::tag()
    }

    /// How often an attribute changed.
    #[ufunction(blueprint_pure)]
    fn change_count(&self) -> u32 {
        self.changes
    }
}

/// Attributes that come back by themselves.
#[uclass(package = "Game", base = AttributeSet, blueprintable)]
pub struct RegeneratingSet {
    /// How much health comes back in a second.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write, default = 5.0)]
    regeneration: f64,
}

#[uclass]
impl RegeneratingSet {
    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        this.set_can_tick(true);
    }

    #[overrides(ActorComponent)]
    fn component_tick(&mut self, this: This<Self>, delta: f32) {
        if this.health() < this.max_health() {
            this.change_health(this.regeneration() * f64::from(delta));
        }
    }
}
