//! What the compiler knows of an interface: its path.

/// An interface of the host's reflection, as a type. `#[uinterface]` implements it.
///
/// An interface is a name for now: a class says that it implements it, `#[uclass(package = "Game", implements(Hears))]`, and
/// a [`ScriptInterface`](crate::ScriptInterface) leads to objects of whatever class says so. It has no functions that could
/// be called through it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no interface",
    label = "declare it with `#[uinterface(package = \"…\")]`, or take `Obj<Class>` for objects of one class"
)]
pub trait Interface: 'static {
    /// `/Script/Package.Name`.
    const PATH: &'static str;
}
