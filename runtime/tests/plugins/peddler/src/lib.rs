//! Uses some members of a class of another module, whose glue has more.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

mod scale;

use scale::{Scale, ScaleView};

module! { name: "peddler", dependencies: [("renames", "^0.1")] }

/// Buys what others weigh.
#[uclass(package = "Game")]
pub struct Peddler {}

#[uclass]
impl Peddler {
    /// Buys something.
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

/// Is called by nothing, so the linker drops it with all that it uses.
#[expect(dead_code, reason = "a member that only dead code uses is not used")]
fn cheat(scale: &ScaleView<'_>) -> i32 {
    scale.set_weight(1);
    scale.press(scale.weight())
}
