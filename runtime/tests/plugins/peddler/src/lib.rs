//! Uses some members of a class in another module. The glue for this class declares further members.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

mod scale;

use scale::{Scale, ScaleView};

module! { name: "peddler", dependencies: [("renames", "^0.1")] }

/// User of scales.
#[uclass(package = "Game")]
pub struct Peddler {}

#[uclass]
impl Peddler {
    /// Uses the members of `Scale` that the features of this build select.
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
#[expect(dead_code, reason = "tests a member that only dead code uses")]
fn cheat(scale: &ScaleView<'_>) -> i32 {
    scale.set_weight(1);
    scale.press(scale.weight())
}
