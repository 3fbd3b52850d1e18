//! An interface, and the classes that implement the interface or call its functions.

use alcedo_plugin_api::prelude::*;

use crate::{Lamp, LampView};

/// Source of light.
#[cfg(not(feature = "fades"))]
#[uinterface(package = "Game")]
pub trait Shines {
    /// Shines with brightness `how`; returns the actual brightness.
    fn shine(&self, how: f64) -> Result<f64, CallError>;
    /// Returns the color of the light.
    fn color(&self) -> String;
}

/// Source of light in a later build, with one more function.
#[cfg(feature = "fades")]
#[uinterface(package = "Game")]
pub trait Shines {
    /// Shines with brightness `how`; returns the actual brightness.
    fn shine(&self, how: f64) -> Result<f64, CallError>;
    /// Returns the color of the light.
    fn color(&self) -> String;
    /// Fades out in `seconds`.
    fn fade(&self, seconds: f64);
}

#[uclass]
impl Shines for Lamp {
    fn shine(&mut self, this: This<Self>, how: f64) -> Result<f64, CallError> {
        self.flickers += 1;
        if how > this.brightness() {
            return Err(CallError::returned(format_args!("{how} is too bright for {}", this.brightness())));
        }
        Ok(how)
    }

    fn color(&self) -> String {
        "white".to_owned()
    }

    #[cfg(feature = "fades")]
    fn fade(&mut self, this: This<Self>, _seconds: f64) {
        this.set_brightness(0.0);
    }
}

/// Room whose light is an object of any class that implements `Shines`.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Room {
    /// Light of the room.
    #[uproperty]
    light: ScriptInterface<Shines>,

    /// Number of calls of `enter`.
    visits: u32,
}

#[uclass]
impl Room {
    /// Replaces the light.
    #[ufunction]
    fn put_up(&self, this: This<Self>, light: Obj<Object>) -> Result<(), CallError> {
        this.light().try_set(light)
    }

    /// Lights the room; returns the color, the brightness and the number of visits during the call.
    #[ufunction]
    fn light_up(&mut self, this: This<Self>, how: f64) -> Result<String, CallError> {
        let Some(light) = this.light().get(&this) else { return Ok("dark".to_owned()) };
        let visits = self.visits;
        // Lends the fields, because the light may call `enter` of this room.
        let bright = this.lend(self, |_| light.shine(how))?;
        Ok(format!("{} {bright} {}", light.color(), self.visits - visits))
    }

    /// Returns the color of an object that is not the light of the room.
    #[ufunction]
    fn inspect(&self, this: This<Self>, object: Obj<Object>) -> Result<String, CallError> {
        Ok(this.get(object)?.as_interface::<Shines>()?.color())
    }

    /// Destroys the light and calls it once more.
    #[ufunction]
    fn break_light(&self, this: This<Self>) -> Result<f64, CallError> {
        let Some(light) = this.light().get(&this) else { return Ok(0.0) };
        light.destroy()?;
        light.shine(0.0)
    }

    /// Counts a visit.
    #[ufunction]
    fn enter(&mut self) {
        self.visits += 1;
    }
}
