//! Functions in all their forms, and what the host has of them.

use alcedo_plugin_api::prelude::*;

/// A bulb.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Bulb {
    /// How many watts it takes.
    #[uproperty(blueprint_read_write, save_game, category = "Power", meta(clamp_min = "0", units = "W"), default = 40)]
    watts: u32,

    /// How often it was told something.
    told: u32,
}

#[uclass]
impl Bulb {
    /// Needs no bulb.
    #[ufunction(blueprint_pure, display_name = "Lumens of watts", meta(keywords = "light bright"))]
    fn lumens(watts: u32, per_watt: f64) -> Result<f64, String> {
        if per_watt < 0.0 { Err("light is no negative number".to_owned()) } else { Ok(f64::from(watts) * per_watt) }
    }

    /// Needs none either, and takes what lies in the host.
    #[ufunction]
    fn sum(of: Lent<UArray<f64>>) -> f64 {
        of.iter().sum()
    }

    /// Blinks; a host that calls with values may leave the last two out.
    #[ufunction(blueprint_callable, defaults(times = 3, how = "softly"))]
    fn blink(&mut self, color: String, times: u32, how: String) -> String {
        self.told += 1;
        format!("{color} {times} {how}")
    }

    /// An event with a default.
    #[ufunction(blueprint_native_event, defaults(seconds = 0.5))]
    fn warm(&self, seconds: f64) -> f64;
    fn warm_implementation(&self, seconds: f64) -> f64 {
        seconds * 2.0
    }

    /// Somebody looks at it: a script may do something then.
    #[ufunction(blueprint_implementable_event, blueprint_callable)]
    fn looked_at(&self, by: String) -> u32;

    /// What all of these give to plugin code.
    #[ufunction]
    fn all(&self, this: This<Self>) -> Result<String, CallError> {
        let lumens = this.lumens(this.watts(), 10.0)?;
        let own = Self::lumens(1, 2.0).map_err(CallError::returned)?;
        let numbers = vec![1.0, 2.0, 3.5];
        Ok(format!("{lumens} {own} {} {} {}", this.sum(numbers), this.warm(1.0), this.looked_at("me".to_owned())))
    }

    /// How often it was told something.
    #[ufunction(blueprint_pure)]
    fn told(&self) -> u32 {
        self.told
    }
}
