//! A shield that absorbs damage. The class of the shield extends a class of another module, and overrides an event of that class.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
use engine_glue::Actor;

use crate::glue_base::{AttributeSet, RegeneratingSet};

// The classes of the module `glue_base`, written by `alcedo glue`.
mod glue_base;

#[cfg(not(feature = "undeclared"))]
module! { name: "glue_derived", dependencies: [("glue_base", "^0.1")] }

#[cfg(feature = "undeclared")]
module! { name: "glue_derived" }

/// Attributes behind a shield. Damage first reduces the shield.
#[uclass(package = "Game", base = RegeneratingSet, blueprintable)]
#[derive(Default)]
pub struct ShieldedSet {
    /// Damage that the shield can still absorb.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write, default = 50.0)]
    shield: f64,

    /// Damage absorbed so far.
    #[keep]
    absorbed: f64,
}

#[uclass]
impl ShieldedSet {
    #[overrides(AttributeSet)]
    fn pre_attribute_change(&mut self, this: This<Self>, attribute: String, value: f64) -> f64 {
        let damage = this.health() - value;
        if attribute != "health" || damage <= 0.0 {
            return this.base_pre_attribute_change(attribute, value);
        }
        let taken = damage.min(this.shield());
        this.set_shield(this.shield() - taken);
        self.absorbed += taken;
        this.base_pre_attribute_change(attribute, value + taken)
    }

    /// Returns the number of this build.
    #[zmethod]
    fn build_tag() -> u64 {
        fixture::tag()
    }

    /// Returns the damage absorbed so far.
    #[ufunction(blueprint_pure)]
    fn absorbed(&self) -> f64 {
        self.absorbed
    }
}

/// An actor with a shield.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Hero {
    /// Health and shield.
    #[uproperty(default_subobject)]
    attributes: Obj<ShieldedSet>,
}
