// Declarations of the module `glue_base` 0.1.0 for plugins, written by `alcedo glue`.
// Run it again after a change of the module. Each load of a plugin compares every type, member and signature here with the module.
// Types of other packages: Engine=engine_glue

use alcedo_plugin_api::prelude::*;

/// Attributes of an actor.
#[uclass(imported, package = "Game", base = engine_glue::ActorComponent)]
pub struct AttributeSet {
    /// At zero the actor is defeated.
    #[uproperty]
    health: f64,
    /// Upper limit of `health`.
    #[uproperty]
    max_health: f64,
}

#[uclass(imported)]
impl AttributeSet {
    /// Changes `health` by `amount`, and returns the new value.
    #[ufunction]
    fn change_health(&self, amount: f64) -> f64;
    /// Returns the number of changes of an attribute.
    #[ufunction]
    fn change_count(&self) -> u32;
    /// Called before an attribute becomes `value`; returns the value to use instead.
    #[ufunction(blueprint_native_event)]
    fn pre_attribute_change(&self, attribute: String, value: f64) -> f64;
}

/// Attributes that regenerate.
#[uclass(imported, package = "Game", base = AttributeSet)]
pub struct RegeneratingSet {
    /// Points of health restored per second.
    #[uproperty]
    regeneration: f64,
}
