//! Traits for the default red constructor of a class. The attribute macros for plugins and hosts expand to code that
//! uses these traits.

use core::marker::PhantomData;

/// Marker for a Rust field of a class. The parameter `M` delays the check that the field has a default: the compiler checks this only
/// where the default is used.
#[derive(Debug)]
pub struct Probe<M, T>(PhantomData<(M, T)>);

/// Implemented by a [`Probe`] whose field type has a default.
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

/// Class whose Rust fields all have defaults. The macros implement this trait for every class, with a bound that requires the defaults.
pub trait DefaultPart<M>: Sized {
    /// Creates the Rust fields with their defaults.
    fn default_part() -> Self;
}
