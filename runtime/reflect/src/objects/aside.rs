//! State that objects keep outside their memory: the state of a missing class, and values that properties cannot hold. Only reloads and
//! saved worlds access this state. The functions for this state are therefore separate from other object functions.

use std::rc::Rc;

use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;

use crate::dormant::{Aside, Dormant, FieldAside};
use crate::objects::Objects;
use crate::slots::Tenant;

impl Objects {
    /// Returns the path of the missing class of a dormant object. Returns `None` if the object is not dormant.
    #[inline]
    pub fn waits_for(&self, object: ObjectHandle) -> Option<Rc<str>> {
        self.inspect(object, |tenant| tenant.body.dormant.as_ref().map(|dormant| Rc::clone(&dormant.class)))?
    }

    /// Checks if the object is dormant.
    #[inline]
    pub fn is_dormant(&self, object: ObjectHandle) -> bool {
        self.is_alive(object) && self.store.borrow().slots.is_dormant(object.index())
    }

    /// Returns the number of dormant objects whose missing class has the path `class`.
    pub fn waiting_for(&self, class: &str) -> u64 {
        let store = self.store.borrow();
        let waits = |tenant: &Tenant| tenant.body.dormant.as_ref().is_some_and(|dormant| *dormant.class == *class);
        store.slots.iter().filter(|(_, tenant)| waits(tenant)).count() as u64
    }

    /// Makes the object dormant. `dormant` contains the state that the object keeps for its missing class.
    pub fn set_dormant(&self, object: ObjectHandle, dormant: Dormant) -> Result<(), CallError> {
        let mut store = self.store.borrow_mut();
        let tenant = store.slots.get_mut(object).ok_or(CallError::Stale { handle: object })?;
        tenant.body.dormant = Some(Box::new(dormant));
        store.slots.show(object.index());
        Ok(())
    }

    /// Keeps `value` outside the object's memory, for a property that currently has a different value.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object does not exist.
    pub fn put_aside(
        &self,
        object: ObjectHandle,
        property: &Rc<str>,
        value: impl Into<Aside>,
    ) -> Result<(), CallError> {
        let mut store = self.store.borrow_mut();
        let tenant = store.slots.get_mut(object).ok_or(CallError::Stale { handle: object })?;
        tenant.body.removed.get_or_insert_default().put(property, value);
        store.slots.show(object.index());
        drop(store);
        self.rescan(object);
        Ok(())
    }

    /// Checks if the object keeps a value of the named property outside its memory.
    pub fn has_aside(&self, object: ObjectHandle, property: &str) -> bool {
        self.inspect(object, |tenant| {
            tenant.body.removed.as_ref().is_some_and(|removed| removed.get(property).is_some())
        })
        .unwrap_or(false)
    }

    /// Removes and returns the value that the object keeps outside its memory for a property.
    pub fn take_aside(&self, object: ObjectHandle, property: &str) -> Option<Aside> {
        let mut store = self.store.borrow_mut();
        let removed = &mut store.slots.get_mut(object)?.body.removed;
        let value = removed.as_mut()?.take(property);
        *removed = removed.take().and_then(|removed| removed.boxed());
        store.slots.show(object.index());
        value
    }

    /// Replaces the list of kept fields that the object's plugin part rejected. Returns the previous list. Has no effect if the object does
    /// not exist.
    pub fn replace_fields_aside(&self, object: ObjectHandle, fields: Vec<FieldAside>) -> Vec<FieldAside> {
        let mut store = self.store.borrow_mut();
        let Some(tenant) = store.slots.get_mut(object) else { return Vec::new() };
        let removed = &mut tenant.body.removed;
        if fields.is_empty() && removed.is_none() {
            return Vec::new();
        }
        let mut aside = removed.take().map_or_else(Default::default, |removed| *removed);
        let before = std::mem::replace(&mut aside.fields, fields);
        *removed = aside.boxed();
        store.slots.show(object.index());
        before
    }

    /// Checks if the object keeps kept fields outside its memory. For most objects, reads only one bit of a bit set.
    pub fn has_fields_aside(&self, object: ObjectHandle) -> bool {
        let store = self.store.borrow();
        let removed = |tenant: &Tenant| tenant.body.removed.as_ref().is_some_and(|removed| !removed.fields.is_empty());
        store.slots.has_relations(object.index()) && store.slots.get(object).is_some_and(removed)
    }
}

#[cfg(test)]
mod tests {
    use alcedo_base::handles::ObjectHandle;

    use crate::dormant::{FieldAside, KeptField};
    use crate::testing::{declare, dynamic, world};

    #[test]
    fn fields_are_aside_until_they_are_replaced() {
        let world = world();
        let class = declare(&world, [dynamic("Cube", "/Script/Engine.Object", &[])]).remove(0);
        let object = world.objects.allocate(&class, None, ObjectHandle::NONE, 0);
        assert!(!world.objects.has_fields_aside(object));
        let field = KeptField { class: "/Script/Game.Cube".into(), name: "mood".into(), data: vec![1] };
        let aside = FieldAside { field, instead: None, is_own: false };
        assert!(world.objects.replace_fields_aside(object, vec![aside.clone()]).is_empty());
        assert!(world.objects.has_fields_aside(object));
        assert_eq!(world.objects.replace_fields_aside(object, Vec::new()), [aside]);
        assert!(!world.objects.has_fields_aside(object));
    }
}
