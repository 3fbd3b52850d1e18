//! The default red constructor of a class, and compiler messages for classes whose fields lack a default.

use alcedo_abi::default_part::DefaultPart;

use crate::This;

/// Default red constructor of a class. A function of this name in the `#[uclass] impl` block takes precedence. If a field has no default,
/// the compiler's message contains the name of this trait.
pub trait WithoutARedConstructor: Sized {
    /// Builds a plugin part in which every field has its default.
    fn alcedo_red_constructor(_this: This<'_, Self>) -> Self
    where
        Self: DefaultPart<()>,
    {
        Self::default_part()
    }
}

impl<C> WithoutARedConstructor for C {}

/// Implemented for types that a field of a plugin part may have.
#[diagnostic::on_unimplemented(
    message = "a plugin part cannot hold `{Self}`: it must be `Send`",
    label = "cannot be sent to the finalizer thread",
    note = "the plugin part is built on the game thread and dropped on the finalizer thread"
)]
pub trait PluginState {}

impl<T: Send + 'static> PluginState for T {}

/// Compiles only if the finalizer thread may drop a field of type `T`.
pub const fn the_finalizer_thread_drops<T: PluginState>() {}
