//! Where the declarations of a module meet: slices that the linker fills. The host reads them after `attach`.

use alcedo_abi::abi_stable::std_types::RSlice;
use alcedo_abi::describe::{
    ClassDesc, DelegateDesc, EnumDesc, ExportDesc, ImportDesc, InterfaceDesc, MetaDesc, StructDesc,
};
use linkme::distributed_slice;

use super::declared::Declared;
use super::shells::bare;

/// The structs this module declares.
#[distributed_slice]
pub static STRUCTS: [&'static Declared<StructDesc>];

/// The enums this module declares.
#[distributed_slice]
pub static ENUMS: [&'static Declared<EnumDesc>];

/// The delegates with a name that this module declares.
#[distributed_slice]
pub static DELEGATES: [&'static Declared<DelegateDesc>];

/// The classes this module declares.
#[distributed_slice]
pub static CLASSES: [&'static Declared<ClassDesc>];

/// The interfaces this module declares.
#[distributed_slice]
pub static INTERFACES: [&'static Declared<InterfaceDesc>];

/// Imports of this module. `import!` adds members by assembly, for each function that uses one.
#[distributed_slice]
pub static IMPORTS: [&'static Declared<ImportDesc>];

/// The static functions this module offers.
#[distributed_slice]
pub static EXPORTS: [&'static Declared<ExportDesc>];

/// Paths of types and members this module declares, with their earlier names.
#[distributed_slice]
pub static EARLIER_NAMES: [&'static Declared<MetaDesc>];

pub(super) extern "C" fn structs() -> RSlice<'static, &'static StructDesc> {
    RSlice::from_slice(bare(STRUCTS.static_slice()))
}

pub(super) extern "C" fn enums() -> RSlice<'static, &'static EnumDesc> {
    RSlice::from_slice(bare(ENUMS.static_slice()))
}

pub(super) extern "C" fn delegates() -> RSlice<'static, &'static DelegateDesc> {
    RSlice::from_slice(bare(DELEGATES.static_slice()))
}

pub(super) extern "C" fn classes() -> RSlice<'static, &'static ClassDesc> {
    RSlice::from_slice(bare(CLASSES.static_slice()))
}

pub(super) extern "C" fn interfaces() -> RSlice<'static, &'static InterfaceDesc> {
    RSlice::from_slice(bare(INTERFACES.static_slice()))
}

pub(super) extern "C" fn imports() -> RSlice<'static, &'static ImportDesc> {
    RSlice::from_slice(bare(IMPORTS.static_slice()))
}

pub(super) extern "C" fn exports() -> RSlice<'static, &'static ExportDesc> {
    RSlice::from_slice(bare(EXPORTS.static_slice()))
}

pub(super) extern "C" fn earlier_names() -> RSlice<'static, &'static MetaDesc> {
    RSlice::from_slice(bare(EARLIER_NAMES.static_slice()))
}
