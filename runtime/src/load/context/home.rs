//! The way from what a callback is given back to the context that it is about. It keeps nothing alive, so whatever holds a
//! request or an event closes no circle.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Weak};

/// A share of what is made of the parts below: its type is known to the handles only.
pub(super) type Above = Weak<dyn Any + Send + Sync>;

/// A context of a host. The one of nothing leads nowhere.
#[derive(Clone)]
pub(super) struct Home {
    /// The registry.
    pub(super) registry: Above,
    /// The context, if it belongs to no thread.
    pub(super) line: Above,
}

impl Default for Home {
    fn default() -> Self {
        Self { registry: Weak::<()>::new(), line: Weak::<()>::new() }
    }
}

/// The value itself, while it is there.
pub(super) fn upgrade<T: Any + Send + Sync>(above: &Above) -> Option<Arc<T>> {
    above.upgrade()?.downcast().ok()
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
