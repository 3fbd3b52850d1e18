//! Weak handles from events and requests to their context. They keep nothing alive, so that a callback which stores an event or
//! a request creates no reference cycle.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Weak};

/// Weak reference of a type that only the handles know.
pub(super) type Above = Weak<dyn Any + Send + Sync>;

/// Weak handles of a context and its registry. The default value refers to nothing.
#[derive(Clone)]
pub(super) struct Owner {
    pub(super) registry: Above,
    /// `Weak` of the context; empty for the Master.
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

/// Events and requests are compared without their handles.
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
