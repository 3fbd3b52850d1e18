//! The way from what a callback is given back to the context that it is about. It keeps nothing alive, so whatever holds a
//! request or an event closes no circle. What it leads to is known to the floor above.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Weak};

/// Leads to a value of a floor above, and keeps nothing alive.
pub(super) type Opaque = Weak<dyn Any + Send + Sync>;

/// The value behind it, while it is there.
pub(super) fn behind<T: Any + Send + Sync>(way: &Opaque) -> Option<Arc<T>> {
    way.upgrade()?.downcast().ok()
}

/// A context of a host. The one of nothing leads nowhere.
#[derive(Clone)]
pub(super) struct Home {
    /// To the registry.
    pub registry: Opaque,
    /// To the context.
    pub line: Opaque,
}

impl Default for Home {
    fn default() -> Self {
        Self { registry: Weak::<()>::new(), line: Weak::<()>::new() }
    }
}

/// Two requests, or events, are equal by what they say.
impl PartialEq for Home {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Home {}

impl fmt::Debug for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match Weak::strong_count(&self.line) {
            0 => "gone",
            _ => "there",
        })
    }
}
