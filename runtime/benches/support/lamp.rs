//! The types that `host-types` extends and implements, as a benchmark of the host has them. The glue of the plugin is written of them; the
//! lamp of the tests has all that this one has, and more.

use alcedo_runtime::CallError;
use alcedo_runtime::native::{uclass, uinterface};

/// An interface of the host.
#[uinterface(package = "Test")]
pub(crate) trait Hums {
    /// Hums so often; gives how often it ever did.
    fn hum(&mut self, times: u32) -> Result<u32, CallError>;
}

/// The host's lamp.
#[uclass(package = "Test", blueprintable)]
#[derive(Default)]
pub(crate) struct Lamp {
    /// Brightness.
    #[uproperty]
    brightness: f64,
    turned: f64,
}

#[uclass]
impl Lamp {
    /// Flickers so often; gives how often it ever did.
    #[ufunction(blueprint_native_event)]
    fn flicker(&self, times: u32) -> Result<u32, CallError>;
    fn flicker_implementation(&mut self, times: u32) -> Result<u32, CallError> {
        Ok(times)
    }

    /// Flickers once, and reads the count during that call.
    #[ufunction]
    fn count_inside(&self) -> u32 {
        0
    }

    /// Turns it up.
    #[ufunction]
    fn turn_up(&mut self, by: f64) {
        self.turned += by;
    }
}
