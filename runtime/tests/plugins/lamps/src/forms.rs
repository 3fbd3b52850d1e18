//! Functions in every form, with the metadata that the host reads.

use alcedo_plugin_api::prelude::*;

/// A bulb.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Bulb {
    /// Power in watts.
    #[uproperty(blueprint_read_write, save_game, category = "Power", meta(clamp_min = "0", units = "W"), default = 40)]
    watts: u32,

    /// Number of calls of `blink`.
    reported: u32,
}

#[uclass]
impl Bulb {
    /// Static function that may fail.
    #[ufunction(blueprint_pure, display_name = "Lumens of watts", meta(keywords = "light bright"))]
    fn lumens(watts: u32, per_watt: f64) -> Result<f64, String> {
        if per_watt < 0.0 { Err("light cannot be negative".to_owned()) } else { Ok(f64::from(watts) * per_watt) }
    }

    /// Static function with a borrowed container.
    #[ufunction]
    fn sum(of: Borrowed<UArray<f64>>) -> f64 {
        of.iter().sum()
    }

    /// Blinks. Dynamic calls may omit the last two arguments.
    #[ufunction(blueprint_callable, defaults(times = 3, how = "softly"))]
    fn blink(&mut self, color: String, times: u32, how: String) -> String {
        self.reported += 1;
        format!("{color} {times} {how}")
    }

    /// Event with a default implementation.
    #[ufunction(blueprint_native_event, defaults(seconds = 0.5))]
    fn warm(&self, seconds: f64) -> f64;
    fn warm_implementation(&self, seconds: f64) -> f64 {
        seconds * 2.0
    }

    /// Event that only scripts implement.
    #[ufunction(blueprint_implementable_event, blueprint_callable)]
    fn inspected(&self, by: String) -> u32;

    /// Calls the other functions of this class and returns the results.
    #[ufunction]
    fn all(&self, this: This<Self>) -> Result<String, CallError> {
        let lumens = this.lumens(this.watts(), 10.0)?;
        let own = Self::lumens(1, 2.0).map_err(CallError::returned)?;
        let numbers = vec![1.0, 2.0, 3.5];
        Ok(format!("{lumens} {own} {} {} {}", this.sum(numbers), this.warm(1.0), this.inspected("me".to_owned())))
    }

    /// Returns the number of calls of `blink`.
    #[ufunction(blueprint_pure)]
    fn reported(&self) -> u32 {
        self.reported
    }
}
