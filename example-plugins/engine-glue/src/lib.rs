//! Declares the classes and structs of the sample engine for plugins. `alcedo glue` writes `engine.rs`, which contains only imported
//! declarations. When a plugin is loaded, the host compares each name, type and signature with its own. This file adds helper functions.

#![forbid(unsafe_code)]

mod engine;

pub use engine::*;

impl Vector {
    /// Returns a vector that points up by `z`.
    #[must_use]
    pub const fn up(z: f64) -> Self {
        Self { x: 0.0, y: 0.0, z }
    }
}

impl Rotator {
    /// Returns a rotation around the up axis.
    #[must_use]
    pub const fn yaw(degrees: f64) -> Self {
        Self { pitch: 0.0, yaw: degrees, roll: 0.0 }
    }
}
