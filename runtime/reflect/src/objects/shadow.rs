//! Shadow of a reload: a transaction of staged bodies, constructions and destructions, which is committed or rolled back as
//! a whole.

use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;

use crate::body::Body;
use crate::objects::{Objects, Shadow, Store, object_flags};
use crate::slots::TenantState;

impl Objects {
    /// Starts a shadow: from now on bodies are staged, and constructions and destructions can be rolled back.
    ///
    /// # Panics
    /// If a shadow is already active.
    pub fn begin_shadow(&self) {
        self.abandon_mark();
        let mut store = self.store.borrow_mut();
        assert!(store.shadow.is_none(), "one shadow of objects at a time");
        let (staged, ended, old) = Default::default();
        store.shadow = Some(Shadow { first_construction: store.constructions, staged, ended, old });
    }

    /// Checks that a shadow is active. If so, a rollback may restore destroyed objects.
    #[inline]
    pub fn is_in_shadow(&self) -> bool {
        self.store.borrow().shadow.is_some()
    }

    /// Checks that a shadow is active and the object was created before the shadow. Such an object must not be destroyed,
    /// because its plugin part could not be restored.
    #[inline]
    pub fn predates_shadow(&self, object: ObjectHandle) -> bool {
        let store = self.store.borrow();
        let is_older =
            |shadow: &Shadow| store.slots.get(object).is_some_and(|it| it.construction <= shadow.first_construction);
        store.shadow.as_ref().is_some_and(is_older)
    }

    /// Checks that a rollback discards writes to the object: it was created in the shadow, or has a staged body.
    pub(crate) fn is_staged(&self, object: ObjectHandle) -> bool {
        let store = self.store.borrow();
        let tenant = store.slots.get(object);
        store
            .shadow
            .as_ref()
            .zip(tenant)
            .is_some_and(|(shadow, tenant)| tenant.construction > shadow.first_construction || tenant.staged.is_some())
    }

    /// Stages a new body for an object, which is used until the shadow ends; the old body remains unchanged. All classes of
    /// the new chain count as constructed, because an inserted base does not construct existing objects.
    ///
    /// # Errors
    /// [`CallError::Stale`] if the object does not exist.
    ///
    /// # Panics
    /// If no shadow is active.
    pub fn stage(&self, object: ObjectHandle, mut body: Body) -> Result<(), CallError> {
        body.constructed = body.class.depth();
        let mut store = self.store.borrow_mut();
        let Store { slots, graveyard, shadow, .. } = &mut *store;
        let shadow = shadow.as_mut().expect("bodies are staged in a shadow");
        let tenant = slots.get_mut(object).ok_or(CallError::Stale { handle: object })?;
        match tenant.staged.replace(Box::new(body)) {
            Some(earlier) => graveyard.push(*earlier),
            None => {
                shadow.staged.push(object);
                shadow.old.reserve(shadow.staged.len());
            }
        }
        slots.swapped(object.index());
        Ok(())
    }

    /// Commits the shadow: swaps in all staged bodies. Returns the old bodies with their conjugates. Cannot fail and calls
    /// no foreign code.
    ///
    /// # Panics
    /// If no shadow is active.
    pub fn commit_shadow(&self) -> Vec<Body> {
        let mut store = self.store.borrow_mut();
        let mut shadow = store.shadow.take().expect("a shadow is committed after it was begun");
        for object in shadow.staged {
            let Some(tenant) = store.slots.get_mut(object) else { continue };
            let Some(staged) = tenant.staged.take() else { continue };
            shadow.old.push(std::mem::replace(&mut tenant.body, *staged));
            store.slots.swapped(object.index());
        }
        for object in shadow.ended {
            store.free(&self.names, object);
        }
        shadow.old
    }

    /// Rolls the shadow back, which restores destroyed objects. Returns the staged bodies, and the objects created in the
    /// shadow in order of creation, which the caller must destroy.
    ///
    /// # Panics
    /// If no shadow is active.
    pub fn drop_shadow(&self) -> (Vec<Body>, Vec<ObjectHandle>) {
        let mut store = self.store.borrow_mut();
        let shadow = store.shadow.take().expect("a shadow is dropped after it was begun");
        let mut staged = shadow.old;
        for object in shadow.staged {
            let body = store.slots.any_mut(object).and_then(|tenant| tenant.staged.take());
            staged.extend(body.map(|body| *body));
            // An object created in the shadow may have been destroyed and its slot reused.
            if store.slots.any(object).is_some() {
                store.slots.swapped(object.index());
            }
        }
        for object in shadow.ended {
            let Some(tenant) = store.slots.any_mut(object) else { continue };
            tenant.life = TenantState::Alive;
            if tenant.flags & object_flags::CDO != 0 {
                tenant.body.class.cdo.set(object);
            }
            store.slots.swapped(object.index());
        }
        let created = store.slots.iter().filter(|(_, tenant)| tenant.construction > shadow.first_construction);
        let mut created: Vec<_> = created.map(|(object, tenant)| (tenant.construction, object)).collect();
        created.sort_unstable();
        (staged, created.into_iter().map(|(_, object)| object).collect())
    }
}
