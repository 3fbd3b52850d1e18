// Declarations of the module `glue_base` 0.1.0 for plugins, written by `alcedo glue`.
// Run it again after a change of the module. Each load of a plugin compares every type, member and signature here with the module.

use alcedo_plugin_api::prelude::*;

/// What an actor can have more or less of.
#[uclass(imported, package = "Game", base = engine_glue::ActorComponent)]
pub struct AttributeSet {
    /// At zero the actor is done for.
    #[uproperty]
    health: f64,
    /// What `health` never gets above.
    #[uproperty]
    max_health: f64,
}

#[uclass(imported)]
impl AttributeSet {
    /// Changes `health` by `amount`, and gives what it became.
    #[ufunction]
    fn change_health(&self, amount: f64) -> f64;
    /// How often an attribute changed.
    #[ufunction]
    fn change_count(&self) -> u32;
    /// An attribute is about to become `wanted`: the answer is what it becomes.
    #[ufunction(blueprint_native_event)]
    fn pre_attribute_change(&self, attribute: String, wanted: f64) -> f64;
}

/// Attributes that come back by themselves.
#[uclass(imported, package = "Game", base = AttributeSet)]
pub struct RegeneratingSet {
    /// How much health comes back in a second.
    #[uproperty]
    regeneration: f64,
}
