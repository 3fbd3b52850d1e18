//! Root module that every plugin exports. The root module is a prefix type like [`crate::host::HostTable`]. A macro generates both types
//! from lists.
#![expect(unsafe_code, reason = "the derived accessor of a field that an older module may lack reads it by its offset")]

use abi_stable::StableAbi;
use abi_stable::library::RootModule;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::{RSlice, RStr};

use crate::call::{Failure, Status};
use crate::describe::{
    ClassDesc, DelegateDesc, EntryTables, EnumDesc, ExportDesc, ImportDesc, InterfaceDesc, MetaDesc, StructDesc,
};
use crate::host::ModuleContext;

/// Symbol under which a plugin exports its `LibHeader`.
pub const ROOT_SYMBOL: &core::ffi::CStr = c"alcedo_root_module";

crate::module_functions!(crate::list::root);

impl RootModule for ModuleRef {
    abi_stable::declare_root_module_statics! {ModuleRef}
    const BASE_NAME: &'static str = "alcedo_module";
    const NAME: &'static str = "alcedo_module";
    const VERSION_STRINGS: VersionStrings = abi_stable::package_version_strings!();
}
