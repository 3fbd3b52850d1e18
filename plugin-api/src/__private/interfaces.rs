//! Declarations of interfaces, and compile-time checks of classes that list an interface. For each function of an interface, an
//! implementing class must have a body with the same signature. If signatures differ, the compiler error contains both.

use core::marker::PhantomData;

use alcedo_abi::abi_stable::std_types::{RSlice, RStr};
use alcedo_abi::describe::{ImportDesc, ImportKind, InterfaceDesc, SignatureDesc};
use alcedo_abi::interface_check::{self, InterfaceFunction};
use alcedo_abi::kinds::function_flags;
use alcedo_abi::type_text::{is_member_path, is_path_of};

use super::declared::{Declared, Function, FunctionOf, SignatureWords, import, import_type};
use super::describe::SignatureBlock;
use super::trampolines::bare;
use crate::cells::FunctionCell;
use crate::signature::{Params, ReturnValue, fingerprint};
use crate::{Interface, Value};

/// Describes a function with parameters `A` and result `R`, for the compile-time checks of a class.
#[must_use]
pub const fn compared<A: Params, R: ReturnValue>(name: &'static str, text: &'static str) -> InterfaceFunction {
    InterfaceFunction::new(name, text, fingerprint::<A, R>())
}

/// Checks that `T` can be the type of a parameter. The macro calls this function at the span of the author's type, where errors then
/// appear.
pub const fn crosses<T: Value>() {}

/// Returns true if the function has parameters `A` and result `R`. Also returns true if the function is missing, because a separate check
/// reports a missing function.
#[must_use]
pub const fn has_signature<I: Interface, A: Params, R: ReturnValue>(name: &str) -> bool {
    interface_check::has_signature(I::FUNCTIONS, name, fingerprint::<A, R>())
}

/// Bodies with which class `C` implements the functions of interface `I`.
#[derive(Debug)]
pub struct Bodies<C: 'static, I> {
    functions: &'static [Function<C>],
    are_written: bool,
    of: PhantomData<fn() -> I>,
}

impl<C, I: Interface> Bodies<C, I> {
    /// Bodies of a class without a block for the interface.
    pub const NONE: Self = Self { functions: &[], are_written: false, of: PhantomData };

    /// Creates the bodies from the functions of an `impl` block.
    #[must_use]
    pub const fn new(functions: &'static [Function<C>]) -> Self {
        Self { functions, are_written: true, of: PhantomData }
    }

    /// Returns true if the class has an `impl` block for the interface, or if the interface has no functions.
    #[must_use]
    pub const fn are_there(&self) -> bool {
        self.are_written || I::FUNCTIONS.is_empty()
    }

    /// Returns the list of functions.
    #[must_use]
    pub const fn functions(&self) -> &'static [Function<C>] {
        self.functions
    }
}

/// Returns the path of an interface, for the list of interfaces that a class implements.
#[must_use]
pub const fn interface_path<I: Interface>() -> RStr<'static> {
    RStr::from_str(I::PATH)
}

/// Describes a function of interface `I`.
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

/// Describes an interface of this module.
#[must_use]
pub const fn interface<I: Interface>(
    package: &'static str,
    name: &'static str,
    functions: &'static [FunctionOf<I>],
    doc: &'static str,
) -> Declared<InterfaceDesc> {
    assert!(is_path_of(I::PATH, package, name), "the path of an interface must match its declaration");
    Declared(InterfaceDesc {
        package: RStr::from_str(package),
        name: RStr::from_str(name),
        functions: RSlice::from_slice(bare(functions)),
        doc: RStr::from_str(doc),
    })
}

/// Imports an interface of another module.
#[must_use]
pub const fn import_interface<I: Interface>() -> Declared<ImportDesc> {
    import_type(ImportKind::INTERFACE, I::PATH, 0, "")
}

/// Imports a function of an interface of any module. The class of the called object determines the body that runs.
#[must_use]
pub const fn import_interface_function<I: Interface, A: Params, R: ReturnValue>(
    path: &'static str,
    cell: &'static FunctionCell<I, A, R>,
) -> Declared<ImportDesc> {
    assert!(is_member_path(path, I::PATH), "a function is imported from the interface that declares it");
    import(ImportKind::FUNCTION, path, fingerprint::<A, R>(), SignatureWords::<A, R>::TEXT, &cell.0)
}
