//! The red constructor that a class gets when its author writes none, and what the compiler says when that cannot be.

use core::marker::PhantomData;

use crate::This;

/// One field of a plugin part. `M` keeps the compiler from requiring the default before it is used.
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

/// A plugin part whose fields all have defaults: implemented for every class, under the condition that it is true.
pub trait DefaultPart<M>: Sized {
    /// Builds it.
    fn default_part() -> Self;
}

/// The red constructor of a class whose `#[uclass] impl` has none: an inherent one of the same name goes first. The
/// trait is named for the compiler's message where a field has no default.
pub trait WithoutARedConstructor: Sized {
    /// Builds the plugin part with every field's default.
    fn alcedo_red_constructor(_this: This<'_, Self>) -> Self
    where
        Self: DefaultPart<()>,
    {
        Self::default_part()
    }
}

impl<C> WithoutARedConstructor for C {}

/// A type that a field of a plugin part can have.
#[diagnostic::on_unimplemented(
    message = "a plugin part cannot hold `{Self}`: it must be `Send`",
    label = "cannot be sent to the finalizer thread",
    note = "the plugin part is built on the game thread and dropped on the finalizer thread"
)]
pub trait PluginState {}

impl<T: Send + 'static> PluginState for T {}

/// Compiles where a field's type can go to the thread on which plugin parts end.
pub const fn the_finalizer_thread_drops<T: PluginState>() {}
