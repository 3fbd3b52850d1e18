//! Loops for the benchmarks. The image of each loop also contains its baseline.

use std::hint::black_box;

use alcedo_plugin_api::prelude::*;

/// Object whose properties the loops access.
#[uclass(package = "Game")]
pub struct Gauge {
    /// A number in the host object.
    #[uproperty]
    level: f64,
    /// An object.
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

    /// Reads the property.
    #[ufunction]
    fn read(&self, this: This<Self>, times: u64) -> f64 {
        (0..times).map(|_| black_box(&this).level()).sum()
    }

    /// Reads the field.
    #[ufunction]
    fn read_plain(&self, times: u64) -> f64 {
        (0..times).map(|_| black_box(&self.own).level).sum()
    }

    /// Reads the property through a handle.
    #[ufunction]
    fn read_by_handle(&self, this: This<Self>, times: u64) -> f64 {
        let me = this.as_obj();
        (0..times).map(|_| black_box(&this).get(black_box(me)).expect("alive").level()).sum()
    }

    /// Writes the property.
    #[ufunction]
    fn write(&self, this: This<Self>, times: u64) {
        for time in 0..times {
            black_box(&this).set_level(time as f64);
        }
    }

    /// Writes a reference.
    #[ufunction]
    fn refer(&self, this: This<Self>, times: u64) {
        let me = this.as_obj();
        for _ in 0..times {
            black_box(&this).set_mate(black_box(me));
        }
    }

    /// Writes the field.
    #[ufunction]
    fn write_plain(&mut self, times: u64) {
        for time in 0..times {
            black_box(&mut self.own).level = time as f64;
        }
    }

    /// Writes the property through a handle.
    #[ufunction]
    fn write_by_handle(&self, this: This<Self>, times: u64) {
        let me = this.as_obj();
        for time in 0..times {
            black_box(&this).get(black_box(me)).expect("alive").set_level(time as f64);
        }
    }

    /// Returns the sum of the array.
    #[ufunction]
    fn sum(&self, this: This<Self>, times: u64) -> f64 {
        (0..times).map(|_| black_box(&this).levels().with_slice(|levels| levels.iter().sum::<f64>())).sum()
    }

    /// Returns the sum of the vector.
    #[ufunction]
    fn sum_plain(&self, times: u64) -> f64 {
        (0..times).map(|_| black_box(&self.row).iter().sum::<f64>()).sum()
    }
}
