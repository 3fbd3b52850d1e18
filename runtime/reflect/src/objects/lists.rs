//! Lists of objects, in order of creation.

use alcedo_base::handles::{ClassId, ObjectHandle};

use crate::class::Class;
use crate::objects::{Objects, object_flags};
use crate::slots::Tenant;

/// Change of a list of objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListEdit {
    /// The object at this index was removed.
    Removed(usize),
    /// The object was inserted at this index.
    Added(usize, ObjectHandle),
}

/// Maximum number of changed slots that a list follows, since each costs a search of the list.
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
        let living = store.slots.iter().filter(|(_, tenant)| !is_template(tenant));
        in_order(living.map(|(object, tenant)| (tenant.construction, object)).collect())
    }

    /// Returns the number of [`Objects::living`].
    pub fn count_living(&self) -> usize {
        self.store.borrow().slots.iter().filter(|(_, tenant)| !is_template(tenant)).count()
    }

    /// Returns the instances of a class and of derived classes, in order of creation. Excludes CDOs, their subobjects, and
    /// dormant objects.
    pub fn of_class(&self, class: &Class) -> Vec<ObjectHandle> {
        let store = self.store.borrow();
        // Scans the compact column of classes instead of the large tenants. Objects of one class are mostly adjacent.
        let (mut last, mut last_is) = (ClassId::NONE, false);
        let mut found = Vec::new();
        for index in 0..self.columns.len() {
            let entry = self.columns.entry(index);
            if entry.serial == 0 || entry.class == last && !last_is {
                continue;
            }
            let object = ObjectHandle::new(index, entry.serial);
            let Some(tenant) = store.slots.get(object) else { continue };
            let body = tenant.visible_body();
            if entry.class != last {
                (last, last_is) = (entry.class, body.class().is_a(class));
            }
            if last_is && !is_template(tenant) && body.dormant.is_none() {
                found.push((tenant.construction, object));
            }
        }
        in_order(found)
    }

    /// Updates a list that [`Objects::of_class`] returned when the counter of changes was `since`. Returns the edits in order; `None`,
    /// with the list unchanged, if more has changed than is worth following.
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
        // The objects that are left have not changed, so they are alive.
        for object in changed.into_iter().map(|index| slots.handle(index)) {
            let Some(tenant) = slots.get(object) else { continue };
            let body = tenant.visible_body();
            if body.class().is_a(class) && !is_template(tenant) && body.dormant.is_none() {
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

fn is_template(tenant: &Tenant) -> bool {
    tenant.flags & (object_flags::CDO | object_flags::IN_CDO) != 0
}

/// Uses a stable sort, which is fast for slots, because slots are mostly filled in order of creation.
fn in_order(mut found: Vec<(u64, ObjectHandle)>) -> Vec<ObjectHandle> {
    found.sort_by_key(|(construction, _)| *construction);
    found.into_iter().map(|(_, object)| object).collect()
}
