//! The default red constructor of a class at compile time: the attributes of plugins and of hosts expand to it.

use core::marker::PhantomData;

/// A Rust field of a class. `M` keeps the compiler from requiring the default before it is used.
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

/// A class whose Rust fields all have defaults: implemented for every class, with that as its condition.
pub trait DefaultPart<M>: Sized {
    /// Creates the Rust fields.
    fn default_part() -> Self;
}
