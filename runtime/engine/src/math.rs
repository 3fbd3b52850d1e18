//! Vectors and rotators, in the units of the engine: centimeters and degrees.
//!
//! # Examples
//! ```
//! use alcedo_engine::Vector;
//!
//! let step = Vector { x: 100.0, ..Vector::default() };
//! assert_eq!(step + Vector { z: 5.0, ..Vector::default() }, Vector { x: 100.0, y: 0.0, z: 5.0 });
//! ```

use alcedo_runtime::native::ustruct;

/// A point or a direction, in centimeters.
#[ustruct(package = "Engine", pod)]
#[derive(PartialEq, Debug, Default)]
pub struct Vector {
    /// Forward.
    pub x: f64,
    /// To the right.
    pub y: f64,
    /// Up.
    pub z: f64,
}

/// A direction as three angles, in degrees.
#[ustruct(package = "Engine", pod)]
#[derive(PartialEq, Debug, Default)]
pub struct Rotator {
    /// Up and down.
    pub pitch: f64,
    /// Around the vertical.
    pub yaw: f64,
    /// Around the forward axis.
    pub roll: f64,
}

impl std::ops::Add for Vector {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl std::ops::Add for Rotator {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { pitch: self.pitch + other.pitch, yaw: self.yaw + other.yaw, roll: self.roll + other.roll }
    }
}
