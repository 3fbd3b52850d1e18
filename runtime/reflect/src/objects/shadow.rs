//! The shadow of a reload: new bodies beside the old ones, and constructions and ends that can be taken back. Either all of it
//! becomes what is there, or none of it ever was.

use alcedo_base::border::CallError;
use alcedo_base::handles::ObjectHandle;

use crate::body::Body;
use crate::objects::{Objects, Shadow, Store, object_flags};
use crate::slots::TenantState;

impl Objects {
    /// Puts a shadow up: from now on new bodies can be staged, and what is born or ends can be taken back.
    ///
    /// # Panics
    /// When one is up already.
    pub fn begin_shadow(&self) {
        self.abandon_mark();
        let mut store = self.store.borrow_mut();
        assert!(store.shadow.is_none(), "one shadow of objects at a time");
        let (staged, gone, old) = Default::default();
        store.shadow = Some(Shadow { first_construction: store.constructions, staged, gone, old });
    }

    /// Whether a shadow is up, so that what is gone may come back.
    #[inline]
    pub fn is_in_shadow(&self) -> bool {
        self.store.borrow().shadow.is_some()
    }

    /// Whether a shadow is up and the object was there before it. Its end could not be taken back: its plugin part
    /// would be gone.
    #[inline]
    pub fn predates_shadow(&self, object: ObjectHandle) -> bool {
        let store = self.store.borrow();
        let born_before =
            |shadow: &Shadow| store.slots.get(object).is_some_and(|it| it.construction <= shadow.first_construction);
        store.shadow.as_ref().is_some_and(born_before)
    }

    /// Whether what is written to the object now is gone when the shadow is dropped: it was born in the shadow, or has a
    /// body there.
    pub(crate) fn is_staged(&self, object: ObjectHandle) -> bool {
        let store = self.store.borrow();
        let tenant = store.slots.get(object);
        store
            .shadow
            .as_ref()
            .zip(tenant)
            .is_some_and(|(shadow, tenant)| tenant.construction > shadow.first_construction || tenant.staged.is_some())
    }

    /// Gives an object a new body beside the old one, which stays untouched. Until the shadow goes, the new one is seen.
    /// A base that was inserted does not construct the living, so whatever the chain is now counts as done.
    ///
    /// # Errors
    /// [`CallError::Stale`] when the object is gone.
    ///
    /// # Panics
    /// When no shadow is up.
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

    /// Swaps all staged bodies in. The old ones, with the conjugates they had. Cannot fail and calls no foreign code.
    ///
    /// # Panics
    /// When no shadow is up.
    pub fn commit_shadow(&self) -> Vec<Body> {
        let mut store = self.store.borrow_mut();
        let mut shadow = store.shadow.take().expect("a shadow is committed after it was begun");
        for object in shadow.staged {
            let Some(tenant) = store.slots.get_mut(object) else { continue };
            let Some(staged) = tenant.staged.take() else { continue };
            shadow.old.push(std::mem::replace(&mut tenant.body, *staged));
            store.slots.swapped(object.index());
        }
        for object in shadow.gone {
            store.free(&self.names, object);
        }
        shadow.old
    }

    /// Everything is as before the shadow, objects that ended meanwhile included. The staged bodies, and the objects
    /// born meanwhile that are still there, in order of creation: to be destroyed by the caller.
    ///
    /// # Panics
    /// When no shadow is up.
    pub fn drop_shadow(&self) -> (Vec<Body>, Vec<ObjectHandle>) {
        let mut store = self.store.borrow_mut();
        let shadow = store.shadow.take().expect("a shadow is dropped after it was begun");
        let mut staged = shadow.old;
        for object in shadow.staged {
            let body = store.slots.any_mut(object).and_then(|tenant| tenant.staged.take());
            staged.extend(body.map(|body| *body));
            // An object that was born meanwhile and ended has left its slot, maybe to another.
            if store.slots.any(object).is_some() {
                store.slots.swapped(object.index());
            }
        }
        for object in shadow.gone {
            let Some(tenant) = store.slots.any_mut(object) else { continue };
            tenant.life = TenantState::Alive;
            if tenant.flags & object_flags::CDO != 0 {
                tenant.body.class.cdo.set(object);
            }
            store.slots.swapped(object.index());
        }
        let born = store.slots.iter().filter(|(_, tenant)| tenant.construction > shadow.first_construction);
        let mut born: Vec<_> = born.map(|(object, tenant)| (tenant.construction, object)).collect();
        born.sort_unstable();
        (staged, born.into_iter().map(|(_, object)| object).collect())
    }
}
