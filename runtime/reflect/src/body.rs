//! Bodies of objects. The object store has one body per object. If a reload replaces a body, the store keeps the old body until the reload
//! ends.

use std::rc::Rc;

use crate::class::Class;
use crate::dormant::{Dormant, RemovedValues};
use crate::storage::{Schema, SchemaOwner, Storage, View};

/// Class and memory of an object. Dropping the body destroys the properties and frees the memory.
#[derive(Debug)]
pub struct Body {
    /// Memory with a counted reference to the class.
    pub(super) storage: Storage<Rc<Class>>,
    /// State of an object whose class is missing (a dormant object).
    pub dormant: Option<Box<Dormant>>,
    /// Values of properties that the class no longer has.
    pub removed: Option<Box<RemovedValues>>,
}

// Limits the size of a body, because the store has one body per object.
const _: () = assert!(size_of::<Body>() <= 32);

impl SchemaOwner for Rc<Class> {
    #[inline]
    fn schema(&self) -> &Schema {
        Class::schema(self)
    }
}

impl Body {
    /// Swaps the class of the body with `class`. Both classes must have equal layouts. The values remain at their addresses.
    ///
    /// # Panics
    /// Panics if the layouts differ.
    pub(super) fn rebind(&mut self, class: &mut Rc<Class>) {
        self.storage.swap_owner(class);
    }

    /// Checks if the body has values outside its memory: dormant values or removed values.
    #[inline]
    pub(super) fn has_more(&self) -> bool {
        self.dormant.is_some() || self.removed.is_some()
    }

    /// Creates a body of `class` with all properties zero.
    #[inline]
    pub fn new(class: &Rc<Class>) -> Self {
        Self { storage: Storage::new(Rc::clone(class)), dormant: None, removed: None }
    }

    /// Returns the class.
    #[inline]
    pub fn class(&self) -> &Rc<Class> {
        self.storage.owner()
    }

    /// Returns the properties.
    #[inline]
    pub fn view(&self) -> View<'_> {
        self.storage.view()
    }

    /// Returns the address of the first byte. The address is valid until the body is dropped.
    #[inline]
    pub fn memory(&self) -> *mut u8 {
        self.view().start()
    }
}
