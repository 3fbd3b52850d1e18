//! A class that extends one of the host's, overrides its event, and calls it; and a declaration that stands in a file of its
//! own, which a host can have as well.

#![forbid(unsafe_code)]

use std::hint::black_box;

use alcedo_plugin_api::prelude::*;

use crate::lamp::{Hums, Lamp};

// The types of the host: what `alcedo glue` writes.
mod lamp;
#[cfg(feature = "meter")]
mod meter;

/// The words of this side, for files that may stand on either.
#[cfg(feature = "meter")]
mod words {
    pub(crate) use alcedo_plugin_api::prelude::*;
}

module! { name: "host_types" }

/// Hums, and is no lamp.
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

/// A lamp that is carried.
#[uclass(package = "Game", base = Lamp)]
#[derive(Default)]
pub struct Lantern {
    swings: u32,
    /// A brightness of its own, beside which that of the host is measured.
    plain: f64,
}

extern "C" fn turn_up_plain(brightness: &mut f64, by: f64) {
    *brightness += by;
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

    /// Turns the host's lamp up and down so often; for a benchmark.
    #[ufunction]
    fn turn_often(&self, this: This<Self>, times: u64) {
        (0..times).for_each(|_| black_box(this).turn_up(black_box(0.5)));
    }

    /// The same by a pointer to a C function.
    #[ufunction]
    fn turn_often_plain(&mut self, times: u64) {
        let turn = black_box(turn_up_plain as extern "C" fn(&mut f64, f64));
        (0..times).for_each(|_| turn(black_box(&mut self.plain), black_box(0.5)));
    }

    /// Reads the host's property so often; for a benchmark.
    #[ufunction]
    fn read_often(&self, this: This<Self>, times: u64) -> f64 {
        (0..times).map(|_| black_box(&this).brightness()).sum()
    }

    /// The same of a field behind a pointer.
    #[ufunction]
    fn read_often_plain(&self, times: u64) -> f64 {
        (0..times).map(|_| black_box(&self.plain)).sum()
    }

    /// Turns back into the host, which asks for what it has lent.
    #[ufunction]
    fn count(&self, this: This<Self>) -> u32 {
        this.count_inside()
    }
}
