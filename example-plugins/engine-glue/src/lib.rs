//! The classes and structs of the sample engine, as plugins see them. `engine.rs` is what `alcedo glue` writes; nothing is declared there:
//! while a plugin is loaded, the host compares each name, type and signature with its own. Here is what plugins have beside it.

#![forbid(unsafe_code)]

mod engine;

pub use engine::*;

impl Vector {
    /// So far up.
    #[must_use]
    pub const fn up(z: f64) -> Self {
        Self { x: 0.0, y: 0.0, z }
    }
}

impl Rotator {
    /// A turn around the up axis.
    #[must_use]
    pub const fn yaw(degrees: f64) -> Self {
        Self { pitch: 0.0, yaw: degrees, roll: 0.0 }
    }
}
