//! A component with attributes, and a derived component that heals.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
use engine_glue::ActorComponent;

module! { name: "glue_base" }

/// Attributes of an actor.
#[uclass(package = "Game", base = ActorComponent, blueprintable)]
#[derive(Default)]
pub struct AttributeSet {
    /// At zero the actor is defeated.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write, default = 100.0)]
    health: f64,
    /// Upper limit of `health`.
    #[uproperty(edit_anywhere, blueprint_read, default = 100.0)]
    max_health: f64,

    /// Number of changes of an attribute.
    #[keep]
    changes: u32,
}

#[uclass]
impl AttributeSet {
    /// Called before an attribute becomes `value`; returns the value to use instead.
    #[ufunction(blueprint_native_event, blueprint_callable)]
    fn pre_attribute_change(&self, attribute: String, value: f64) -> f64;
    fn pre_attribute_change_implementation(&mut self, this: This<Self>, attribute: String, value: f64) -> f64 {
        self.changes += 1;
        if attribute == "health" { value.clamp(0.0, this.max_health()) } else { value }
    }

    /// Changes `health` by `amount`, and returns the new value.
    #[ufunction(blueprint_callable)]
    fn change_health(&mut self, this: This<Self>, amount: f64) -> f64 {
        // The plugin part must not be borrowed during the call of the event, because the event may call a method of this object.
        let health = this.lend(self, |this| this.pre_attribute_change("health".to_owned(), this.health() + amount));
        this.set_health(health);
        health
    }

    /// Returns the number of this build.
    #[zmethod]
    fn build_tag() -> u64 {
        fixture::tag()
    }

    /// Returns the number of changes of an attribute.
    #[ufunction(blueprint_pure)]
    fn change_count(&self) -> u32 {
        self.changes
    }
}

/// Attributes that regenerate.
#[uclass(package = "Game", base = AttributeSet, blueprintable)]
pub struct RegeneratingSet {
    /// Points of health restored per second.
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
