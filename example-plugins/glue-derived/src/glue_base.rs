// What the module `glue_base` 0.1.0 declares, for plugins that use it. Written by `alcedo glue`: change the module
// and write it again. While a plugin is loaded each type, member and signature is compared with the module's own.

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
