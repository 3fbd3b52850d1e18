//! Traits for the default red constructor of a class. The attribute macros for plugins and hosts expand to code that
//! uses these traits.

use core::marker::PhantomData;

/// Marker for a Rust field of a class. Because of the parameter `M`, the compiler checks only at each use of the default that the field has
/// one.
#[derive(Debug)]
pub struct Probe<M, T>(PhantomData<(M, T)>);

/// Rust field that has a default.
pub trait BuildDefault {
    /// Type of the field.
    type Out;
    /// Creates the default value.
    fn build() -> Self::Out;
}

impl<M, T: Default> BuildDefault for Probe<M, T> {
    type Out = T;

    fn build() -> T {
        T::default()
    }
}

/// Class whose Rust fields all have defaults. Macros implement the trait for every class. A bound of the implementation requires the
/// defaults.
pub trait DefaultPart<M>: Sized {
    /// Creates the Rust fields with their defaults.
    fn default_part() -> Self;
}
