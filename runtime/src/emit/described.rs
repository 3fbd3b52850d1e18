//! What a module declares: its types, what it uses of others, and the functions it offers. A library has it in its image; where
//! another sort of module has it from is its own affair.

use std::collections::HashSet;

use alcedo_abi::describe::{
    ClassDesc, DelegateDesc, EntryTables, EnumDesc, ExportDesc, ImportDesc, InterfaceDesc, MetaDesc, StructDesc,
};
use alcedo_abi::module::ModuleRef;

/// The descriptions of one module. They are there as long as its code is.
#[derive(Clone, Copy, Default)]
pub(crate) struct Described {
    /// The interfaces it declares.
    pub interfaces: &'static [&'static InterfaceDesc],
    /// The enums it declares.
    pub enums: &'static [&'static EnumDesc],
    /// The delegates with a name that it declares.
    pub delegates: &'static [&'static DelegateDesc],
    /// The structs it declares.
    pub structs: &'static [&'static StructDesc],
    /// The classes it declares.
    pub classes: &'static [&'static ClassDesc],
    /// Lists its imports. A member may be listed once for each call site.
    pub imports: &'static [&'static ImportDesc],
    /// The functions it offers.
    pub exports: &'static [&'static ExportDesc],
    /// The tables that its entry method exchanges.
    pub tables: EntryTables,
    /// Paths of types and members it declares, with their earlier names.
    pub earlier_names: &'static [&'static MetaDesc],
}

impl Described {
    /// What a library says.
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

    /// Returns the imports, each once.
    pub(crate) fn all_imports(&self) -> Vec<&'static ImportDesc> {
        let mut seen = HashSet::new();
        self.imports.iter().copied().filter(|import| seen.insert(std::ptr::from_ref(*import))).collect()
    }
}
