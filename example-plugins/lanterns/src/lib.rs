//! A class that extends one of the host's, overrides its event, and calls it; and a declaration that stands in a file of its
//! own, which a host can have as well.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[cfg(feature = "meter")]
mod meter;

/// The words of this side, for files that may stand on either.
#[cfg(feature = "meter")]
mod words {
    pub(crate) use alcedo_plugin_api::prelude::*;
}

module! { name: "lanterns" }

/// The host's lamp.
#[uclass(imported, package = "Test")]
pub struct Lamp {
    /// How bright.
    #[uproperty]
    brightness: f64,
}

#[uclass(imported)]
impl Lamp {
    /// Flickers so often; gives how often it ever did.
    #[ufunction(blueprint_native_event)]
    fn flicker(&self, times: u32) -> Result<u32, CallError>;
    /// Flickers once, and asks in the middle of it how often it did.
    #[ufunction]
    fn count_inside(&self) -> u32;
    /// Turns it up.
    #[ufunction]
    fn turn_up(&self, by: f64);
}

/// A lamp that is carried.
#[uclass(package = "Game", base = Lamp)]
#[derive(Default)]
pub struct Lantern {
    swings: u32,
}

#[uclass]
impl Lantern {
    /// Flickers twice as often.
    #[overrides(Lamp)]
    fn flicker(&mut self, this: This<Self>, times: u32) -> Result<u32, CallError> {
        self.swings += 1;
        this.turn_up(0.5);
        this.base_flicker(times * 2)
    }

    /// How often this code has swung it.
    #[ufunction]
    fn swings(&self) -> u32 {
        self.swings
    }

    /// Turns back into the host, which asks for what it has lent.
    #[ufunction]
    fn count(&self, this: This<Self>) -> u32 {
        this.count_inside()
    }
}
