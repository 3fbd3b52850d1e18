//! Bodies of objects. The store has one body per object, and a second body for each object that a reload rebuilds.

use std::rc::Rc;

use crate::class::Class;
use crate::dormant::{Dormant, RemovedValues};
use crate::hot_columns::PluginPart;
use crate::storage::{Schema, Storage, View};

/// Class, memory and conjugate of an object. Dropping the body destroys the properties and frees the memory.
#[derive(Debug)]
pub struct Body {
    pub(super) class: Rc<Class>,
    pub(super) storage: Storage,
    pub(super) plugin_part: PluginPart,
    /// Number of constructed classes of the chain, counted from the root.
    pub(super) constructed: usize,
    /// State of an object whose class is missing (a dormant object).
    pub dormant: Option<Box<Dormant>>,
    /// Values of properties that the class no longer has.
    pub removed: Option<Box<RemovedValues>>,
}

/// Part of a body that depends on the class. A reload replaces this part if the values stay in place.
#[derive(Debug)]
pub(super) struct ClassBinding {
    class: Rc<Class>,
    schema: Rc<Schema>,
    plugin_part: PluginPart,
    constructed: usize,
}

impl ClassBinding {
    /// Creates a binding without a conjugate. All classes of the chain count as constructed, because an inserted base does not
    /// construct existing objects.
    pub(super) fn new(class: &Rc<Class>) -> Self {
        Self {
            class: Rc::clone(class),
            schema: Rc::clone(class.schema()),
            plugin_part: PluginPart::NONE,
            constructed: class.depth(),
        }
    }
}

impl Body {
    /// Exchanges the binding of the body with `binding`, which has a class of the same layout. The values stay in place.
    ///
    /// # Panics
    /// Panics if the layouts differ.
    pub(super) fn rebind(&mut self, binding: &mut ClassBinding) {
        let ClassBinding { class, schema, plugin_part, constructed } = binding;
        self.storage.swap_schema(schema);
        std::mem::swap(&mut self.class, class);
        std::mem::swap(&mut self.plugin_part, plugin_part);
        std::mem::swap(&mut self.constructed, constructed);
    }

    /// Checks that the body keeps values outside its memory.
    #[inline]
    pub(super) fn has_more(&self) -> bool {
        self.dormant.is_some() || self.removed.is_some()
    }

    /// Creates a body of `class` with all properties zero and without a conjugate.
    #[inline]
    pub fn new(class: &Rc<Class>) -> Self {
        let storage = Storage::new(class.schema().clone());
        let (class, plugin_part) = (Rc::clone(class), PluginPart::NONE);
        Self { class, storage, plugin_part, constructed: 0, dormant: None, removed: None }
    }

    /// Returns the class.
    #[inline]
    pub fn class(&self) -> &Rc<Class> {
        &self.class
    }

    /// Returns the properties.
    #[inline]
    pub fn view(&self) -> View<'_> {
        self.storage.view()
    }

    /// Returns the address of the first byte. The address is valid until the body is dropped.
    #[inline]
    pub fn memory(&self) -> *mut u8 {
        self.storage.view().start()
    }
}
