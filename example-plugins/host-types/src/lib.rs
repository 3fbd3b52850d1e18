//! A class that extends a host class, overrides its event and calls the body of the base class. Also includes a class that can be declared
//! by a host or by a plugin.

#![forbid(unsafe_code)]

use std::hint::black_box;

use alcedo_plugin_api::prelude::*;

use crate::lamp::{Hums, Lamp};

// Types of the host, written by `alcedo glue`.
mod lamp;
#[cfg(feature = "meter")]
mod meter;

/// Names from the plugin API for source files that hosts and plugins both include.
#[cfg(feature = "meter")]
mod words {
    pub(crate) use alcedo_plugin_api::prelude::*;
}

module! { name: "host_types" }

/// Implements `Hums`, but does not extend `Lamp`.
#[uclass(package = "Game", implements(Hums))]
#[derive(Default)]
pub struct Bell {
    hummed: u32,
}

#[uclass]
impl Hums for Bell {
    fn hum(&mut self, times: u32) -> Result<u32, CallError> {
        if times == 13 {
            return Err(CallError::returned("it is cracked"));
        }
        self.hummed += times;
        Ok(self.hummed)
    }
}

/// A portable lamp.
#[uclass(package = "Game", base = Lamp)]
#[derive(Default)]
pub struct Lantern {
    swings: u32,
    /// A plain Rust field. Benchmarks compare its access with the access to the host's brightness.
    plain: f64,
}

extern "C" fn turn_up_plain(brightness: &mut f64, by: f64) {
    *brightness += by;
}

#[uclass]
impl Lantern {
    /// Flickers twice `times`.
    #[overrides(Lamp)]
    fn flicker(&mut self, this: This<Self>, times: u32) -> Result<u32, CallError> {
        self.swings += 1;
        this.turn_up(0.5);
        this.base_flicker(times * 2)
    }

    /// Returns the number of swings.
    #[ufunction]
    fn swings(&self) -> u32 {
        self.swings
    }

    /// Turns the host's lamp up and down `times` times. Used by a benchmark.
    #[ufunction]
    fn turn_often(&self, this: This<Self>, times: u64) {
        (0..times).for_each(|_| black_box(this).turn_up(black_box(0.5)));
    }

    /// Turns a plain field up through a C function pointer `times` times. Used by a benchmark.
    #[ufunction]
    fn turn_often_plain(&mut self, times: u64) {
        let turn = black_box(turn_up_plain as extern "C" fn(&mut f64, f64));
        (0..times).for_each(|_| turn(black_box(&mut self.plain), black_box(0.5)));
    }

    /// Reads the host's property `times` times. Used by a benchmark.
    #[ufunction]
    fn read_often(&self, this: This<Self>, times: u64) -> f64 {
        (0..times).map(|_| black_box(&this).brightness()).sum()
    }

    /// Reads a plain field `times` times. Used by a benchmark.
    #[ufunction]
    fn read_often_plain(&self, times: u64) -> f64 {
        (0..times).map(|_| black_box(&self.plain)).sum()
    }

    /// Calls a host function, which borrows the Rust fields of the host's lamp and calls back while the borrow is active.
    #[ufunction]
    fn count(&self, this: This<Self>) -> u32 {
        this.count_inside()
    }
}
