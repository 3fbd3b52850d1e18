//! Interfaces as Rust types: what `#[uinterface]` of this crate makes of a trait, and what the compiler compares while a class
//! that lists one is compiled. Their functions are called by name on whatever object has them.

use std::marker::PhantomData;

use alcedo_abi::interface_check::{self, InterfaceFunction};
use alcedo_abi::type_text::contains;

use crate::border::CallError;
use crate::kinds::function_flags;
use crate::native::Natives;
use crate::native::functions::{Function, SignatureBlock};
use crate::native::this::{At, ObjectView, View};
use crate::object::decl::{FunctionDecl, InterfaceDecl};
use crate::object::native_value::{NativeParams, NativeResult, NativeValue, fingerprint};
use crate::object::natives::core_of;
use crate::object::origin::Origin;

/// An interface as a type, declared by `#[uinterface]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no interface",
    label = "declare it with `#[uinterface(package = \"…\")]`, or take `Obj<Class>` for objects of one class"
)]
pub trait Interface: Sized + 'static {
    /// What an object that is seen as the interface can do: its functions, then what any object can.
    type View<'f>: View<'f>;
    /// `/Script/Package.Name`.
    const PATH: &'static str;
    /// Its functions, for the compiler to compare classes with.
    #[doc(hidden)]
    const FUNCTIONS: &'static [InterfaceFunction];
    /// What its functions are called, for messages of the compiler.
    #[doc(hidden)]
    const NAMES: &'static str;
}

impl<'f> ObjectView<'f> {
    /// The same object, seen as an interface whose functions can be called on it.
    ///
    /// # Errors
    /// [`CallError::WrongClass`] when its class does not implement the interface; [`CallError::Stale`] when it is gone.
    pub fn as_interface<I: Interface>(&self) -> Result<I::View<'f>, CallError> {
        let At { world, object } = self.at();
        core_of(world).check_implements(object, I::PATH)?;
        Ok(I::View::new(At { world, object }))
    }
}

/// Describes a function that takes `A` and gives `R`, for [`declared_as`] and its like.
pub const fn compared<A: NativeParams, R: NativeResult>(name: &'static str, text: &'static str) -> InterfaceFunction {
    InterfaceFunction::new(name, text, fingerprint::<A, R>())
}

/// Whether values of the type can be parameters, asked where the author has written it.
pub const fn crosses<T: NativeValue>() {}

/// A function of the interface as its author wrote it; empty where there is none of that name.
pub const fn declared_as<I: Interface>(name: &str) -> &'static str {
    interface_check::declared_as(I::FUNCTIONS, name)
}

/// Whether the function of that name takes `A` and gives `R`; so it is where there is none, which is said elsewhere.
pub const fn has_signature<I: Interface, A: NativeParams, R: NativeResult>(name: &str) -> bool {
    interface_check::has_signature(I::FUNCTIONS, name, fingerprint::<A, R>())
}

/// The first function of the interface that has no body of a name in `names`, as its author wrote it; empty where all have.
pub const fn first_absent<I: Interface>(names: &[&str]) -> &'static str {
    interface_check::first_absent(I::FUNCTIONS, names)
}

/// A class that lists interfaces.
pub trait Implements {
    /// Their paths.
    const IMPLEMENTS: &'static [&'static str];
}

/// Whether the class lists the interface.
pub const fn lists<C: Implements, I: Interface>() -> bool {
    contains(C::IMPLEMENTS, I::PATH)
}

/// The bodies of class `C` for interface `I`.
pub struct Bodies<C: 'static, I> {
    functions: &'static [Function<C>],
    are_written: bool,
    of: PhantomData<fn() -> I>,
}

impl<C, I: Interface> Bodies<C, I> {
    /// Of a class that has no block for the interface.
    pub const NONE: Self = Self { functions: &[], are_written: false, of: PhantomData };

    /// Those of its block.
    pub const fn new(functions: &'static [Function<C>]) -> Self {
        Self { functions, are_written: true, of: PhantomData }
    }

    /// Whether there is a block, where one is needed.
    pub const fn are_there(&self) -> bool {
        self.are_written || I::FUNCTIONS.is_empty()
    }

    /// The functions.
    pub const fn functions(&self) -> &'static [Function<C>] {
        self.functions
    }
}

/// A function of an interface as it is declared.
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
    let mut natives = natives.of_package(package);
    let doc = doc.to_owned();
    natives.batch.interfaces.push(InterfaceDecl {
        functions,
        doc,
        ..InterfaceDecl::new(package, name, Origin::Native)
    });
    natives
}

/// The type and the name of a member: `/Script/Game.Lamp:flicker`.
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
