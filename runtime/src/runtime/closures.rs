//! Stores the host closures that are bound to delegates, and the classes that were generated for these closures. `host/closures.rs` binds
//! the closures.

use std::any::{Any, TypeId};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::callback::{Registered, Site};
use crate::cells::RefCell;
use crate::handles::ObjectHandle;

#[derive(Default)]
pub(crate) struct Closures {
    /// Number of declared classes.
    pub(crate) declared: Cell<u32>,
    /// Path of the generated class for each signature. The key is the type id of the signature's Rust types.
    pub(crate) classes: RefCell<BTreeMap<TypeId, String>>,
    pub(crate) bound: RefCell<BTreeMap<ObjectHandle, Registered<Rc<dyn Any>>>>,
}

impl Closures {
    /// Removes and returns all bound closures. Called when the host shuts down.
    pub(crate) fn take(&self) -> Vec<Registered<Rc<dyn Any>>> {
        self.bound.take().into_values().collect()
    }

    /// Returns the registration sites of all bound closures.
    pub(crate) fn sites(&self) -> Vec<Site> {
        self.bound.borrow().values().map(|closure| closure.site).collect()
    }
}
