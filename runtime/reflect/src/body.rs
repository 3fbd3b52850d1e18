//! Bodies of objects. The store has one body per object, and a second body for each object that a reload rebuilds.

use std::rc::Rc;

use alcedo_base::handles::ClassId;
use rustc_hash::FxHashMap;

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

/// Part of a body that all objects of a class share. A reload replaces this part if the values stay in place.
#[derive(Clone, Debug)]
pub(super) struct ClassBinding {
    class: Rc<Class>,
    schema: Rc<Schema>,
    constructed: usize,
}

impl ClassBinding {
    /// Creates the binding of an existing object. All classes of the chain count as constructed, because an inserted base does
    /// not construct existing objects.
    pub(super) fn new(class: &Rc<Class>) -> Self {
        Self { class: Rc::clone(class), schema: Rc::clone(class.schema()), constructed: class.depth() }
    }

    /// Returns the binding of a body.
    pub(super) fn of(body: &Body) -> Self {
        let (class, schema) = (Rc::clone(&body.class), Rc::clone(body.storage.schema()));
        Self { class, schema, constructed: body.constructed }
    }

    /// Checks that a body has this binding.
    #[inline]
    pub(super) fn is_of(&self, body: &Body) -> bool {
        Rc::ptr_eq(&self.class, &body.class)
            && Rc::ptr_eq(&self.schema, body.storage.schema())
            && self.constructed == body.constructed
    }
}

/// Distinct bindings of bodies.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    list: Vec<ClassBinding>,
    /// Index of the latest binding of each class.
    by_class: FxHashMap<ClassId, u32>,
    /// Index that was found last. Objects of one class are often adjacent.
    last: u32,
}

impl Bindings {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the index of the binding of a body, and adds the binding if it is missing.
    #[inline]
    pub(super) fn index_of(&mut self, body: &Body) -> u32 {
        let is_at = |index: u32| self.list.get(index as usize).is_some_and(|binding| binding.is_of(body));
        if !is_at(self.last) {
            let known = self.by_class.get(&body.class.id).copied().filter(|known| is_at(*known));
            self.last = known.unwrap_or_else(|| self.add(body));
        }
        self.last
    }

    #[cold]
    fn add(&mut self, body: &Body) -> u32 {
        let index = self.list.len() as u32;
        self.list.push(ClassBinding::of(body));
        self.by_class.insert(body.class.id, index);
        index
    }

    /// Returns a copy of the binding at an index that [`Bindings::index_of`] has returned.
    pub(super) fn get(&self, index: u32) -> ClassBinding {
        self.list[index as usize].clone()
    }
}

impl Body {
    /// Binds the body to another class of the same layout, and replaces its conjugate. The values stay in place.
    ///
    /// # Panics
    /// Panics if the layouts differ.
    pub(super) fn rebind(&mut self, binding: ClassBinding, plugin_part: PluginPart) {
        let ClassBinding { class, schema, constructed } = binding;
        self.storage.set_schema(schema);
        (self.class, self.plugin_part, self.constructed) = (class, plugin_part, constructed);
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
