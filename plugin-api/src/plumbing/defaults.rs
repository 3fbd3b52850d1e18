//! The red constructor that a class gets when its author writes none, and what the compiler says when that cannot be.

use core::marker::PhantomData;

use crate::This;

/// One field of a plugin half. `M` keeps the compiler from asking for the default before somebody needs it.
#[derive(Debug)]
pub struct Probe<M, T>(PhantomData<(M, T)>);

/// A field that can be built by default.
pub trait BuildDefault {
    /// The field's type.
    type Out;
    /// Builds it.
    fn build() -> Self::Out;
}

impl<M, T: Default> BuildDefault for Probe<M, T> {
    type Out = T;

    fn build() -> T {
        T::default()
    }
}

/// A plugin half whose fields all have defaults; implemented for every class, under the condition that it is true.
pub trait DefaultPart<M>: Sized {
    /// Builds it.
    fn default_part() -> Self;
}

/// The red constructor of a class whose `#[uclass] impl` has none: an inherent one of the same name goes first.
pub trait DefaultRed: Sized {
    /// Builds the plugin half with every field's default.
    fn alcedo_red_constructor(_this: This<'_, Self>) -> Self
    where
        Self: DefaultPart<()>,
    {
        Self::default_part()
    }
}

impl<C> DefaultRed for C {}

/// Named for the compiler's message: the plugin half of an object ends on the finalizer thread, so each of its fields
/// must be able to go there.
pub const fn the_finalizer_thread_drops_it<T: Send + 'static>() {}
