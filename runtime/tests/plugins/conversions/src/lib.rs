//! A gauge and other classes in four declarations. Plugin functions with `#[migrate]` convert values from one declaration to the next, and
//! count their calls. The switches `fails` and `panics` make one of these functions fail for values above 1000. The switch `calls` makes
//! that function call the host.

#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering};

use alcedo_plugin_api::prelude::*;

#[cfg(not(any(feature = "oldest", feature = "later", feature = "latest")))]
mod first;
#[cfg(not(any(feature = "oldest", feature = "later", feature = "latest")))]
mod first_pilot;
#[cfg(feature = "later")]
mod later;
#[cfg(feature = "later")]
mod later_pilot;
#[cfg(feature = "latest")]
mod latest;
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
