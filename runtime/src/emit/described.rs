//! Descriptions of a module: its types, imports and exports. The image of a library contains its descriptions. For modules without a
//! library, the descriptions are created at run time.

use std::collections::HashSet;

use alcedo_abi::describe::{
    ClassDesc, DelegateDesc, EntryTables, EnumDesc, ExportDesc, ImportDesc, InterfaceDesc, MetaDesc, StructDesc,
};
use alcedo_abi::module::ModuleRef;

/// Descriptions of one module. Valid while the code of the module is mapped.
#[derive(Clone, Copy, Default)]
pub(crate) struct Described {
    /// Declared interfaces.
    pub interfaces: &'static [&'static InterfaceDesc],
    /// Declared enums.
    pub enums: &'static [&'static EnumDesc],
    /// Declared named delegates.
    pub delegates: &'static [&'static DelegateDesc],
    /// Declared structs.
    pub structs: &'static [&'static StructDesc],
    /// Declared classes.
    pub classes: &'static [&'static ClassDesc],
    /// Imports. A member may be listed several times, once per call site.
    pub imports: &'static [&'static ImportDesc],
    /// Exported functions.
    pub exports: &'static [&'static ExportDesc],
    /// Function tables that the module exchanges with the host.
    pub tables: EntryTables,
    /// Paths of declared types and members, each with its earlier names.
    pub earlier_names: &'static [&'static MetaDesc],
}

impl Described {
    /// Reads the descriptions of a library.
    pub(crate) fn of(root: ModuleRef) -> Self {
        Self {
            interfaces: root.interfaces().map_or(&[], |interfaces| interfaces().as_slice()),
            enums: root.enums().map_or(&[], |enums| enums().as_slice()),
            delegates: root.delegates().map_or(&[], |delegates| delegates().as_slice()),
            structs: root.structs()().as_slice(),
            classes: root.classes()().as_slice(),
            imports: root.imports()().as_slice(),
            exports: root.exports()().as_slice(),
            tables: root.entry_tables().map_or(EntryTables::NONE, |tables| tables()),
            earlier_names: root.earlier_names().map_or(&[], |names| names().as_slice()),
        }
    }

    /// Returns the imports without duplicates.
    pub(crate) fn all_imports(&self) -> Vec<&'static ImportDesc> {
        let mut seen = HashSet::new();
        self.imports.iter().copied().filter(|import| seen.insert(std::ptr::from_ref(*import))).collect()
    }
}
