//! A gauge in three declarations. Values are converted from one to the next by functions of the plugin, `#[migrate]`, which also count
//! their calls. The switches `fails` and `panics` make one function fail for values above 1000.

#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering};

use alcedo_plugin_api::prelude::*;

#[cfg(not(any(feature = "oldest", feature = "later")))]
mod first;
#[cfg(feature = "later")]
mod later;
#[cfg(feature = "misfit")]
mod misfit;
#[cfg(feature = "oldest")]
mod oldest;

/// Number of conversions in this build.
static CONVERSIONS: AtomicU32 = AtomicU32::new(0);

/// Counts a conversion.
#[allow(dead_code, reason = "the oldest declaration has no conversions")]
fn count() {
    CONVERSIONS.fetch_add(1, Ordering::Relaxed);
}

/// Returns the number of conversions in this build.
#[zcall(ex = "conversions.count")]
fn conversions() -> u32 {
    CONVERSIONS.load(Ordering::Relaxed)
}

module! { name: "conversions" }
