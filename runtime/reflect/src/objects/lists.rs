//! Lists of objects, in order of creation.

use std::rc::Rc;

use alcedo_base::handles::{ClassId, ObjectHandle};
use rustc_hash::FxHashMap;

use crate::class::Class;
use crate::objects::Objects;
use crate::property::Property;
use crate::slots::{Slots, Tenant};

/// Change to a list of objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListEdit {
    /// The object at this index was removed.
    Removed(usize),
    /// The object was inserted at this index.
    Added(usize, ObjectHandle),
}

/// Maximum number of changed slots for which a list is updated. Each changed slot costs a search of the list.
const MAX_FOLLOWED: usize = 16;

impl Objects {
    /// Returns all objects, including CDOs, in order of creation.
    pub fn alive(&self) -> Vec<ObjectHandle> {
        let store = self.store.borrow();
        in_order(store.slots.iter().map(|(object, tenant)| (tenant.construction, object)).collect())
    }

    /// Returns all objects except CDOs and their subobjects, in order of creation.
    pub fn living(&self) -> Vec<ObjectHandle> {
        let store = self.store.borrow();
        let slots = &store.slots;
        let created = |object| slots.get(object).map(|tenant| (tenant.construction, object));
        let mut found = Vec::with_capacity(slots.count_living());
        found.extend(slots.living().filter_map(created));
        in_order(found)
    }

    /// Returns the number of objects that [`Objects::living`] returns.
    pub fn count_living(&self) -> usize {
        self.store.borrow().slots.count_living()
    }

    /// Returns the instances of a class and its derived classes, in order of creation. Excludes CDOs, subobjects of CDOs, and dormant
    /// objects.
    pub fn of_class(&self, class: &Class) -> Vec<ObjectHandle> {
        let is_kept = |tenant: &Tenant| !tenant.is_template() && tenant.body.dormant.is_none();
        self.list(|found| found.is_a(class), |_, _| false, is_kept)
    }

    /// Returns the objects of the classes that `is_listed` accepts, in order of creation. Includes CDOs. Calls `is_listed` once per class.
    /// `is_listed` must not change the store.
    pub(super) fn of_classes(&self, is_listed: impl FnMut(&Rc<Class>) -> bool) -> Vec<ObjectHandle> {
        self.list(is_listed, |_, _| false, |_| true)
    }

    /// Returns the objects whose class has a property that `is_listed` accepts, in order of creation. Includes CDOs. Also returns the
    /// accepted properties by class. `is_listed` must not change the store.
    pub fn with_properties(
        &self,
        is_listed: impl Fn(&Property) -> bool,
    ) -> (Vec<ObjectHandle>, FxHashMap<ClassId, Vec<Rc<Property>>>) {
        let mut listed = FxHashMap::default();
        let objects = self.of_classes(|class| {
            let properties: Vec<_> = class.properties.iter().filter(|property| is_listed(property)).cloned().collect();
            let has_any = !properties.is_empty();
            listed.insert(class.id, properties);
            has_any
        });
        (objects, listed)
    }

    /// Returns the objects of the classes that `is_listed` accepts, and all dormant objects, in order of creation. Excludes CDOs and
    /// subobjects of CDOs. Calls `is_listed` once per class. `is_listed` must not change the store.
    pub fn living_of(&self, is_listed: impl FnMut(&Rc<Class>) -> bool) -> Vec<ObjectHandle> {
        self.list(is_listed, Slots::is_dormant, |tenant| !tenant.is_template())
    }

    /// Returns the objects whose class `is_listed` accepts or whose slot `is_also` accepts. Excludes an object if `is_kept` rejects its
    /// tenant (the content of the slot). Scans the compact column of classes first, and reads only the tenants of the found objects,
    /// because a tenant is large.
    fn list(
        &self,
        is_listed: impl FnMut(&Rc<Class>) -> bool,
        is_also: impl Fn(&Slots, u32) -> bool,
        is_kept: impl Fn(&Tenant) -> bool,
    ) -> Vec<ObjectHandle> {
        let store = self.store.borrow();
        let slots = &store.slots;
        let (mut listed, mut found) = (Listed::new(is_listed), Vec::new());
        for index in 0..self.columns.len() {
            let entry = self.columns.entry(index);
            if entry.serial == 0 {
                continue;
            }
            let object = ObjectHandle::new(index, entry.serial);
            if !listed.has(entry.class, slots, object) && !is_also(slots, index) {
                continue;
            }
            let Some(tenant) = slots.get(object) else { continue };
            if is_kept(tenant) {
                found.push((tenant.construction, object));
            }
        }
        in_order(found)
    }

    /// Updates a list that [`Objects::of_class`] returned. `since` is the change counter at the time of the last update. Returns the edits
    /// in the order in which they were applied to the list. If too many slots have changed, returns `None` and does not change the list.
    pub fn follow(&self, class: &Class, list: &mut Vec<ObjectHandle>, since: u64) -> Option<Vec<ListEdit>> {
        let changed = self.columns.changed_since(since).filter(|changed| changed.len() <= MAX_FOLLOWED)?;
        let store = self.store.borrow();
        let slots = &store.slots;
        let mut edits = Vec::new();
        for index in &changed {
            if let Some(at) = list.iter().position(|object| object.index() == *index) {
                list.remove(at);
                edits.push(ListEdit::Removed(at));
            }
        }
        // The objects that remain in the list are alive, and their slots have not changed.
        for object in changed.into_iter().map(|index| slots.handle(index)) {
            let Some(tenant) = slots.get(object) else { continue };
            let body = &tenant.body;
            if body.class().is_a(class) && !tenant.is_template() && body.dormant.is_none() {
                let is_older = |other: &ObjectHandle| {
                    slots.get(*other).is_some_and(|other| other.construction < tenant.construction)
                };
                let at = list.partition_point(is_older);
                list.insert(at, object);
                edits.push(ListEdit::Added(at, object));
            }
        }
        Some(edits)
    }
}

/// Cached results of `check` by class. Calls `check` once per class.
struct Listed<F> {
    check: F,
    /// Class and result of the latest check. Adjacent objects usually have the same class, and then share this result.
    last: (ClassId, bool),
    known: FxHashMap<ClassId, bool>,
}

impl<F: FnMut(&Rc<Class>) -> bool> Listed<F> {
    fn new(check: F) -> Self {
        Self { check, last: (ClassId::NONE, false), known: FxHashMap::default() }
    }

    /// Checks the class of an object. Reads the object only at the first check of its class.
    #[inline]
    fn has(&mut self, class: ClassId, slots: &Slots, object: ObjectHandle) -> bool {
        if class != self.last.0 {
            self.last = (class, self.check(class, slots, object));
        }
        self.last.1
    }

    fn check(&mut self, class: ClassId, slots: &Slots, object: ObjectHandle) -> bool {
        let Self { check, known, .. } = self;
        *known.entry(class).or_insert_with(|| slots.get(object).is_some_and(|tenant| check(tenant.body.class())))
    }
}

/// Sorts by construction number. The stable sort is fast here, because slots are mostly filled in order of creation.
fn in_order(mut found: Vec<(u64, ObjectHandle)>) -> Vec<ObjectHandle> {
    found.sort_by_key(|(construction, _)| *construction);
    found.into_iter().map(|(_, object)| object).collect()
}
