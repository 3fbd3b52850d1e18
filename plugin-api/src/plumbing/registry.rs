//! Where the declarations of a module meet: slices that the linker fills. The host asks for them after `attach`.

use alcedo_abi::abi_stable::std_types::RSlice;
use alcedo_abi::describe::{ClassDesc, ExportDesc, ImportDesc, InterfaceDesc, StructDesc};
use linkme::distributed_slice;

/// The structs this module declares.
#[distributed_slice]
pub static STRUCTS: [&'static StructDesc];

/// The classes this module declares.
#[distributed_slice]
pub static CLASSES: [&'static ClassDesc];

/// The interfaces this module declares.
#[distributed_slice]
pub static INTERFACES: [&'static InterfaceDesc];

/// What this module uses of others.
#[distributed_slice]
pub static IMPORTS: [&'static ImportDesc];

/// The static functions this module offers.
#[distributed_slice]
pub static EXPORTS: [&'static ExportDesc];

pub(super) extern "C" fn structs() -> RSlice<'static, &'static StructDesc> {
    RSlice::from_slice(STRUCTS.static_slice())
}

pub(super) extern "C" fn classes() -> RSlice<'static, &'static ClassDesc> {
    RSlice::from_slice(CLASSES.static_slice())
}

pub(super) extern "C" fn interfaces() -> RSlice<'static, &'static InterfaceDesc> {
    RSlice::from_slice(INTERFACES.static_slice())
}

pub(super) extern "C" fn imports() -> RSlice<'static, &'static ImportDesc> {
    RSlice::from_slice(IMPORTS.static_slice())
}

pub(super) extern "C" fn exports() -> RSlice<'static, &'static ExportDesc> {
    RSlice::from_slice(EXPORTS.static_slice())
}
