//! Uses some members of a class in another module. The glue for this class declares further members.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[cfg(feature = "hires")]
mod merchant;
#[cfg(not(feature = "hires"))]
mod scale;

#[cfg(feature = "hires")]
use merchant::Merchant;
#[cfg(not(feature = "hires"))]
use scale::{Scale, ScaleView};

#[cfg(not(feature = "hires"))]
module! { name: "peddler", dependencies: [("renames", "^0.1")] }

#[cfg(feature = "hires")]
module! { name: "peddler" }

/// User of scales.
#[cfg(not(feature = "employs"))]
#[uclass(package = "Game")]
pub struct Peddler {}

/// Employer of a merchant.
#[cfg(feature = "employs")]
#[uclass(package = "Game")]
pub struct Peddler {
    /// Merchant who works for the peddler.
    #[uproperty(default_subobject)]
    hand: Obj<Merchant>,
}

#[uclass]
impl Peddler {
    /// Spawns a merchant and returns its weight.
    #[cfg(feature = "hires")]
    #[ufunction]
    fn hire(&self, this: This<Self>) -> Result<i32, CallError> {
        let merchant = this.spawn::<Merchant>(Obj::none())?;
        Ok(this.get(merchant)?.weight())
    }

    /// Uses the members of `Scale` that the features of this build select.
    #[cfg(not(feature = "hires"))]
    #[ufunction]
    fn buy(&self, this: This<Self>, scale: Obj<Scale>) -> Result<String, CallError> {
        let scale = this.get(scale)?;
        #[cfg(feature = "weighs")]
        scale.set_weight(7);
        #[cfg(feature = "stamps")]
        let _year = scale.stamp();
        #[cfg(feature = "presses")]
        let _pressed = scale.press(3);
        Ok(format!("{} of {}", scale.label(), scale.owner()))
    }
}

/// Never called. The linker therefore removes this function, and the members of `Scale` that only this function uses.
#[cfg(not(feature = "hires"))]
#[expect(dead_code, reason = "tests a member that only dead code uses")]
fn cheat(scale: &ScaleView<'_>) -> i32 {
    scale.set_weight(1);
    scale.press(scale.weight())
}
