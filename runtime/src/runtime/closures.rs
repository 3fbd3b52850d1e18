//! Closures of a host that are bound to delegates, and their generated classes. `host/closures.rs` binds them.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::callback::{Registered, Site};
use crate::cells::RefCell;
use crate::handles::ObjectHandle;

#[derive(Default)]
pub(crate) struct Closures {
    /// Class paths by the Rust types of the signature.
    pub(crate) classes: RefCell<BTreeMap<TypeId, String>>,
    pub(crate) bound: RefCell<BTreeMap<ObjectHandle, Registered<Rc<dyn Any>>>>,
}

impl Closures {
    /// Removes and returns all bound closures, because the host ends.
    pub(crate) fn take(&self) -> Vec<Registered<Rc<dyn Any>>> {
        self.bound.take().into_values().collect()
    }

    /// Returns the registration sites of all bound closures.
    pub(crate) fn sites(&self) -> Vec<Site> {
        self.bound.borrow().values().map(|closure| closure.site).collect()
    }
}
