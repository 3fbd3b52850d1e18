//! Copies the declarations of a loaded module from its image.

use super::{Declarations, Declared};
use crate::emit::described::Described;
use crate::emit::read::{all, batch_of};

/// Copies the declarations of the module of that name.
pub(crate) fn of_loaded(module: &str, described: Described) -> Declared {
    let (exports, imports) = (all(described.exports), all(&described.all_imports()));
    Declarations::new(module, batch_of(described), exports, imports).declared()
}
