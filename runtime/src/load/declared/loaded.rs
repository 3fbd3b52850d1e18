//! Copies the declarations of a module that is loaded: descriptions are in its image.

use super::{Declarations, Declared};
use crate::emit::described::Described;
use crate::emit::read::all;
use crate::object::decl::Batch;

/// Copies the declarations of the module of that name.
pub(crate) fn of_loaded(module: &str, described: Described) -> Declared {
    let batch = Batch {
        interfaces: all(described.interfaces),
        enums: all(described.enums),
        delegates: all(described.delegates),
        structs: all(described.structs),
        classes: all(described.classes),
        earlier_names: Vec::new(),
    };
    Declarations::new(module, batch, all(described.exports), all(&described.all_imports())).declared()
}
