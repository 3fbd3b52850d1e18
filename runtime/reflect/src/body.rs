//! What an object is made of. The store has one for each object, and a second one for those that a reload makes anew.

use std::rc::Rc;

use crate::class::Class;
use crate::dormant::{Dormant, RemovedValues};
use crate::hot_columns::PluginPart;
use crate::storage::{Storage, View};

/// What an object is made of: its class, its memory, its conjugate. Dropping it destroys the properties and frees the
/// memory.
#[derive(Debug)]
pub struct Body {
    pub(super) class: Rc<Class>,
    pub(super) storage: Storage,
    /// What the floors above keep beside it.
    pub(super) plugin_part: PluginPart,
    /// How many classes of its chain, from the root, have constructed it.
    pub(super) constructed: usize,
    /// What it keeps of its own class while that is gone.
    pub dormant: Option<Box<Dormant>>,
    /// What it keeps of properties that its class has no more.
    pub removed: Option<Box<RemovedValues>>,
}

impl Body {
    /// Whether it keeps something that has no place in its memory.
    #[inline]
    pub(super) fn has_more(&self) -> bool {
        self.dormant.is_some() || self.removed.is_some()
    }

    /// A body of that class, all properties at zero, without conjugate.
    #[inline]
    pub fn new(class: &Rc<Class>) -> Self {
        let storage = Storage::new(class.schema().clone());
        let (class, plugin_part) = (Rc::clone(class), PluginPart::NONE);
        Self { class, storage, plugin_part, constructed: 0, dormant: None, removed: None }
    }

    /// Its class.
    #[inline]
    pub fn class(&self) -> &Rc<Class> {
        &self.class
    }

    /// Its properties.
    #[inline]
    pub fn view(&self) -> View<'_> {
        self.storage.view()
    }

    /// Its first byte. Valid until the body is dropped.
    #[inline]
    pub fn memory(&self) -> *mut u8 {
        self.storage.view().start()
    }
}
