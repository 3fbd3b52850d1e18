//! Minimal classes for measuring the cost of a reload per object. Each feature is one change of both classes.

#![forbid(unsafe_code)]

mod runner;
mod walker;

use alcedo_plugin_api::prelude::*;

module! { name: "crowd" }

/// Factor of all distances. One build has another factor.
const SCALE: f64 = if cfg!(feature = "other-constant") { 1.25 } else { 1.0 };
