//! Loops for the benchmarks. The library also contains the baseline of each loop.

use std::hint::black_box;

use alcedo_plugin_api::prelude::*;

/// Object whose properties the loops access.
#[uclass(package = "Game")]
pub struct Gauge {
    /// A number in the host object.
    #[uproperty]
    level: f64,
    /// An object to refer to.
    #[uproperty]
    mate: Obj<Gauge>,
    /// Array of numbers.
    #[uproperty]
    levels: UArray<f64>,

    own: Plain,
    row: Vec<f64>,
}

/// Plain memory that is the baseline for the property.
#[derive(Default)]
struct Plain {
    level: f64,
}

#[uclass]
impl Gauge {
    /// Fills the array and the vector.
    #[ufunction]
    fn fill(&mut self, this: This<Self>, count: u32) {
        self.row = (0..count).map(f64::from).collect();
        this.levels().assign(&self.row);
    }

    /// Reads the property `times` times.
    #[ufunction]
    fn read(&self, this: This<Self>, times: u64) -> f64 {
        (0..times).map(|_| black_box(&this).level()).sum()
    }

    /// Reads the baseline field `times` times.
    #[ufunction]
    fn read_plain(&self, times: u64) -> f64 {
        (0..times).map(|_| black_box(&self.own).level).sum()
    }

    /// Reads the property through a handle, `times` times.
    #[ufunction]
    fn read_by_handle(&self, this: This<Self>, times: u64) -> f64 {
        let me = this.as_obj();
        (0..times).map(|_| black_box(&this).get(black_box(me)).expect("alive").level()).sum()
    }

    /// Writes the property `times` times.
    #[ufunction]
    fn write(&self, this: This<Self>, times: u64) {
        for time in 0..times {
            black_box(&this).set_level(time as f64);
        }
    }

    /// Writes a reference `times` times.
    #[ufunction]
    fn refer(&self, this: This<Self>, times: u64) {
        let me = this.as_obj();
        for _ in 0..times {
            black_box(&this).set_mate(black_box(me));
        }
    }

    /// Writes the baseline field `times` times.
    #[ufunction]
    fn write_plain(&mut self, times: u64) {
        for time in 0..times {
            black_box(&mut self.own).level = time as f64;
        }
    }

    /// Writes the property through a handle, `times` times.
    #[ufunction]
    fn write_by_handle(&self, this: This<Self>, times: u64) {
        let me = this.as_obj();
        for time in 0..times {
            black_box(&this).get(black_box(me)).expect("alive").set_level(time as f64);
        }
    }

    /// Sums the array `times` times.
    #[ufunction]
    fn sum(&self, this: This<Self>, times: u64) -> f64 {
        (0..times).map(|_| black_box(&this).levels().with_slice(|levels| levels.iter().sum::<f64>())).sum()
    }

    /// Sums the baseline vector `times` times.
    #[ufunction]
    fn sum_plain(&self, times: u64) -> f64 {
        (0..times).map(|_| black_box(&self.row).iter().sum::<f64>()).sum()
    }
}
