//! The closures of a host that are bound to delegates, and the classes that are declared for them: `host/closures.rs` binds them.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::callback::{Registered, Site};
use crate::cells::RefCell;
use crate::handles::ObjectHandle;

/// The closures that are bound, and their classes.
#[derive(Default)]
pub(crate) struct Closures {
    /// By the Rust types of the signature.
    pub(crate) classes: RefCell<BTreeMap<TypeId, String>>,
    pub(crate) bound: RefCell<BTreeMap<ObjectHandle, Registered<Rc<dyn Any>>>>,
}

impl Closures {
    /// All that are bound, because the host ends: they are bound no longer.
    pub(crate) fn take(&self) -> Vec<Registered<Rc<dyn Any>>> {
        self.bound.take().into_values().collect()
    }

    /// Where those come from that may own something.
    pub(crate) fn sites(&self) -> Vec<Site> {
        self.bound.borrow().values().map(|closure| closure.site).collect()
    }
}
