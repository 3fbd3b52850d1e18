//! Lists of objects, in order of creation.

use alcedo_base::handles::{ClassId, ObjectHandle};

use crate::class::Class;
use crate::objects::{Objects, object_flags};
use crate::slots::Tenant;

impl Objects {
    /// All objects, CDOs too, in order of creation.
    pub fn alive(&self) -> Vec<ObjectHandle> {
        let store = self.store.borrow();
        in_order(store.slots.iter().map(|(object, tenant)| (tenant.construction, object)).collect())
    }

    /// All objects but CDOs and what lies in them, in order of creation.
    pub fn living(&self) -> Vec<ObjectHandle> {
        let store = self.store.borrow();
        let living = store.slots.iter().filter(|(_, tenant)| !is_template(tenant));
        in_order(living.map(|(object, tenant)| (tenant.construction, object)).collect())
    }

    /// Those of a class and of the classes that extend it, but CDOs and what lies in them, and those that sleep. In order of creation.
    pub fn of_class(&self, class: &Class) -> Vec<ObjectHandle> {
        let store = self.store.borrow();
        // Objects of one class follow each other as a rule. What they are stands in a short row; their tenants are long.
        let (mut last, mut last_is) = (ClassId::NONE, false);
        let mut found = Vec::new();
        for index in 0..self.columns.len() {
            let entry = self.columns.entry(index);
            if entry.serial == 0 || entry.class == last && !last_is {
                continue;
            }
            let object = ObjectHandle::new(index, entry.serial);
            let Some(tenant) = store.slots.get(object) else { continue };
            let body = tenant.seen();
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

/// Slots are filled one after the other until objects end, so there are few places where the order changes: a stable sort finds them.
fn in_order(mut found: Vec<(u64, ObjectHandle)>) -> Vec<ObjectHandle> {
    found.sort_by_key(|(construction, _)| *construction);
    found.into_iter().map(|(_, object)| object).collect()
}
