//! Declarations of a module as constant data: classes, structs, enums, delegates, interfaces, functions, imports and exports. When the host
//! emits the types, it copies the data that it needs. The host writes only to the [`Cell`]s, which are unmapped with the image.

use core::sync::atomic::{AtomicU64, Ordering};

use abi_stable::StableAbi;
use abi_stable::std_types::{ROption, RSlice, RStr};

use crate::call::{Call, Failure, Invoke, Status};
use crate::direct::{DirectMethod, DirectTrampoline};
use crate::handles::PartPtr;
use crate::kinds::PropertyKind;
use crate::value::{KeepSink, TextView};
use crate::zcall::ZCallBuffer;

/// Number that the host stores while it loads a module, before any hook of the module runs. Depending on the owner of the cell, the number
/// is a property's offset, a function's ZCall handle or a class id.
#[repr(transparent)]
#[derive(StableAbi, Debug, Default)]
pub struct Cell(AtomicU64);

impl Cell {
    /// Value of a cell before the host stores a number. No offset, class id or ZCall handle has this value.
    pub const UNFILLED: u64 = 1 << 63;

    /// Creates an unfilled cell.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU64::new(Self::UNFILLED))
    }

    /// Returns the stored number, or [`Self::UNFILLED`] before the host has stored a number.
    #[inline]
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Stores a number in the cell. Only the host calls this function.
    ///
    /// # Safety
    /// `number` is the offset, handle or id of the item whose description refers to this cell. The module relies on this number when it
    /// reads and writes memory.
    #[expect(unsafe_code, reason = "the host trusts the number in the cell")]
    pub unsafe fn fill(&self, number: u64) {
        self.0.store(number, Ordering::Relaxed);
    }
}

/// Metadata of a member of a type, for editors and tools.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct MetaDesc {
    /// Key, unique among the entries of a member.
    pub key: RStr<'static>,
    /// Value; its format depends on the key.
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
    /// Value for a member with neither documentation nor metadata.
    pub const NONE: Self = Self { doc: "", meta: &[] };
}

/// C attributes of a parameter. Does not cross the ABI boundary.
#[derive(Clone, Copy, Debug)]
pub struct CParam {
    /// True if the C function may write to the parameter.
    pub is_out: bool,
    /// Metadata entries that state the length of an array parameter.
    pub meta: &'static [MetaDesc],
}

/// Metadata keys for functions of C libraries.
pub mod c_keys {
    /// Library that contains the function.
    pub const LIBRARY: &str = "DllBind";
    /// Symbol of the function, if the symbol differs from the function's name.
    pub const SYMBOL: &str = "DllSymbol";
    /// Length of an array parameter.
    pub const LEN: &str = "ArrayDim";
}

/// Metadata key that marks a conversion function, which converts values of an earlier declaration. The metadata value is the name of the
/// converted property, or empty for a function that converts whole objects. A conversion function is static and hidden from tools; it
/// receives the earlier value and returns the new value.
pub const CONVERTS: &str = "AlcedoConverts";

/// Description of a property, a struct field or a parameter.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct PropertyDesc {
    /// Name, unique in its owner.
    pub name: RStr<'static>,
    /// Kind of the value.
    pub kind: PropertyKind,
    /// Path of the value's struct or class; empty for kinds without a path.
    pub type_path: RStr<'static>,
    /// Bits of [`crate::kinds::property_flags`].
    pub flags: u64,
    /// Default value in the syntax of the property's kind; an empty string means the zero value.
    pub default: RStr<'static>,
    /// Doc comment.
    pub doc: RStr<'static>,
    /// Metadata.
    pub meta: RSlice<'static, MetaDesc>,
    /// Offset in the struct or parameter block, in bytes. Unused for properties of classes, because the host computes their layout.
    pub offset: u32,
    /// Receives the property's offset in the object, if the property belongs to a class.
    pub cell: ROption<&'static Cell>,
}

/// Description of a reflected function.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct FunctionDesc {
    /// Name, unique in its class unless the function is an override.
    pub name: RStr<'static>,
    /// Bits of [`crate::kinds::function_flags`].
    pub flags: u64,
    /// Path of the class that declares the overridden event; empty if the function is not an override.
    pub overrides: RStr<'static>,
    /// Parameters in order; the result is last and has the `RETURN` flag.
    pub params: RSlice<'static, PropertyDesc>,
    /// Size of the parameter block, in bytes.
    pub params_size: u32,
    /// Alignment of the parameter block.
    pub params_align: u32,
    /// Fingerprint of the signature.
    pub fingerprint: u64,
    /// Body of the function, or default body of a native event.
    pub invoke: Invoke,
    /// Body that takes its arguments in registers, for a function whose parameters and result are plain values.
    pub direct: ROption<DirectMethod>,
    /// Receives the ZCall handle for virtual calls of the function.
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
    /// Builds the plugin part. If the call contains a [`PackedKept`](crate::call::PackedKept), also restores the kept fields.
    pub red_constructor: unsafe extern "C" fn(call: &mut Call<'_>, out: &mut PartPtr) -> Status,
    /// Class constructor, called once in the lifetime of an object.
    pub class_constructor: ROption<Invoke>,
    /// Hook that is called after the host has copied the defaults into the object.
    pub post_init_properties: ROption<Invoke>,
    /// Saves the kept fields by name.
    pub save_kept: unsafe extern "C" fn(part: PartPtr, sink: &KeepSink, failure: &mut Failure) -> Status,
    /// Restores one kept field. If the status is `FAILED`, the field retains the value from the red constructor.
    pub load_kept: unsafe extern "C" fn(
        part: PartPtr,
        name: TextView,
        data: *const u8,
        len: usize,
        failure: &mut Failure,
    ) -> Status,
    /// Fingerprint of the names and types of the kept fields, or zero if the fields can only be saved by name.
    pub kept_print: u64,
    /// Number of kept fields.
    pub kept_count: u32,
    /// Passes the bytes of all kept fields to `sink` in several pieces, each with an empty name. Called only if `kept_print` is not zero.
    pub pack_kept: unsafe extern "C" fn(part: PartPtr, sink: &KeepSink, failure: &mut Failure) -> Status,
    /// Restores all kept fields from the bytes that `pack_kept` of an earlier build has written. Called only if the earlier class and this
    /// class have equal values of `kept_print`.
    pub unpack_kept: unsafe extern "C" fn(part: PartPtr, data: *const u8, len: usize, failure: &mut Failure) -> Status,
    /// Finalizer. Drops the plugin part on the finalizer thread.
    pub finalize: unsafe extern "C" fn(part: PartPtr, failure: &mut Failure) -> Status,
}

/// Description of a class.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ClassDesc {
    /// Package of the class, without the prefix `/Script/`.
    pub package: RStr<'static>,
    /// Name, unique in the package.
    pub name: RStr<'static>,
    /// Path of the base class.
    pub base: RStr<'static>,
    /// Bits of [`crate::kinds::class_flags`].
    pub flags: u64,
    /// Properties declared by the class.
    pub properties: RSlice<'static, PropertyDesc>,
    /// Functions declared by the class.
    pub functions: RSlice<'static, FunctionDesc>,
    /// Hooks of the plugin part.
    pub hooks: PartHooks,
    /// Receives the class id from the host.
    pub cell: &'static Cell,
    /// Doc comment.
    pub doc: RStr<'static>,
    /// Paths of the interfaces that this class lists. The class also implements the interfaces of its base classes.
    pub implements: RSlice<'static, RStr<'static>>,
    /// Inherited subobjects that this class creates with a more derived class. Each entry contains the name of a subobject's property, and
    /// the path of the derived class.
    pub subobject_classes: RSlice<'static, MetaDesc>,
    /// Defaults of inherited properties and of properties in subobjects. Each entry contains a path, which consists of property names
    /// separated by dots, and the value as a string.
    pub default_overrides: RSlice<'static, MetaDesc>,
}

/// Description of an interface function. A class implements the interface function with a function that has the same name.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct SignatureDesc {
    /// Name, unique in its interface.
    pub name: RStr<'static>,
    /// Bits of [`crate::kinds::function_flags`].
    pub flags: u64,
    /// Parameters in order; the result is last and has the `RETURN` flag.
    pub params: RSlice<'static, PropertyDesc>,
    /// Fingerprint of the signature.
    pub fingerprint: u64,
    /// Doc comment.
    pub doc: RStr<'static>,
}

/// Description of an interface: functions that a class must implement.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct InterfaceDesc {
    /// Package of the interface, without the prefix `/Script/`.
    pub package: RStr<'static>,
    /// Name, unique in the package.
    pub name: RStr<'static>,
    /// Functions of the interface.
    pub functions: RSlice<'static, SignatureDesc>,
    /// Doc comment.
    pub doc: RStr<'static>,
}

/// Description of a struct that is passed by value.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct StructDesc {
    /// Package of the struct, without the prefix `/Script/`.
    pub package: RStr<'static>,
    /// Name, unique in the package.
    pub name: RStr<'static>,
    /// Size of the struct, in bytes.
    pub size: u32,
    /// Alignment of the struct, in bytes.
    pub align: u32,
    /// Fields in declaration order, with their offsets.
    pub fields: RSlice<'static, PropertyDesc>,
    /// Fingerprint of size, alignment and fields.
    pub fingerprint: u64,
    /// Doc comment.
    pub doc: RStr<'static>,
}

/// Named value of an enum.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct EnumEntryDesc {
    /// Name, unique in its enum.
    pub name: RStr<'static>,
    /// Value of the entry, sign-extended to 64 bits.
    pub number: u64,
    /// Display name; empty if the display name is derived from `name`.
    pub display: RStr<'static>,
    /// Doc comment.
    pub doc: RStr<'static>,
    /// Nonzero if editors hide the entry.
    pub hidden: u8,
}

/// Description of an enum.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct EnumDesc {
    /// Package of the enum, without the prefix `/Script/`.
    pub package: RStr<'static>,
    /// Name, unique in the package.
    pub name: RStr<'static>,
    /// Underlying type: one of the eight integer kinds.
    pub underlying: PropertyKind,
    /// Nonzero if values of the enum are sets of flags; each entry then represents one bit.
    pub flags: u8,
    /// Entries in declaration order.
    pub entries: RSlice<'static, EnumEntryDesc>,
    /// Fingerprint of the underlying type, of [`Self::flags`], and of the names and numbers of the entries.
    pub fingerprint: u64,
    /// Doc comment.
    pub doc: RStr<'static>,
}

/// Description of a named delegate.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DelegateDesc {
    /// Package of the delegate, without the prefix `/Script/`; empty for a delegate that belongs to a class.
    pub package: RStr<'static>,
    /// Path of the class to which the delegate belongs, declared in the same module. Empty for a delegate that belongs to a package.
    pub class: RStr<'static>,
    /// Name, unique in the package or class.
    pub name: RStr<'static>,
    /// `DELEGATE`, `MULTICAST_DELEGATE` or `SPARSE_DELEGATE`.
    pub kind: PropertyKind,
    /// Parameters in order; the result is last and has the `RETURN` flag.
    pub params: RSlice<'static, PropertyDesc>,
    /// Fingerprint of the delegate's kind, path and signature.
    pub fingerprint: u64,
    /// Doc comment.
    pub doc: RStr<'static>,
}

/// Kind of item that a module imports.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImportKind(pub u8);

impl ImportKind {
    /// A class: the cell receives the class id. [`ImportDesc::fingerprint`] is computed from the path of a direct or indirect base class.
    pub const CLASS: Self = Self(1);
    /// A property: the cell receives the property's offset.
    pub const PROPERTY: Self = Self(2);
    /// A function for virtual calls: the cell receives a ZCall handle.
    pub const FUNCTION: Self = Self(3);
    /// A function for calls that ignore overrides: the cell receives a ZCall handle.
    pub const FUNCTION_FINAL: Self = Self(4);
    /// A struct: the host compares only the fingerprint.
    pub const STRUCT: Self = Self(5);
    /// An interface: the host checks only that the interface exists.
    pub const INTERFACE: Self = Self(6);
    /// An enum: the host compares only the fingerprint.
    pub const ENUM: Self = Self(7);
    /// A named delegate: the host compares only the fingerprint.
    pub const DELEGATE: Self = Self(8);
}

/// Imported item: declared in the host or in another module, and used by this module. When the host loads this module, it checks each
/// imported item, and so detects a missing member or a wrong signature before the first call.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ImportDesc {
    /// Kind of the imported item.
    pub kind: ImportKind,
    /// Path in the form `/Script/Package.Type` or `/Script/Package.Type:member`.
    pub path: RStr<'static>,
    /// Fingerprint of the item's type, signature or layout.
    pub fingerprint: u64,
    /// Expected item as a string for errors: the base of a class, the type of a property, or the signature of a function. The host compares
    /// only the fingerprints, and prints the string if they differ.
    pub expected: RStr<'static>,
    /// Expected fields of a struct, or names of the expected properties of a class.
    pub fields: RSlice<'static, PropertyDesc>,
    /// Receives the number that the constant in [`Self::kind`] describes.
    pub cell: &'static Cell,
}

/// Trampoline of a plugin function for ZCalls.
///
/// # Safety
/// `buffer` borrows its slots exclusively until the function returns. Pointers in the slots match the signature of the called function.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ZCallInvoke(pub unsafe extern "C" fn(buffer: &mut ZCallBuffer, failure: &mut Failure) -> Status);

/// Description of a static function that a module exports as `ex:/name` or as `nm:/module:type:name`.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ExportDesc {
    /// Path of the type that contains the function; empty for a function of the protocol `ex`.
    pub type_path: RStr<'static>,
    /// Name of the function.
    pub name: RStr<'static>,
    /// Fingerprint of the signature.
    pub fingerprint: u64,
    /// Signature as a string, for errors.
    pub signature: RStr<'static>,
    /// Body of the function, called with its arguments in a slot buffer.
    pub invoke: ZCallInvoke,
    /// Body that takes its arguments in registers, if all parameters and the result are plain values.
    pub direct: ROption<DirectTrampoline>,
}

/// Entry of a function table: the name and signature of a function.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct EntryDesc {
    /// Name of the entry.
    pub name: RStr<'static>,
    /// Signature as a string for errors, such as `i32, i32 -> i32`.
    pub signature: RStr<'static>,
    /// Fingerprint of the signature.
    pub fingerprint: u64,
}

/// Description of a function table. Either the host implements the functions of the table and the module calls them, or the reverse.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct TableDesc {
    /// Name of the table. The ZCall name of an entry is `ex:/table/entry` for a host's table, and `nm:/module:table:entry` for a module's
    /// table.
    pub name: RStr<'static>,
    /// Fingerprint of the entries' names and signatures: see [`table_fingerprint`](crate::fingerprint::table_fingerprint).
    pub fingerprint: u64,
    /// Entries of the table.
    pub entries: RSlice<'static, EntryDesc>,
}

/// Function tables that a module and the host exchange in the module's entry method. Both tables are optional.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Default, Debug)]
pub struct EntryTables {
    /// Table that the host implements and the module calls.
    pub host: ROption<&'static TableDesc>,
    /// Table that the module implements and the host calls.
    pub module: ROption<&'static TableDesc>,
}

impl EntryTables {
    /// Value for an entry method without tables.
    pub const NONE: Self = Self { host: ROption::RNone, module: ROption::RNone };
}
