//! Lists of the module's declarations, as slices that the linker fills. The host reads the lists after `attach`.

use alcedo_abi::describe::{
    ClassDesc, DelegateDesc, EnumDesc, ExportDesc, ImportDesc, InterfaceDesc, MetaDesc, StructDesc,
};
use linkme::{DistributedSlice, distributed_slice};

use super::declared::Declared;

/// Structs of this module.
#[distributed_slice]
pub static STRUCTS: [&'static Declared<StructDesc>];

/// Enums of this module.
#[distributed_slice]
pub static ENUMS: [&'static Declared<EnumDesc>];

/// Named delegates of this module.
#[distributed_slice]
pub static DELEGATES: [&'static Declared<DelegateDesc>];

/// Classes of this module.
#[distributed_slice]
pub static CLASSES: [&'static Declared<ClassDesc>];

/// Interfaces of this module.
#[distributed_slice]
pub static INTERFACES: [&'static Declared<InterfaceDesc>];

/// Imports of this module. `import!` adds entries through assembly, in each function that uses an import.
#[distributed_slice]
pub static IMPORTS: [&'static Declared<ImportDesc>];

/// Exported static functions of this module.
#[distributed_slice]
pub static EXPORTS: [&'static Declared<ExportDesc>];

/// Paths of types and members of this module, with their earlier names.
#[distributed_slice]
pub static EARLIER_NAMES: [&'static Declared<MetaDesc>];

/// Returns an entry for `list`, so that the compiler checks that the entry has the type of the list's entries.
#[must_use]
pub const fn listed<T>(
    _list: &DistributedSlice<[&'static Declared<T>]>,
    entry: &'static Declared<T>,
) -> &'static Declared<T> {
    entry
}
