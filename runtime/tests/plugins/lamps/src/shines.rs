//! An interface with functions: who implements it, and who calls whatever does.

use alcedo_plugin_api::prelude::*;

use crate::{Lamp, LampView};

/// What gives light.
#[cfg(not(feature = "fades"))]
#[uinterface(package = "Game")]
pub trait Shines {
    /// Shines that brightly; gives how brightly it does.
    fn shine(&self, how: f64) -> Result<f64, CallError>;
    /// The color of its light.
    fn color(&self) -> String;
}

/// What gives light, in a later build: it has a function more.
#[cfg(feature = "fades")]
#[uinterface(package = "Game")]
pub trait Shines {
    /// Shines that brightly; gives how brightly it does.
    fn shine(&self, how: f64) -> Result<f64, CallError>;
    /// The color of its light.
    fn color(&self) -> String;
    /// Gets darker in so many seconds.
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

/// A room with one light, of whatever class.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Room {
    /// What lights it.
    #[uproperty]
    light: ScriptInterface<Shines>,

    /// How often somebody has come in.
    visits: u32,
}

#[uclass]
impl Room {
    /// Puts another light up.
    #[ufunction]
    fn put_up(&self, this: This<Self>, light: Obj<Object>) -> Result<(), CallError> {
        this.light().try_set(light)
    }

    /// Lights it: the color, and how often somebody has come in meanwhile.
    #[ufunction]
    fn light_up(&mut self, this: This<Self>, how: f64) -> Result<String, CallError> {
        let Some(light) = this.light().get(&this) else { return Ok("dark".to_owned()) };
        let visits = self.visits;
        // The light may be of a class that comes in here.
        let bright = this.lend(self, |_| light.shine(how))?;
        Ok(format!("{} {bright} {}", light.color(), self.visits - visits))
    }

    /// What color an object has that is not put up.
    #[ufunction]
    fn look_at(&self, this: This<Self>, object: Obj<Object>) -> Result<String, CallError> {
        Ok(this.get(object)?.as_interface::<Shines>()?.color())
    }

    /// Destroys what lights it, and calls it once more.
    #[ufunction]
    fn break_light(&self, this: This<Self>) -> Result<f64, CallError> {
        let Some(light) = this.light().get(&this) else { return Ok(0.0) };
        light.destroy()?;
        light.shine(0.0)
    }

    /// Somebody comes in.
    #[ufunction]
    fn enter(&mut self) {
        self.visits += 1;
    }
}
