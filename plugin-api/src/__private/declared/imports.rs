//! Typed declarations of imports from other modules. The host compares each import with the types in the host.

use alcedo_abi::abi_stable::std_types::{RSlice, RStr};
use alcedo_abi::describe::{Cell, ImportDesc, ImportKind, PropertyDesc};
use alcedo_abi::enums;
use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::type_text::is_member_path;

use super::{Declared, SignatureWords};
use crate::__private::describe::{struct_fingerprint, value};
use crate::__private::enums::Underlying;
use crate::cells::{ClassCell, FunctionCell};
use crate::kinds::FieldType;
use crate::property::PropertyCell;
use crate::signature::{Params, ReturnValue, ValueType, fingerprint};
use crate::{Class, Value};

pub(crate) const fn import(
    kind: ImportKind,
    path: &'static str,
    fingerprint: u64,
    expected: &'static str,
    cell: &'static Cell,
) -> Declared<ImportDesc> {
    let (path, expected) = (RStr::from_str(path), RStr::from_str(expected));
    Declared(ImportDesc { kind, path, fingerprint, expected, fields: RSlice::from_slice(&[]), cell })
}

/// Imports a type that must exist in the host, but for which the host stores no number. All such imports share one cell, which is never
/// read.
pub(crate) const fn import_type(
    kind: ImportKind,
    path: &'static str,
    fingerprint: u64,
    expected: &'static str,
) -> Declared<ImportDesc> {
    static CELL: Cell = Cell::new();
    import(kind, path, fingerprint, expected, &CELL)
}

/// Imports a class of another module. The host checks that the class has the expected base, because plugin code accesses members of the
/// base class through the imported class.
#[must_use]
pub const fn import_class<C: Class>(
    properties: &'static [PropertyDesc],
    cell: &'static ClassCell<C>,
) -> Declared<ImportDesc> {
    let fingerprint = Fingerprint::START.text(<C::Base as Class>::PATH).finish();
    let Declared(import) = import(ImportKind::CLASS, C::PATH, fingerprint, <C::Base as Class>::PATH, &cell.0);
    Declared(ImportDesc { fields: RSlice::from_slice(properties), ..import })
}

/// Describes a property of an imported class by its name, for error messages. [`import_property`] states the property's type.
#[must_use]
pub const fn member_name(name: &'static str) -> PropertyDesc {
    value(name, ValueType::of::<u8>(), 0)
}

/// Returns the section number of an import: a hash of the import's path. The linker keeps or drops imports with equal numbers together.
#[must_use]
pub const fn section_of(path: &str) -> u32 {
    (Fingerprint::START.text(path).finish() & 0x7fff_ffff) as u32
}

/// Imports a property of another module. `path` consists of the class's path, a colon, and the property's name.
#[must_use]
pub const fn import_property<C: Class, T: Value>(
    path: &'static str,
    cell: &'static PropertyCell<C, T>,
) -> Declared<ImportDesc> {
    assert!(is_member_path(path, C::PATH), "a property is imported from the class whose objects have it");
    let fingerprint = Fingerprint::START.value(T::KIND, T::TYPE_PATH).finish();
    import(ImportKind::PROPERTY, path, fingerprint, T::TYPE.as_str(), &cell.0)
}

/// Imports a function of another module for virtual calls.
#[must_use]
pub const fn import_function<C: Class, A: Params, R: ReturnValue>(
    path: &'static str,
    cell: &'static FunctionCell<C, A, R>,
) -> Declared<ImportDesc> {
    assert!(is_member_path(path, C::PATH), "a function is imported from the class whose objects have it");
    import(ImportKind::FUNCTION, path, fingerprint::<A, R>(), SignatureWords::<A, R>::TEXT, &cell.0)
}

/// Imports the function of the base class that class `C` overrides.
#[must_use]
pub const fn import_overridden<C: Class, A: Params, R: ReturnValue>(
    path: &'static str,
    cell: &'static FunctionCell<C, A, R>,
) -> Declared<ImportDesc> {
    assert!(is_member_path(path, <C::Base as Class>::PATH), "an overridden function is a function of the base class");
    import(ImportKind::FUNCTION_FINAL, path, fingerprint::<A, R>(), SignatureWords::<A, R>::TEXT, &cell.0)
}

/// Imports a struct of another module by its fingerprint.
#[must_use]
pub const fn import_structure<S: Value>(
    fields: &[FieldType<S>],
    descriptions: &'static [PropertyDesc],
) -> Declared<ImportDesc> {
    let Declared(import) = import_type(ImportKind::STRUCT, S::TYPE_PATH, struct_fingerprint(fields), "");
    Declared(ImportDesc { fields: RSlice::from_slice(descriptions), ..import })
}

/// Imports an enum of another module by its fingerprint. `words` describes the expected enum in error messages.
#[must_use]
pub const fn import_enumeration<E: Value<Raw = N>, N: Underlying>(
    is_flags: bool,
    numbers: &[(&'static str, u64)],
    words: &'static str,
) -> Declared<ImportDesc> {
    import_type(ImportKind::ENUM, E::TYPE_PATH, enums::fingerprint(N::KIND, is_flags, numbers), words)
}
