//! Lists of objects, in order of creation.

use alcedo_base::handles::{ClassId, ObjectHandle};

use crate::class::Class;
use crate::objects::{Objects, object_flags};
use crate::slots::Tenant;

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
}

fn is_template(tenant: &Tenant) -> bool {
    tenant.flags & (object_flags::CDO | object_flags::IN_CDO) != 0
}

/// Uses a stable sort, which is fast for slots, because slots are mostly filled in order of creation.
fn in_order(mut found: Vec<(u64, ObjectHandle)>) -> Vec<ObjectHandle> {
    found.sort_by_key(|(construction, _)| *construction);
    found.into_iter().map(|(_, object)| object).collect()
}
