//! Traits for the default red constructor of a class. The attribute macros of plugins and of hosts expand to code that
//! uses these traits.

use core::marker::PhantomData;

/// A Rust field of a class. Because of the parameter `M`, the compiler requires the field's default only where the
/// default is used.
#[derive(Debug)]
pub struct Probe<M, T>(PhantomData<(M, T)>);

/// A field that has a default.
pub trait BuildDefault {
    /// Type of the field.
    type Out;
    /// Creates the default.
    fn build() -> Self::Out;
}

impl<M, T: Default> BuildDefault for Probe<M, T> {
    type Out = T;

    fn build() -> T {
        T::default()
    }
}

/// A class whose Rust fields all have defaults. Macros implement the trait for every class, on the condition that all
/// fields have defaults.
pub trait DefaultPart<M>: Sized {
    /// Creates the Rust fields.
    fn default_part() -> Self;
}
