//! A lamp derived from one of another module: its override gives errors of another type, and it calls functions of the
//! base that may fail.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

use crate::lamps::Lamp;

module! { name: "lamps_plus", dependencies: [("lamps", "^0.1")] }

/// The classes of the module `lamps`, as this one uses them.
mod lamps {
    use alcedo_plugin_api::prelude::*;

    /// A lamp.
    #[uclass(imported, package = "Game", base = Object)]
    pub struct Lamp {}

    #[uclass(imported)]
    impl Lamp {
        /// Flickers so many times; gives how often it did in its life.
        #[ufunction(blueprint_native_event)]
        fn flicker(&self, times: u32) -> Result<u32, CallError>;
        /// Makes it darker.
        #[ufunction]
        fn dim(&self, by: f64) -> Result<(), CallError>;
    }
}

/// A lamp that flickers an even number of times.
#[uclass(package = "Game", base = Lamp, blueprintable)]
pub struct TwinLamp {}

#[uclass]
impl TwinLamp {
    #[overrides(Lamp)]
    fn flicker(&mut self, this: This<Self>, times: u32) -> Result<u32, std::num::TryFromIntError> {
        // Any `Display` is an error; that of the base would end this call as what it is.
        u8::try_from(times)?;
        Ok(this.base_flicker(times * 2).unwrap_or(0))
    }

    /// Makes another lamp darker, and says what came of it.
    #[ufunction]
    fn dim_other(&self, this: This<Self>, other: Obj<Lamp>, by: f64) -> String {
        let Ok(other) = this.get(other) else { return "gone".to_owned() };
        match other.dim(by) {
            Ok(()) => "darker".to_owned(),
            Err(error) if error.is_returned() => format!("an error: {}", error.message()),
            Err(error) => format!("went wrong: {error}"),
        }
    }
}
