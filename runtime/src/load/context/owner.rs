//! Weak references from events and requests to their context. A callback may therefore store an event or a request without a reference
//! cycle.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Weak};

/// Weak reference with an erased type: to a registry, to a context, or to the shared state of handles. Only the handles downcast the
/// reference.
pub(super) type Above = Weak<dyn Any + Send + Sync>;

/// Weak references to a context and its registry. The default value refers to no context.
#[derive(Clone)]
pub(super) struct Owner {
    pub(super) registry: Above,
    /// Weak reference to the context. Empty for the Master.
    pub(super) line: Above,
}

impl Default for Owner {
    fn default() -> Self {
        Self { registry: Weak::<()>::new(), line: Weak::<()>::new() }
    }
}

pub(super) fn upgrade<T: Any + Send + Sync>(above: &Above) -> Option<Arc<T>> {
    above.upgrade()?.downcast().ok()
}

/// All values are equal. Comparisons of events and requests therefore ignore the field `owner`.
impl PartialEq for Owner {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Owner {}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match Weak::strong_count(&self.line) {
            0 => "gone",
            _ => "there",
        })
    }
}
