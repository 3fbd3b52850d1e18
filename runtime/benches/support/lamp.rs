//! Native classes that `host-types` extends and implements, with only the members that benchmarks need. The plugin's glue is generated from
//! these types. `tests/native_classes.rs` declares the same classes with more members.

use alcedo_runtime::CallError;
use alcedo_runtime::native::{uclass, uinterface};

/// An interface of the host.
#[uinterface(package = "Test")]
pub(crate) trait Hums {
    /// Hums `times` times. Returns the total number of hums.
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
    /// Flickers `times` times. Returns the total number of flickers.
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

    /// Turns up the lamp.
    #[ufunction]
    fn turn_up(&mut self, by: f64) {
        self.turned += by;
    }
}
