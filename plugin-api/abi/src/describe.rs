//! What a module declares, as constant data: classes, structs, enums, delegates, interfaces, functions, imports and exports. The host copies
//! what it needs while emitting; the cells are the only part it writes, and they die with the image.

use core::sync::atomic::{AtomicU64, Ordering};

use abi_stable::StableAbi;
use abi_stable::std_types::{ROption, RSlice, RStr};

use crate::call::{Call, Failure, Invoke, Status};
use crate::direct::{DirectMethod, DirectShell};
use crate::handles::PartPtr;
use crate::kinds::PropertyKind;
use crate::value::{KeepSink, TextView};
use crate::zcall::ZCallBuffer;

/// A number the host fills while it loads a module, before any of the module's hooks run: a property's offset,
/// a function's ZCall handle, or a class number.
#[repr(transparent)]
#[derive(StableAbi, Debug, Default)]
pub struct Cell(AtomicU64);

impl Cell {
    /// What an unfilled cell holds: no offset, no class number, and no ZCall handle that is ever given out.
    pub const UNFILLED: u64 = 1 << 63;

    /// A cell that waits to be filled.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU64::new(Self::UNFILLED))
    }

    /// The number, or [`Self::UNFILLED`].
    #[inline]
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Fills it. Only the host does.
    ///
    /// # Safety
    /// The number is what the description says that the cell receives: code that has the cell reads and writes memory
    /// by it.
    #[expect(unsafe_code, reason = "what is filled in is believed")]
    pub unsafe fn fill(&self, number: u64) {
        self.0.store(number, Ordering::Relaxed);
    }
}

/// What is said of a type's member beside its flags, for editors and tools.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct MetaDesc {
    /// The key, unique in its member.
    pub key: RStr<'static>,
    /// The value, whatever it is.
    pub value: RStr<'static>,
}

/// A property, a struct field or a parameter.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct PropertyDesc {
    /// Its name, unique in its owner.
    pub name: RStr<'static>,
    /// What it holds.
    pub kind: PropertyKind,
    /// Path of the struct or class of the value; empty for plain kinds.
    pub type_path: RStr<'static>,
    /// Bits of [`crate::kinds::property_flags`].
    pub flags: u64,
    /// The default, as the property's kind parses it; empty means zero.
    pub default: RStr<'static>,
    /// The doc comment.
    pub doc: RStr<'static>,
    /// What else is said of it.
    pub meta: RSlice<'static, MetaDesc>,
    /// Bytes from the start of the struct or parameter block; not used for class properties, which the host lays out.
    pub offset: u32,
    /// Receives the offset in the object, for class properties.
    pub cell: ROption<&'static Cell>,
}

/// A reflected function.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct FunctionDesc {
    /// Its name, unique in its class unless it overrides.
    pub name: RStr<'static>,
    /// Bits of [`crate::kinds::function_flags`].
    pub flags: u64,
    /// Path of the class whose event it overrides; empty otherwise.
    pub overrides: RStr<'static>,
    /// Parameters in order; the result last, with the `RETURN` flag.
    pub params: RSlice<'static, PropertyDesc>,
    /// Bytes of the parameter block.
    pub params_size: u32,
    /// Alignment of the parameter block.
    pub params_align: u32,
    /// Fingerprint of the signature.
    pub fingerprint: u64,
    /// The body; for a native event the default one.
    pub invoke: Invoke,
    /// The same without a parameter block, for a method whose parameters and result are plain values.
    pub direct: ROption<DirectMethod>,
    /// Receives the handle of the virtual call.
    pub cell: &'static Cell,
    /// The doc comment.
    pub doc: RStr<'static>,
    /// What else is said of it.
    pub meta: RSlice<'static, MetaDesc>,
}

/// The hooks of one class's plugin part.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct PartHooks {
    /// Builds the plugin part.
    pub red_constructor: unsafe extern "C" fn(call: &mut Call<'_>, out: &mut PartPtr) -> Status,
    /// Once in a life.
    pub class_constructor: ROption<Invoke>,
    /// After the defaults were copied in.
    pub post_init_properties: ROption<Invoke>,
    /// Puts the kept fields.
    pub save_kept: unsafe extern "C" fn(part: PartPtr, sink: &KeepSink, failure: &mut Failure) -> Status,
    /// Takes one kept field back; `FAILED` leaves the field as the red constructor made it.
    pub load_kept: unsafe extern "C" fn(
        part: PartPtr,
        name: TextView,
        data: *const u8,
        len: usize,
        failure: &mut Failure,
    ) -> Status,
    /// The finalizer: drops the plugin part, on the finalizer thread.
    pub finalize: unsafe extern "C" fn(part: PartPtr, failure: &mut Failure) -> Status,
}

/// A class.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ClassDesc {
    /// The package it binds to, without `/Script/`.
    pub package: RStr<'static>,
    /// Its name in the package.
    pub name: RStr<'static>,
    /// Path of its base class.
    pub base: RStr<'static>,
    /// Bits of [`crate::kinds::class_flags`].
    pub flags: u64,
    /// Its own properties.
    pub properties: RSlice<'static, PropertyDesc>,
    /// Its own functions.
    pub functions: RSlice<'static, FunctionDesc>,
    /// Its plugin part.
    pub hooks: PartHooks,
    /// Receives the class number.
    pub cell: &'static Cell,
    /// The doc comment.
    pub doc: RStr<'static>,
    /// Paths of the interfaces it implements, beside those of its bases.
    pub implements: RSlice<'static, RStr<'static>>,
    /// Classes for subobjects that bases declare: name of the property, path of the class.
    pub subobject_classes: RSlice<'static, MetaDesc>,
    /// Defaults of what bases declare, and of what lies in subobjects: names with dots between, and the text of the value.
    pub default_overrides: RSlice<'static, MetaDesc>,
}

/// A function of an interface: what it takes and gives. The bodies are functions of classes, under the same name.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct SignatureDesc {
    /// Its name, unique in its interface.
    pub name: RStr<'static>,
    /// Bits of [`crate::kinds::function_flags`].
    pub flags: u64,
    /// Parameters in order; the result last, with the `RETURN` flag.
    pub params: RSlice<'static, PropertyDesc>,
    /// Fingerprint of the signature.
    pub fingerprint: u64,
    /// The doc comment.
    pub doc: RStr<'static>,
}

/// An interface: functions that classes say they have.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct InterfaceDesc {
    /// The package it binds to, without `/Script/`.
    pub package: RStr<'static>,
    /// Its name in the package.
    pub name: RStr<'static>,
    /// Its functions.
    pub functions: RSlice<'static, SignatureDesc>,
    /// The doc comment.
    pub doc: RStr<'static>,
}

/// A struct that travels by value.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct StructDesc {
    /// The package it binds to, without `/Script/`.
    pub package: RStr<'static>,
    /// Its name in the package.
    pub name: RStr<'static>,
    /// Bytes.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Fields in order, with their offsets.
    pub fields: RSlice<'static, PropertyDesc>,
    /// Fingerprint of size, alignment and fields.
    pub fingerprint: u64,
    /// The doc comment.
    pub doc: RStr<'static>,
}

/// A named number of an enum.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct EnumEntryDesc {
    /// Its name, unique in its enum.
    pub name: RStr<'static>,
    /// Its number, extended to 64 bits with its sign.
    pub number: u64,
    /// Its name as people read it; empty where that follows from the name.
    pub display: RStr<'static>,
    /// The doc comment.
    pub doc: RStr<'static>,
    /// Not zero where editors leave it out.
    pub hidden: u8,
}

/// An enum.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct EnumDesc {
    /// The package it binds to, without `/Script/`.
    pub package: RStr<'static>,
    /// Its name in the package.
    pub name: RStr<'static>,
    /// The kind of its numbers: one of the eight kinds of whole numbers.
    pub underlying: PropertyKind,
    /// Not zero where a value is a set of entries, each a bit.
    pub flags: u8,
    /// Its entries in order.
    pub entries: RSlice<'static, EnumEntryDesc>,
    /// Fingerprint of the kind of its numbers, its names and its numbers.
    pub fingerprint: u64,
    /// The doc comment.
    pub doc: RStr<'static>,
}

/// A delegate that has a name.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DelegateDesc {
    /// The package it binds to, without `/Script/`; empty for one that belongs to a class.
    pub package: RStr<'static>,
    /// The path of the class that it belongs to, which the module declares too; empty for a free one.
    pub class: RStr<'static>,
    /// Its name in the package, or in the class.
    pub name: RStr<'static>,
    /// `DELEGATE`, `MULTICAST_DELEGATE` or `SPARSE_DELEGATE`.
    pub kind: PropertyKind,
    /// Parameters in order; the result last, with the `RETURN` flag.
    pub params: RSlice<'static, PropertyDesc>,
    /// Fingerprint of its kind, its path and its signature.
    pub fingerprint: u64,
    /// The doc comment.
    pub doc: RStr<'static>,
}

/// What an import requires.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImportKind(pub u8);

impl ImportKind {
    /// A class: the cell receives its number; the fingerprint is that of the path of its base, or of a base further up.
    pub const CLASS: Self = Self(1);
    /// A property: the cell receives its offset.
    pub const PROPERTY: Self = Self(2);
    /// A function, called virtually: the cell receives a ZCall handle.
    pub const FUNCTION: Self = Self(3);
    /// A function, called finally: the cell receives a ZCall handle.
    pub const FUNCTION_FINAL: Self = Self(4);
    /// A struct: only its fingerprint is compared.
    pub const STRUCT: Self = Self(5);
    /// An interface: it only has to be there.
    pub const INTERFACE: Self = Self(6);
    /// An enum: only its fingerprint is compared.
    pub const ENUM: Self = Self(7);
    /// A delegate that has a name: only its fingerprint is compared.
    pub const DELEGATE: Self = Self(8);
}

/// Something a module uses and another declares. Checked while loading, so that a missing member or another
/// signature is found before the first call.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ImportDesc {
    /// What it is.
    pub kind: ImportKind,
    /// Its path: `/Script/Package.Type` or `/Script/Package.Type:member`.
    pub path: RStr<'static>,
    /// Fingerprint of its type, signature or layout.
    pub fingerprint: u64,
    /// What the module was built for, in words: the base of a class, the type of a property, the signature of a function. It is
    /// shown where the fingerprints differ, and not compared.
    pub wanted: RStr<'static>,
    /// The same for a struct: its fields.
    pub fields: RSlice<'static, PropertyDesc>,
    /// Receives the number.
    pub cell: &'static Cell,
}

/// A plugin function's ZCall shell.
///
/// # Safety
/// `buffer` lends its slots, live and unshared, until the function returns; pointer slots are what the name's
/// signature says they are.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ZCallInvoke(pub unsafe extern "C" fn(buffer: &mut ZCallBuffer, failure: &mut Failure) -> Status);

/// A static function a module offers by name: as `ex:/name`, or as `nm:/module:type:name`.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ExportDesc {
    /// Path of the type it belongs to; empty for `ex`.
    pub type_path: RStr<'static>,
    /// Its name.
    pub name: RStr<'static>,
    /// Fingerprint of the signature.
    pub fingerprint: u64,
    /// The signature in words, for errors.
    pub signature: RStr<'static>,
    /// The body.
    pub invoke: ZCallInvoke,
    /// The same without a buffer, where parameters and result are plain values.
    pub direct: ROption<DirectShell>,
}

/// An entry of a table: one function, by its name and signature.
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
    /// Name of the table. Entries of a host are functions `ex:/table/entry`, those of a module `nm:/module:table:entry`.
    pub name: RStr<'static>,
    /// Fingerprint of the names and signatures of the entries: see [`table_fingerprint`](crate::fingerprint::table_fingerprint).
    pub fingerprint: u64,
    /// The entries.
    pub entries: RSlice<'static, EntryDesc>,
}

/// Both tables of an entry method.
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
