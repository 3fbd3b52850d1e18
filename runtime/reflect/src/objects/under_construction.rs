//! Operations on objects under construction. `construction.rs` defines the order of the operations. The operations skip the check of
//! [`Objects::may_write`], and are therefore separate from the access to complete objects.

use std::rc::Rc;

use alcedo_base::boundary::CallError;
use alcedo_base::handles::{ClassId, ObjectHandle};
use smallvec::SmallVec;

use crate::objects::{Objects, Store};
use crate::property::Property;
use crate::slots::{Tenant, TenantState};
use crate::value::Value;

impl Objects {
    /// Overwrites a property of an object under construction, without a write check.
    #[inline]
    pub fn write_unasked(&self, object: ObjectHandle, name: &str, value: &Value) -> Result<(), CallError> {
        self.will_write(object)?;
        self.with_property(object, name, |view, property| view.write(property, value))
    }

    /// Copies the property bytes of `from` to an object under construction. Requires that both objects have the same schema, and that the
    /// values own no memory and contain no object handles. Otherwise, returns `false` and writes nothing.
    #[inline]
    pub(crate) fn copy_plain(&self, object: ObjectHandle, from: ObjectHandle) -> bool {
        let store = self.store.borrow();
        let (Some(to), Some(from)) = (store.slots.get(object), store.slots.get(from)) else { return false };
        let view = to.body.view();
        to.subobjects.is_empty() && !view.names_objects() && view.copy_bytes(from.body.view())
    }

    /// Copies the values of `properties` from `from`. In the copied values, replaces the first object of each pair in `pairs` with the
    /// second object. Does not overwrite properties that refer to the object's own subobjects.
    pub(crate) fn copy_values(
        &self,
        object: ObjectHandle,
        from: ObjectHandle,
        properties: &[Rc<Property>],
        pairs: &[(ObjectHandle, ObjectHandle)],
    ) -> Result<(), CallError> {
        self.will_write(object)?;
        let store = self.store.borrow();
        let to = store.slots.get(object).ok_or(CallError::Stale { handle: object })?;
        let from = store.slots.get(from).ok_or(CallError::Stale { handle: from })?;
        let (view, template) = (to.body.view(), from.body.view());
        if to.subobjects.is_empty() && to.body.class().properties.len() == properties.len() && view.copy_all(template) {
            view.replace_all_objects(pairs);
            return Ok(());
        }
        let is_own = |property: &Property| to.subobjects.iter().any(|(name, _)| name == property.name);
        for property in properties.iter().filter(|property| !is_own(property)) {
            view.copy_from(property, template, property)?;
            if property.ty.names_objects() {
                view.replace_objects(property, pairs)?;
            }
        }
        Ok(())
    }

    /// Copies all values of `from`, except the references at the offsets `own`. The body of `from` must have the object's schema. In the
    /// copied values, replaces the first object of each pair in `pairs` with the second object.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if an object does not exist. Also returns [`CallError::Stale`] if the schemas differ, because `from` is
    /// then not the expected object.
    pub(crate) fn copy_whole(
        &self,
        object: ObjectHandle,
        from: ObjectHandle,
        own: &[u32],
        pairs: &[(ObjectHandle, ObjectHandle)],
    ) -> Result<(), CallError> {
        self.rescan(object);
        let store = self.store.borrow();
        let to = &store.slots.get(object).ok_or(CallError::Stale { handle: object })?.body;
        let template = &store.slots.get(from).ok_or(CallError::Stale { handle: from })?.body;
        let view = to.view();
        let kept: SmallVec<[(u32, Option<ObjectHandle>); 4]> =
            own.iter().map(|offset| (*offset, view.reference(*offset))).collect();
        if !view.copy_all(template.view()) {
            return Err(CallError::Stale { handle: from });
        }
        view.replace_all_objects(pairs);
        for (offset, reference) in kept {
            view.put_reference(offset, reference.unwrap_or_default());
        }
        Ok(())
    }

    /// Overwrites the strong reference at an offset of the object's memory. If the object does not exist or has no reference at the offset,
    /// returns `false` and writes nothing.
    pub(crate) fn put_reference(&self, object: ObjectHandle, offset: u32, to: ObjectHandle) -> bool {
        self.rescan(object);
        self.inspect(object, |tenant| tenant.body.view().put_reference(offset, to)) == Some(true)
    }

    /// Registers `child` as the default subobject `name` of `owner`.
    pub fn adopt(&self, owner: ObjectHandle, name: &Rc<str>, child: ObjectHandle) {
        let name = self.names.intern(name);
        self.store.borrow_mut().slots.adopt(owner, name, child);
        self.rescan(owner);
    }

    /// Returns the number of constructed classes of the chain, counted from the root.
    #[inline]
    pub fn constructed(&self, object: ObjectHandle) -> usize {
        self.inspect(object, |tenant| tenant.constructed).unwrap_or(0) as usize
    }

    /// Marks the first `count` classes of the chain as constructed. Returns two flags. The first is true if these classes were already
    /// constructed. The second is true if the object is a CDO or belongs to a CDO.
    pub(crate) fn construct(&self, object: ObjectHandle, count: usize) -> Option<(bool, bool)> {
        self.change(object, |tenant| {
            let was_run = tenant.constructed >= count as u32;
            tenant.constructed = tenant.constructed.max(count as u32);
            (was_run, tenant.is_template())
        })
    }

    /// Sets the number of constructed classes of the chain, counted from the root.
    #[inline]
    pub fn set_constructed(&self, object: ObjectHandle, count: usize) {
        self.change(object, |tenant| tenant.constructed = count as u32);
    }

    /// Checks if the destruction of the object has begun.
    #[inline]
    pub fn is_ending(&self, object: ObjectHandle) -> bool {
        self.inspect(object, |tenant| tenant.life == TenantState::Ending) == Some(true)
    }

    /// Records that the destruction of the object is announced to listeners. Returns `false` if the destruction was already announced or
    /// has begun.
    pub fn announce_end(&self, object: ObjectHandle) -> bool {
        let announce = |tenant: &mut Tenant| {
            let is_first = tenant.life == TenantState::Alive;
            if is_first {
                tenant.life = TenantState::Announced;
            }
            is_first
        };
        self.change(object, announce) == Some(true)
    }

    /// Records that the destruction of the object has begun. Returns `false` if the destruction had already begun.
    pub(crate) fn begin_end(&self, object: ObjectHandle) -> bool {
        self.change(object, |tenant| std::mem::replace(&mut tenant.life, TenantState::Ending) != TenantState::Ending)
            == Some(true)
    }

    /// Variant of [`Objects::begin_end`] for objects whose destruction runs no hook of a native class and includes no other object. Stops
    /// before any other object, before CDOs and objects inside them, and before an object whose destruction was announced. Returns the
    /// number of objects whose destruction has begun.
    pub(crate) fn begin_plain_ends(&self, objects: &[ObjectHandle]) -> usize {
        let mut store = self.store.borrow_mut();
        let Store { slots, left, .. } = &mut *store;
        // Latest class without hooks. Adjacent objects mostly have one class.
        let mut latest = ClassId::NONE;
        let begin = |object: &&ObjectHandle| {
            let Some(tenant) = slots.get_mut(**object) else { return false };
            let class = tenant.body.class();
            if class.id != latest && class.lineage().all(|class| class.begin_destroy.is_none()) {
                latest = class.id;
            }
            let is_plain = class.id == latest
                && tenant.life == TenantState::Alive
                && !tenant.is_template()
                && tenant.subobjects.is_empty();
            if is_plain {
                tenant.life = TenantState::Ending;
            }
            is_plain
        };
        if left.is_empty() { objects.iter().take_while(begin).count() } else { 0 }
    }
}
