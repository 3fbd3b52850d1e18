//! The default red constructor of a class, and compiler messages for classes that cannot have one.

use core::marker::PhantomData;

use crate::This;

/// A field of a plugin part. `M` keeps the compiler from requiring the default before it is used.
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

/// A plugin part whose fields all have defaults: implemented for every class, with that as its condition.
pub trait DefaultPart<M>: Sized {
    /// Creates the plugin part.
    fn default_part() -> Self;
}

/// Default red constructor of a class: an inherent function of the same name in `#[uclass] impl` takes precedence. The name of
/// the trait appears in the compiler's message about a field without a default.
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

/// A type that a field of a plugin part may have.
#[diagnostic::on_unimplemented(
    message = "a plugin part cannot hold `{Self}`: it must be `Send`",
    label = "cannot be sent to the finalizer thread",
    note = "the plugin part is built on the game thread and dropped on the finalizer thread"
)]
pub trait PluginState {}

impl<T: Send + 'static> PluginState for T {}

/// Compiles only if the finalizer thread may drop the type of the field.
pub const fn the_finalizer_thread_drops<T: PluginState>() {}
