//! What the compiler knows of an interface: its path.
#![expect(unsafe_code, reason = "declares the trait whose promise texts of types rest on")]

/// An interface of the host's reflection, as a type. `#[uinterface]` implements it.
///
/// An interface is a name for now: a class says that it implements it, `#[uclass(package = "Game", implements(Hears))]`, and
/// a [`ScriptInterface`](crate::ScriptInterface) leads to objects of whatever class says so. It has no functions that could
/// be called through it.
///
/// # Safety
/// `PATH` is `/Script/Package.Name`, and what a `ScriptInterface<Self>` leads to is told by that path alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no interface",
    label = "declare it with `#[uinterface(package = \"…\")]`, or take `Obj<Class>` for objects of one class"
)]
pub unsafe trait Interface: 'static {
    /// `/Script/Package.Name`.
    const PATH: &'static str;
}
