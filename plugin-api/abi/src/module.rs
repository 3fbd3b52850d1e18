//! The root module: what every plugin exports. A prefix type, like [`crate::host::HostTable`].
#![expect(unsafe_code, reason = "the derived accessor of a field that an older module may lack reads it by its offset")]

use abi_stable::StableAbi;
use abi_stable::library::RootModule;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::{RSlice, RStr};

use crate::call::{Failure, Status};
use crate::describe::{ClassDesc, ExportDesc, ImportDesc, InterfaceDesc, StructDesc};
use crate::host::ModuleContext;

/// The symbol under which a plugin exports its `LibHeader`.
pub const ROOT_SYMBOL: &core::ffi::CStr = c"alcedo_root_module";

/// What a plugin exports. All of it is called on the game thread.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = ModuleRef)))]
#[sabi(missing_field(panic))]
pub struct Module {
    /// Called first: from now on the module can log, and after its cells are filled it can call.
    pub attach: unsafe extern "C" fn(context: &ModuleContext, failure: &mut Failure) -> Status,
    /// The structs it declares.
    pub structs: extern "C" fn() -> RSlice<'static, &'static StructDesc>,
    /// The classes it declares.
    pub classes: extern "C" fn() -> RSlice<'static, &'static ClassDesc>,
    /// What it uses of others.
    pub imports: extern "C" fn() -> RSlice<'static, &'static ImportDesc>,
    /// The static functions it offers.
    pub exports: extern "C" fn() -> RSlice<'static, &'static ExportDesc>,
    /// The main of the module, with its arguments.
    pub main: unsafe extern "C" fn(args: RSlice<'_, RStr<'_>>, failure: &mut Failure) -> Status,
    /// The exit hook.
    pub exit: unsafe extern "C" fn(failure: &mut Failure) -> Status,
    /// Called last, after the last finalizer: the module forgets its host.
    #[sabi(last_prefix_field)]
    pub detach: extern "C" fn(),
    /// Bytes that the module's own heap has given out and not got back; zero where it has none. Any thread.
    #[sabi(missing_field(option))]
    pub heap_bytes: extern "C" fn() -> u64,
    /// The interfaces it declares; none where the module is older than they are.
    #[sabi(missing_field(option))]
    pub interfaces: extern "C" fn() -> RSlice<'static, &'static InterfaceDesc>,
    /// Drops what was left to the module to drop, where the exit hook does not run because the main has not returned.
    #[sabi(missing_field(option))]
    pub dispose: unsafe extern "C" fn(failure: &mut Failure) -> Status,
    /// Not zero where the author has written `suspend` and `resume`: without, both do nothing.
    #[sabi(missing_field(option))]
    pub suspends: extern "C" fn() -> u8,
    /// Gives up what another generation of the module needs to start. Called before the mains of that generation.
    #[sabi(missing_field(option))]
    pub suspend: unsafe extern "C" fn(failure: &mut Failure) -> Status,
    /// Takes it again, since that generation did not come to pass. Called after `suspend`, also where that has failed.
    #[sabi(missing_field(option))]
    pub resume: unsafe extern "C" fn(failure: &mut Failure) -> Status,
}

impl RootModule for ModuleRef {
    abi_stable::declare_root_module_statics! {ModuleRef}
    const BASE_NAME: &'static str = "alcedo_module";
    const NAME: &'static str = "alcedo_module";
    const VERSION_STRINGS: VersionStrings = abi_stable::package_version_strings!();
}
