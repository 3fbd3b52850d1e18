//! Declarations of a module as constant data: classes, structs, enums, delegates, interfaces, functions, imports and exports. The host
//! copies the required data when it emits the types. The host writes only to the cells, which are destroyed with the image.

use core::sync::atomic::{AtomicU64, Ordering};

use abi_stable::StableAbi;
use abi_stable::std_types::{ROption, RSlice, RStr};

use crate::call::{Call, Failure, Invoke, Status};
use crate::direct::{DirectMethod, DirectTrampoline};
use crate::handles::PartPtr;
use crate::kinds::PropertyKind;
use crate::value::{KeepSink, TextView};
use crate::zcall::ZCallBuffer;

/// A number that the host fills in while it loads a module, before any hooks of the module run: the offset of a property, the
/// ZCall handle of a function, or a class id.
#[repr(transparent)]
#[derive(StableAbi, Debug, Default)]
pub struct Cell(AtomicU64);

impl Cell {
    /// Value of an unfilled cell, which is neither an offset, nor a class id, nor a ZCall handle.
    pub const UNFILLED: u64 = 1 << 63;

    /// Creates an unfilled cell.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU64::new(Self::UNFILLED))
    }

    /// Returns the number, or [`Self::UNFILLED`].
    #[inline]
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Fills the cell. Called only by the host.
    ///
    /// # Safety
    /// The number is correct for the item that the description assigns to the cell: code of the module uses the number to read and
    /// write memory.
    #[expect(unsafe_code, reason = "the host trusts the number in the cell")]
    pub unsafe fn fill(&self, number: u64) {
        self.0.store(number, Ordering::Relaxed);
    }
}

/// Metadata of a member of a type, for editors and tools.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct MetaDesc {
    /// Key, unique in its member.
    pub key: RStr<'static>,
    /// Value of any form.
    pub value: RStr<'static>,
}

/// Creates a metadata entry of a member.
#[must_use]
pub const fn meta(key: &'static str, value: &'static str) -> MetaDesc {
    MetaDesc { key: RStr::from_str(key), value: RStr::from_str(value) }
}

/// Documentation and metadata of a member. Does not cross the ABI boundary.
#[derive(Clone, Copy, Debug)]
pub struct Metadata {
    /// Doc comment.
    pub doc: &'static str,
    /// Metadata entries.
    pub meta: &'static [MetaDesc],
}

impl Metadata {
    /// No documentation.
    pub const NONE: Self = Self { doc: "", meta: &[] };
}

/// C attributes of a parameter. Does not cross the ABI boundary.
#[derive(Clone, Copy, Debug)]
pub struct CParam {
    /// True if C may write to the parameter.
    pub is_out: bool,
    /// Length of an array.
    pub meta: &'static [MetaDesc],
}

/// Keys of metadata for functions of C libraries.
pub mod c_keys {
    /// Library of a function.
    pub const LIBRARY: &str = "DllBind";
    /// Symbol of a function, if the symbol differs from the function's name.
    pub const SYMBOL: &str = "DllSymbol";
    /// Length of a parameter that is an array.
    pub const LEN: &str = "ArrayDim";
}

/// Metadata key of a function that converts values of an earlier declaration. The metadata value is the name of a property, or empty
/// for whole objects. The function is static and hidden from tools; it receives the earlier value and returns the new value.
pub const CONVERTS: &str = "AlcedoConverts";

/// A property, a struct field or a parameter.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct PropertyDesc {
    /// Name, unique in its owner.
    pub name: RStr<'static>,
    /// Kind of the value.
    pub kind: PropertyKind,
    /// Path of the struct or class of the value; empty for plain kinds.
    pub type_path: RStr<'static>,
    /// Bits of [`crate::kinds::property_flags`].
    pub flags: u64,
    /// Default in the syntax of the property's kind; empty means zero.
    pub default: RStr<'static>,
    /// Doc comment.
    pub doc: RStr<'static>,
    /// Metadata.
    pub meta: RSlice<'static, MetaDesc>,
    /// Offset in the struct or parameter block, in bytes; unused for class properties, which the host lays out.
    pub offset: u32,
    /// Receives the offset in the object, for class properties.
    pub cell: ROption<&'static Cell>,
}

/// A reflected function.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct FunctionDesc {
    /// Name, unique in its class unless the function is an override.
    pub name: RStr<'static>,
    /// Bits of [`crate::kinds::function_flags`].
    pub flags: u64,
    /// Path of the class that declares the overridden event; empty otherwise.
    pub overrides: RStr<'static>,
    /// Parameters in order; the result last, with the `RETURN` flag.
    pub params: RSlice<'static, PropertyDesc>,
    /// Size of the parameter block, in bytes.
    pub params_size: u32,
    /// Alignment of the parameter block.
    pub params_align: u32,
    /// Fingerprint of the signature.
    pub fingerprint: u64,
    /// Body of the function; for a native event, the default body.
    pub invoke: Invoke,
    /// Body that takes no parameter block, for a method whose parameters and result are plain values.
    pub direct: ROption<DirectMethod>,
    /// Receives the handle of the virtual call.
    pub cell: &'static Cell,
    /// Doc comment.
    pub doc: RStr<'static>,
    /// Metadata.
    pub meta: RSlice<'static, MetaDesc>,
}

/// Hooks of the plugin part of a class.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct PartHooks {
    /// Builds the plugin part.
    pub red_constructor: unsafe extern "C" fn(call: &mut Call<'_>, out: &mut PartPtr) -> Status,
    /// Called once per object.
    pub class_constructor: ROption<Invoke>,
    /// Called after the defaults were copied in.
    pub post_init_properties: ROption<Invoke>,
    /// Saves the kept fields.
    pub save_kept: unsafe extern "C" fn(part: PartPtr, sink: &KeepSink, failure: &mut Failure) -> Status,
    /// Restores a kept field; after `FAILED`, the field keeps the value set by the red constructor.
    pub load_kept: unsafe extern "C" fn(
        part: PartPtr,
        name: TextView,
        data: *const u8,
        len: usize,
        failure: &mut Failure,
    ) -> Status,
    /// Fingerprint of the names and types of the kept fields; zero if the fields are saved by name only.
    pub kept_print: u64,
    /// Number of kept fields.
    pub kept_count: u32,
    /// Passes all kept fields to the sink as bytes, in pieces with an empty name. Called only if `kept_print` is not zero.
    pub pack_kept: unsafe extern "C" fn(part: PartPtr, sink: &KeepSink, failure: &mut Failure) -> Status,
    /// Restores all kept fields from the bytes of `pack_kept`. Called only if the class that wrote the bytes has an equal
    /// `kept_print`.
    pub unpack_kept: unsafe extern "C" fn(part: PartPtr, data: *const u8, len: usize, failure: &mut Failure) -> Status,
    /// The finalizer: drops the plugin part, on the finalizer thread.
    pub finalize: unsafe extern "C" fn(part: PartPtr, failure: &mut Failure) -> Status,
}

/// A class.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ClassDesc {
    /// Package of the class, without `/Script/`.
    pub package: RStr<'static>,
    /// Name in the package.
    pub name: RStr<'static>,
    /// Path of its base class.
    pub base: RStr<'static>,
    /// Bits of [`crate::kinds::class_flags`].
    pub flags: u64,
    /// Properties declared by the class.
    pub properties: RSlice<'static, PropertyDesc>,
    /// Functions declared by the class.
    pub functions: RSlice<'static, FunctionDesc>,
    /// Hooks of the plugin part.
    pub hooks: PartHooks,
    /// Receives the class id.
    pub cell: &'static Cell,
    /// Doc comment.
    pub doc: RStr<'static>,
    /// Paths of the interfaces that the class implements in addition to the interfaces of its bases.
    pub implements: RSlice<'static, RStr<'static>>,
    /// Classes that replace those of subobjects declared by base classes: name of the property, and path of the class.
    pub subobject_classes: RSlice<'static, MetaDesc>,
    /// Defaults of inherited properties and of properties in subobjects: the property names separated by dots, and the value as a
    /// string.
    pub default_overrides: RSlice<'static, MetaDesc>,
}

/// A function of an interface: parameters and result. Classes implement the function by a function of the same name.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct SignatureDesc {
    /// Name, unique in its interface.
    pub name: RStr<'static>,
    /// Bits of [`crate::kinds::function_flags`].
    pub flags: u64,
    /// Parameters in order; the result last, with the `RETURN` flag.
    pub params: RSlice<'static, PropertyDesc>,
    /// Fingerprint of the signature.
    pub fingerprint: u64,
    /// Doc comment.
    pub doc: RStr<'static>,
}

/// An interface: functions that classes promise to implement.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct InterfaceDesc {
    /// Package of the interface, without `/Script/`.
    pub package: RStr<'static>,
    /// Name in the package.
    pub name: RStr<'static>,
    /// Functions of the interface.
    pub functions: RSlice<'static, SignatureDesc>,
    /// Doc comment.
    pub doc: RStr<'static>,
}

/// A struct that is passed by value.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct StructDesc {
    /// Package of the struct, without `/Script/`.
    pub package: RStr<'static>,
    /// Name in the package.
    pub name: RStr<'static>,
    /// Size in bytes.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Fields in order, with their offsets.
    pub fields: RSlice<'static, PropertyDesc>,
    /// Fingerprint of size, alignment and fields.
    pub fingerprint: u64,
    /// Doc comment.
    pub doc: RStr<'static>,
}

/// A named number of an enum.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct EnumEntryDesc {
    /// Name, unique in its enum.
    pub name: RStr<'static>,
    /// Value of the entry, sign-extended to 64 bits.
    pub number: u64,
    /// Display name; empty if it is derived from the name.
    pub display: RStr<'static>,
    /// Doc comment.
    pub doc: RStr<'static>,
    /// Nonzero if editors hide the entry.
    pub hidden: u8,
}

/// An enum.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct EnumDesc {
    /// Package of the enum, without `/Script/`.
    pub package: RStr<'static>,
    /// Name in the package.
    pub name: RStr<'static>,
    /// Underlying type: one of the eight integer kinds.
    pub underlying: PropertyKind,
    /// Nonzero if a value is a set of flags; each entry is then one bit.
    pub flags: u8,
    /// Entries in order.
    pub entries: RSlice<'static, EnumEntryDesc>,
    /// Fingerprint of the underlying type, of [`Self::flags`], and of the names and numbers of the entries.
    pub fingerprint: u64,
    /// Doc comment.
    pub doc: RStr<'static>,
}

/// A named delegate.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DelegateDesc {
    /// Package of the delegate, without `/Script/`; empty for a delegate of a class.
    pub package: RStr<'static>,
    /// Path of the class that contains the delegate, declared by the same module; empty for a delegate outside of classes.
    pub class: RStr<'static>,
    /// Name in the package or class.
    pub name: RStr<'static>,
    /// `DELEGATE`, `MULTICAST_DELEGATE` or `SPARSE_DELEGATE`.
    pub kind: PropertyKind,
    /// Parameters in order; the result last, with the `RETURN` flag.
    pub params: RSlice<'static, PropertyDesc>,
    /// Fingerprint of kind, path and signature.
    pub fingerprint: u64,
    /// Doc comment.
    pub doc: RStr<'static>,
}

/// Kind of an import.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImportKind(pub u8);

impl ImportKind {
    /// A class: the cell receives the class id. The fingerprint is computed from the path of a direct or indirect base class.
    pub const CLASS: Self = Self(1);
    /// A property: the cell receives its offset.
    pub const PROPERTY: Self = Self(2);
    /// A function for virtual calls: the cell receives a ZCall handle.
    pub const FUNCTION: Self = Self(3);
    /// A function for non-virtual calls, in which no override is called: the cell receives a ZCall handle.
    pub const FUNCTION_FINAL: Self = Self(4);
    /// A struct: only its fingerprint is compared.
    pub const STRUCT: Self = Self(5);
    /// An interface: only its existence is checked.
    pub const INTERFACE: Self = Self(6);
    /// An enum: only its fingerprint is compared.
    pub const ENUM: Self = Self(7);
    /// A named delegate: only its fingerprint is compared.
    pub const DELEGATE: Self = Self(8);
}

/// An item that a module uses and another module declares. The host checks the item when it loads the module, so that a missing member
/// or a wrong signature is detected before the first call.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ImportDesc {
    /// Kind of the item.
    pub kind: ImportKind,
    /// Path: `/Script/Package.Type` or `/Script/Package.Type:member`.
    pub path: RStr<'static>,
    /// Fingerprint of the type, signature or layout.
    pub fingerprint: u64,
    /// Text form of the expected item: the base of a class, the type of a property, the signature of a function. Errors contain this
    /// text if the fingerprints differ; the text itself is not compared.
    pub expected: RStr<'static>,
    /// Expected fields of a struct, or names of the expected properties of a class.
    pub fields: RSlice<'static, PropertyDesc>,
    /// Receives the number that the item's kind specifies.
    pub cell: &'static Cell,
}

/// ZCall trampoline of a plugin function.
///
/// # Safety
/// `buffer` borrows its slots, live and unshared, until the function returns. Pointer slots match the signature of the called name.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ZCallInvoke(pub unsafe extern "C" fn(buffer: &mut ZCallBuffer, failure: &mut Failure) -> Status);

/// A static function that a module exports by name: as `ex:/name`, or as `nm:/module:type:name`.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ExportDesc {
    /// Path of the type that contains the function; empty for `ex`.
    pub type_path: RStr<'static>,
    /// Name of the function.
    pub name: RStr<'static>,
    /// Fingerprint of the signature.
    pub fingerprint: u64,
    /// Text form of the signature, for errors.
    pub signature: RStr<'static>,
    /// The body.
    pub invoke: ZCallInvoke,
    /// Body without a buffer, if parameters and result are plain values.
    pub direct: ROption<DirectTrampoline>,
}

/// An entry of a function table: name and signature of the function.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct EntryDesc {
    /// Name of the entry.
    pub name: RStr<'static>,
    /// Signature for errors: `i32, i32 -> i32`.
    pub signature: RStr<'static>,
    /// Fingerprint of the signature.
    pub fingerprint: u64,
}

/// A table of functions that one side implements and the other calls.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct TableDesc {
    /// Name of the table. Entries of a host are functions `ex:/table/entry`; entries of a module are functions
    /// `nm:/module:table:entry`.
    pub name: RStr<'static>,
    /// Fingerprint of the names and signatures of the entries: see [`table_fingerprint`](crate::fingerprint::table_fingerprint).
    pub fingerprint: u64,
    /// The entries.
    pub entries: RSlice<'static, EntryDesc>,
}

/// The two tables of an entry method, each optional.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Default, Debug)]
pub struct EntryTables {
    /// Implemented by the host and called by the module.
    pub host: ROption<&'static TableDesc>,
    /// Implemented by the module and called by the host.
    pub module: ROption<&'static TableDesc>,
}

impl EntryTables {
    /// No table.
    pub const NONE: Self = Self { host: ROption::RNone, module: ROption::RNone };
}
