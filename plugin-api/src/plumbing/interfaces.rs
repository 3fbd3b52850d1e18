//! What a module declares of interfaces, and what the compiler compares while it is compiled: each class that lists one has a
//! body of the same signature for each function, and the message names what differs.

use core::marker::PhantomData;

use alcedo_abi::abi_stable::std_types::{RSlice, RStr};
use alcedo_abi::describe::{ImportDesc, ImportKind, InterfaceDesc, SignatureDesc};
use alcedo_abi::interface_check::{self, InterfaceFunction};
use alcedo_abi::kinds::function_flags;
use alcedo_abi::type_text::contains;

use super::declared::{Declared, Function, FunctionOf, SignatureWords, import};
use super::describe::SignatureBlock;
use super::shells::bare;
use crate::cells::{FunctionCell, PresenceCell};
use crate::signature::{Params, ReturnValue, fingerprint};
use crate::type_text::{is_member_path, is_path_of};
use crate::{Class, Interface, Value};

/// Describes a function that takes `A` and gives `R`, for [`declared_as`] and its like.
#[must_use]
pub const fn compared<A: Params, R: ReturnValue>(name: &'static str, text: &'static str) -> InterfaceFunction {
    InterfaceFunction::new(name, text, fingerprint::<A, R>())
}

/// Whether values of the type can be parameters, asked where the author has written it.
pub const fn crosses<T: Value>() {}

/// A function of the interface as its author wrote it; empty where there is none of that name.
#[must_use]
pub const fn declared_as<I: Interface>(name: &str) -> &'static str {
    interface_check::declared_as(I::FUNCTIONS, name)
}

/// Whether the function of that name takes `A` and gives `R`; so it is where there is none, which is said elsewhere.
#[must_use]
pub const fn has_signature<I: Interface, A: Params, R: ReturnValue>(name: &str) -> bool {
    interface_check::has_signature(I::FUNCTIONS, name, fingerprint::<A, R>())
}

/// The first function of the interface that has no body of a name in `names`, as its author wrote it; empty where all have.
#[must_use]
pub const fn first_absent<I: Interface>(names: &[&str]) -> &'static str {
    interface_check::first_absent(I::FUNCTIONS, names)
}

/// Whether the class lists the interface.
#[must_use]
pub const fn lists<C: Class, I: Interface>() -> bool {
    contains(C::IMPLEMENTS, I::PATH)
}

/// The bodies of class `C` for interface `I`.
#[derive(Debug)]
pub struct Bodies<C: 'static, I> {
    functions: &'static [Function<C>],
    are_written: bool,
    of: PhantomData<fn() -> I>,
}

impl<C, I: Interface> Bodies<C, I> {
    /// Of a class that has no block for the interface.
    pub const NONE: Self = Self { functions: &[], are_written: false, of: PhantomData };

    /// Those of its block.
    #[must_use]
    pub const fn new(functions: &'static [Function<C>]) -> Self {
        Self { functions, are_written: true, of: PhantomData }
    }

    /// Whether there is a block, where one is needed.
    #[must_use]
    pub const fn are_there(&self) -> bool {
        self.are_written || I::FUNCTIONS.is_empty()
    }

    /// The functions.
    #[must_use]
    pub const fn functions(&self) -> &'static [Function<C>] {
        self.functions
    }
}

/// The path of an interface that a class implements.
#[must_use]
pub const fn interface_path<I: Interface>() -> RStr<'static> {
    RStr::from_str(I::PATH)
}

/// A function of interface `I`.
#[must_use]
pub const fn interface_function<I: Interface, A: Params, R: ReturnValue>(
    name: &'static str,
    may_fail: bool,
    block: &'static SignatureBlock<A, R>,
    doc: &'static str,
) -> FunctionOf<I> {
    let fallible = if may_fail { function_flags::FALLIBLE } else { 0 };
    let desc = SignatureDesc {
        name: RStr::from_str(name),
        flags: function_flags::CALLABLE | fallible,
        params: RSlice::from_slice(block.descriptions()),
        fingerprint: fingerprint::<A, R>(),
        doc: RStr::from_str(doc),
    };
    FunctionOf(desc, PhantomData)
}

/// An interface that this module declares.
#[must_use]
pub const fn interface<I: Interface>(
    package: &'static str,
    name: &'static str,
    functions: &'static [FunctionOf<I>],
    doc: &'static str,
) -> Declared<InterfaceDesc> {
    assert!(is_path_of(I::PATH, package, name), "an interface is declared under the path that it is known by");
    Declared(InterfaceDesc {
        package: RStr::from_str(package),
        name: RStr::from_str(name),
        functions: RSlice::from_slice(bare(functions)),
        doc: RStr::from_str(doc),
    })
}

/// An interface that another declares.
#[must_use]
pub const fn import_interface<I: Interface>(cell: &'static PresenceCell) -> Declared<ImportDesc> {
    import(ImportKind::INTERFACE, I::PATH, 0, "", &cell.0)
}

/// A function of an interface, whoever declares it. What it runs is found by the object it is called on.
#[must_use]
pub const fn import_interface_function<I: Interface, A: Params, R: ReturnValue>(
    path: &'static str,
    cell: &'static FunctionCell<I, A, R>,
) -> Declared<ImportDesc> {
    assert!(is_member_path(path, I::PATH), "a function is imported from the interface that declares it");
    import(ImportKind::FUNCTION, path, fingerprint::<A, R>(), SignatureWords::<A, R>::TEXT, &cell.0)
}
