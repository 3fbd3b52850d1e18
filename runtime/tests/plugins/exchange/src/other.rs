//! Tables whose names are equal and whose entries differ, as in a module built for an older host.

use alcedo_plugin_api as alcedo;

alcedo::entry_table! {
    /// Entry table that the host implements.
    pub host struct Engine {
        /// Returns the sum.
        add: fn(i64, i64) -> i64,
        /// Counts its calls.
        count: fn(),
        /// Multiplies a number by a factor.
        scale: fn(f64) -> f64,
        /// Returns the sum of all arguments.
        sum: fn(u8, u16, u32, u64, i8, i16, f32, f64) -> f64,
    }
}

alcedo::entry_table! {
    /// Entry table that the module implements.
    pub module struct Scores {
        /// Returns the number of the build.
        build: fn() -> u64,
    }
}

/// Receives the table of the host.
#[cfg(feature = "other-engine")]
pub fn accepts(engine: &'static Engine) {
    panic!("the host refuses {engine:?}");
}

/// Returns the table of the module.
#[cfg(feature = "other-scores")]
pub fn returns() -> Scores {
    Scores { build: || 7 }
}
