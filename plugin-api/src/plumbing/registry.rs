//! Where the declarations of a module meet: slices that the linker fills. The host reads them after `attach`.

use alcedo_abi::describe::{
    ClassDesc, DelegateDesc, EnumDesc, ExportDesc, ImportDesc, InterfaceDesc, MetaDesc, StructDesc,
};
use linkme::distributed_slice;

use super::declared::Declared;

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
