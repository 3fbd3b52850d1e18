//! Interfaces as Rust types: the expansion of `#[uinterface]`, and compile-time checks of classes that list an interface. The functions of
//! an interface are called by name, on objects of any class that implements the interface.

use std::marker::PhantomData;

use alcedo_abi::interface_check::{self, InterfaceFunction};

use crate::boundary::CallError;
use crate::kinds::function_flags;
use crate::native::functions::{Function, SignatureBlock};
use crate::native::this::{At, ObjectView, View};
use crate::native::{NativeInterface, Natives};
use crate::object::decl::{FunctionDecl, InterfaceDecl};
use crate::object::native_value::{NativeParams, NativeResult, NativeValue, fingerprint};
use crate::object::natives::core_of;
use crate::object::origin::Origin;

/// Implemented by the type that `#[uinterface]` generates for an interface.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::native::{uclass, uinterface};
/// use alcedo_runtime::{CallError, Runtime, natives};
///
/// #[uinterface(package = "Game")]
/// pub trait Hums {
///     /// Hums, and returns the total.
///     fn hum(&mut self, times: u32) -> u32;
/// }
///
/// #[uclass(package = "Game", implements(Hums))]
/// #[derive(Default)]
/// pub struct Lamp {
///     hums: u32,
/// }
///
/// #[uclass]
/// impl Hums for Lamp {
///     fn hum(&mut self, times: u32) -> u32 {
///         self.hums += times;
///         self.hums
///     }
/// }
///
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = Runtime::builder().natives(natives![Hums, Lamp]).build()?;
/// let lamp = runtime.objects().spawn_as::<Lamp>()?;
/// let hummed = runtime.objects().with(lamp, |lamp| {
///     let hums = lamp.as_interface::<Hums>()?;
///     Ok::<_, CallError>(hums.hum(2) + hums.hum(3))
/// })??;
/// assert_eq!(hummed, 7);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an interface",
    label = "declare it with `#[uinterface(package = \"…\")]`, or take `Obj<Class>` for objects of one class"
)]
pub trait Interface: Sized + 'static {
    /// View of an object. Has the functions of the interface, and the functions that all objects have.
    type View<'f>: View<'f>;
    /// Path of the interface, such as `/Script/Package.Name`.
    const PATH: &'static str;
    /// Functions of the interface, for compile-time checks of classes.
    #[doc(hidden)]
    const FUNCTIONS: &'static [InterfaceFunction];
    /// Names of the functions, for compiler messages.
    #[doc(hidden)]
    const NAMES: &'static str;
}

impl<'f> ObjectView<'f> {
    /// Returns a view of the object with the functions of the interface `I`.
    ///
    /// # Errors
    /// Returns [`CallError::WrongClass`] if the class of the object does not implement the interface, and [`CallError::Stale`] if the
    /// object is destroyed.
    pub fn as_interface<I: Interface>(&self) -> Result<I::View<'f>, CallError> {
        let At { world, object } = self.at();
        core_of(world).check_implements(object, I::PATH)?;
        Ok(I::View::new(At { world, object }))
    }
}

/// Describes an interface function with parameters `A` and result `R`, for the compile-time checks of a class.
pub const fn compared<A: NativeParams, R: NativeResult>(name: &'static str, text: &'static str) -> InterfaceFunction {
    InterfaceFunction::new(name, text, fingerprint::<A, R>())
}

/// Compiles only if values of type `T` can be parameters. `#[uinterface]` attaches the source span of the type to the call of this
/// function, so the compiler error refers to the type.
pub const fn crosses<T: NativeValue>() {}

/// Checks if the interface function `name` has parameters `A` and result `R`. Returns `true` for an unknown name, because a separate
/// check reports unknown names.
pub const fn has_signature<I: Interface, A: NativeParams, R: NativeResult>(name: &str) -> bool {
    interface_check::has_signature(I::FUNCTIONS, name, fingerprint::<A, R>())
}

/// Function bodies with which class `C` implements interface `I`.
pub struct Bodies<C: 'static, I> {
    functions: &'static [Function<C>],
    are_written: bool,
    of: PhantomData<fn() -> I>,
}

impl<C, I: Interface> Bodies<C, I> {
    /// Empty bodies, for a class without an `impl` block for the interface.
    pub const NONE: Self = Self { functions: &[], are_written: false, of: PhantomData };

    /// Creates the bodies from the functions in an `impl` block.
    pub const fn new(functions: &'static [Function<C>]) -> Self {
        Self { functions, are_written: true, of: PhantomData }
    }

    /// Returns `true` if the class has an `impl` block for the interface, or the interface has no functions.
    pub const fn are_there(&self) -> bool {
        self.are_written || I::FUNCTIONS.is_empty()
    }

    /// Returns the functions.
    pub const fn functions(&self) -> &'static [Function<C>] {
        self.functions
    }
}

/// Declares a function of an interface.
pub fn interface_function<A: NativeParams, R: NativeResult>(
    name: &'static str,
    may_fail: bool,
    block: &SignatureBlock<A, R>,
    doc: &'static str,
) -> FunctionDecl {
    let fallible = if may_fail { function_flags::FALLIBLE } else { 0 };
    let mut params = A::declared(block.names());
    params.extend(R::declared());
    let (flags, doc) = (function_flags::CALLABLE | fallible, doc.to_owned());
    FunctionDecl { flags, params, doc, ..FunctionDecl::without_body(name) }
}

/// Adds an interface.
#[must_use]
pub fn add_interface(natives: Natives, of: (&str, &str), doc: &str, functions: Vec<FunctionDecl>) -> Natives {
    let (package, name) = of;
    let doc = doc.to_owned();
    let decl = InterfaceDecl { functions, doc, ..InterfaceDecl::new(package, name, Origin::Native) };
    natives.of_package(package).interface_with_functions(NativeInterface(decl))
}

/// Splits a member path such as `/Script/Game.Lamp:flicker` into type path and member name.
pub const fn member(path: &'static str) -> (&'static str, &'static str) {
    let bytes = path.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b':' {
            let (of, name) = path.split_at(at);
            return (of, name.split_at(1).1);
        }
        at += 1;
    }
    ("", path)
}
