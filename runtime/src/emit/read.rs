//! Copies the descriptions of one module into declarations of the host. A declaration contains no pointer into the module, except function
//! pointers. The host calls these functions through the module's gate.
//!
//! The implementations of [`Copied`] list the fields of each description once. Each implementation reads descriptions of mapped modules,
//! and also of library files whose code never runs. The caller has compared the layout hash in the manifest, so the
//! descriptions in the file have the layout of this build.

use std::mem::offset_of;
use std::rc::{Rc, Weak};

use alcedo_abi::abi_stable::std_types::{RSlice, RStr};
use alcedo_abi::describe::{
    ClassDesc, DelegateDesc, EnumDesc, EnumEntryDesc, ExportDesc, FunctionDesc, ImportDesc, ImportKind, InterfaceDesc,
    MetaDesc, PropertyDesc, SignatureDesc, StructDesc,
};
use alcedo_abi::direct::DirectMethod;
use alcedo_abi::enums;
use alcedo_abi::kinds::{PropertyKind, property_flags};
use alcedo_sys::Constants;
use rustc_hash::FxHashMap;

use crate::bridge::core::Core;
use crate::bridge::module_thunk::module_thunk;
use crate::conjugate::gate::Gate;
use crate::emit::described::Described;
use crate::emit::error::EmitError;
use crate::emit::strings;
use crate::object::decl::{
    Batch, ClassDecl, DelegateDecl, EnumDecl, FunctionDecl, InterfaceDecl, PropertyDecl, StructDecl,
};
use crate::object::enums::EnumEntry;
use crate::object::origin::Origin;
use crate::object::path::TypePath;

/// Maximum length of a string and of a list. A larger length means that the descriptions are damaged.
pub(crate) const MOST: u64 = 1 << 20;

/// Size of a machine word of the target, in bytes.
pub(crate) const WORD: u64 = 8;

/// Constant of a description, which the host copies from a mapped module or from a library file.
pub(crate) trait Copied {
    /// Type of the copy.
    type Own;
    /// Copies the constant of a mapped module.
    fn copied(&self) -> Self::Own;
    /// Copies the constant at an address in a library file. Returns `None` if the file contains no valid constant at this address.
    fn read(from: &Constants<'_>, at: u64) -> Option<Self::Own>;
}

/// Copies the entries of a list.
pub(crate) fn all<T: Copied>(list: &[&T]) -> Vec<T::Own> {
    list.iter().map(|found| found.copied()).collect()
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Copied for $number {
            type Own = Self;

            fn copied(&self) -> Self {
                *self
            }

            fn read(from: &Constants<'_>, at: u64) -> Option<Self> {
                from.bytes(at, size_of::<Self>() as u64)?.try_into().ok().map(Self::from_le_bytes)
            }
        }
    )*};
}
numbers!(u8, u32, u64);

macro_rules! kinds {
    ($($kind:ident),*) => {$(
        impl Copied for $kind {
            type Own = Self;

            fn copied(&self) -> Self {
                *self
            }

            fn read(from: &Constants<'_>, at: u64) -> Option<Self> {
                u8::read(from, at).map(Self)
            }
        }
    )*};
}
kinds!(PropertyKind, ImportKind);

impl Copied for RStr<'static> {
    type Own = String;

    fn copied(&self) -> String {
        self.as_str().to_owned()
    }

    fn read(from: &Constants<'_>, at: u64) -> Option<String> {
        match slice(from, at)? {
            (_, 0) => Some(String::new()),
            (start, len) => std::str::from_utf8(from.bytes(start, len)?).ok().map(str::to_owned),
        }
    }
}

impl<T: Copied + 'static> Copied for RSlice<'static, T> {
    type Own = Vec<T::Own>;

    fn copied(&self) -> Vec<T::Own> {
        self.iter().map(T::copied).collect()
    }

    fn read(from: &Constants<'_>, at: u64) -> Option<Vec<T::Own>> {
        let (start, len) = slice(from, at)?;
        (0..len).map(|entry| T::read(from, start.checked_add(entry * size_of::<T>() as u64)?)).collect()
    }
}

/// Returns the address of the first entry of a slice, and the number of entries.
fn slice(from: &Constants<'_>, at: u64) -> Option<(u64, u64)> {
    match u64::read(from, at.checked_add(WORD)?)? {
        // Does not read the address of an empty slice, because that address is invalid.
        0 => Some((0, 0)),
        len => Some((from.address(at)?, len)).filter(|(_, len)| *len <= MOST),
    }
}

/// Reads a field of the description at `at`. The last argument determines the type of the field.
fn field<D, T: Copied>(from: &Constants<'_>, at: u64, offset: usize, _of: fn(&D) -> &T) -> Option<T::Own> {
    T::read(from, at.checked_add(offset as u64)?)
}

macro_rules! descriptions {
    ($($description:ty { $($field:ident),* } => $own:ty: $made:expr;)*) => {$(
        impl Copied for $description {
            type Own = $own;

            fn copied(&self) -> $own {
                $(let $field = self.$field.copied();)*
                $made
            }

            fn read(from: &Constants<'_>, at: u64) -> Option<$own> {
                $(let $field = field(from, at, offset_of!($description, $field), |of: &$description| &of.$field)?;)*
                Some($made)
            }
        }
    )*};
}
descriptions! {
    MetaDesc { key, value } => (String, String): (key, value);
    PropertyDesc { name, kind, type_path, flags, default, doc, meta } => PropertyDecl:
        PropertyDecl { name, kind, type_path, flags, default, doc, meta };
    SignatureDesc { name, flags, params, fingerprint, doc } => FunctionDecl:
        FunctionDecl { name, flags, params, fingerprint, doc, ..FunctionDecl::without_body("") };
    FunctionDesc { name, flags, overrides, params, fingerprint, doc, meta } => FunctionDecl:
        FunctionDecl { name, flags, overrides, params, fingerprint, doc, meta, ..FunctionDecl::without_body("") };
    InterfaceDesc { package, name, functions, doc } => InterfaceDecl:
        InterfaceDecl { package, name, origin: Origin::Dynamic, functions, doc };
    EnumEntryDesc { name, number, display, doc, hidden } => EnumEntry: EnumEntry {
        name: name.into(),
        number: number.into(),
        display: display.into(),
        is_hidden: hidden != 0,
        doc: doc.into(),
    };
    EnumDesc { package, name, underlying, flags, entries, fingerprint, doc } => EnumDecl: {
        let (is_flags, entries) = (flags != 0, signed(underlying, entries));
        EnumDecl { package, name, origin: Origin::Dynamic, underlying, is_flags, entries, fingerprint, doc }
    };
    DelegateDesc { package, class, name, kind, params, fingerprint, doc } => DelegateDecl: {
        // Accepts an invalid path here. The later check of the declaration rejects the path.
        let package = class.parse::<TypePath>().map_or(package, |path| path.package);
        DelegateDecl { package, class, name, origin: Origin::Dynamic, kind, params, fingerprint, doc }
    };
    StructDesc { package, name, size, align, fields, fingerprint, doc } => StructDecl: {
        let (base, fields) = based(fields);
        StructDecl { package, name, origin: Origin::Dynamic, base, size, align, fields, fingerprint, doc }
    };
    ClassDesc {
        package, name, base, flags, properties, functions, doc, implements, subobject_classes, default_overrides
    } => ClassDecl: ClassDecl {
        package,
        name,
        base,
        origin: Origin::Dynamic,
        flags,
        properties,
        functions,
        subobjects: subobject_classes,
        default_overrides,
        interfaces: implements,
        doc,
        ..ClassDecl::default()
    };
    ExportDesc { type_path, name, signature } => (String, String, String): (type_path, name, signature);
    ImportDesc { path, kind } => (String, ImportKind): (path, kind);
}

/// Sign-extends the discriminants of an enum with a signed type.
fn signed(underlying: PropertyKind, mut entries: Vec<EnumEntry>) -> Vec<EnumEntry> {
    entries.iter_mut().for_each(|entry| entry.number = enums::signed(underlying, entry.number as u64));
    entries
}

/// Removes the base struct from the fields, and returns the path of the base struct. A module lists the base struct as the first field.
fn based(mut fields: Vec<PropertyDecl>) -> (String, Vec<PropertyDecl>) {
    let extends = |first: &PropertyDecl| first.flags & property_flags::BASE != 0 && first.kind == PropertyKind::STRUCT;
    let base = if fields.first().is_some_and(extends) { fields.remove(0).type_path } else { String::new() };
    (base, fields)
}

/// Copies the declarations of a mapped module. The functions have no bodies.
pub(crate) fn batch_of(described: Described) -> Batch {
    Batch {
        interfaces: all(described.interfaces),
        enums: all(described.enums),
        delegates: all(described.delegates),
        structs: all(described.structs),
        classes: all(described.classes),
        earlier_names: all(described.earlier_names),
    }
}

/// Adds the declarations of a module to a batch. The thunks of the functions call the module.
///
/// # Errors
/// Returns [`EmitError::Text`] if a string violates its grammar.
pub(crate) fn add(
    batch: &mut Batch,
    core: &Weak<Core>,
    gate: &Rc<Gate>,
    described: Described,
) -> Result<(), EmitError> {
    strings::check(&gate.tag().name, described)?;
    let mut own = batch_of(described);
    let of_interfaces = own.interfaces.iter_mut().flat_map(|interface| &mut interface.functions);
    of_interfaces.for_each(|function| function.tag = gate.tag().id.0);
    for (class, described) in own.classes.iter_mut().zip(described.classes) {
        bind(class, described, core, gate);
    }
    // Sorts the classes, because the order in the linked library is arbitrary, and must not affect the result.
    own.classes.sort_by(|one, other| (&one.package, &one.name).cmp(&(&other.package, &other.name)));
    batch.append(own);
    Ok(())
}

/// Sets the thunks of a class. The thunks call the module.
fn bind(class: &mut ClassDecl, described: &ClassDesc, core: &Weak<Core>, gate: &Rc<Gate>) {
    class.tag = gate.tag().id.0;
    for (function, described) in class.functions.iter_mut().zip(described.functions.iter()) {
        let what = format!("{}.{}:{}", class.package, class.name, function.name).into();
        function.thunk = module_thunk(Weak::clone(core), Rc::clone(gate), described.invoke, what);
        function.tag = class.tag;
    }
}

/// Returns the functions of a class that support direct calls, by function name. Each entry contains the name that red frames record, and
/// the direct trampoline.
pub(crate) fn direct_methods(described: &ClassDesc) -> FxHashMap<Box<str>, (Rc<str>, DirectMethod)> {
    let class = format!("{}.{}", described.package, described.name);
    let direct = described.functions.iter().filter_map(|function| Some((function, function.direct.into_option()?)));
    direct
        .map(|(function, direct)| {
            (function.name.as_str().into(), (format!("{class}:{}", function.name).into(), direct))
        })
        .collect()
}
