//! Shadow of a reload: a transaction of staged bodies, constructions and destructions. The transaction is committed or rolled back as a
//! whole.
//!
//! An object can keep its body if the layout of its class is unchanged. The body is then bound to the new class. The values of the body are
//! copied before their first write in the shadow.

use std::fmt;
use std::rc::Rc;

use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;

use crate::body::Body;
use crate::class::Class;
use crate::objects::{CopyCheck, Objects, Shadow, Store, object_flags};
use crate::slots::{Built, TenantState};
use crate::storage::Storage;

/// Bodies, classes and copies that became unused at the end of a shadow. Dropping this value destroys the bodies, and can destroy classes.
pub struct Replaced {
    pub(super) bodies: Vec<(ObjectHandle, Body, Built)>,
    bindings: Rebound,
    copies: Vec<(ObjectHandle, Storage<Rc<Class>>)>,
}

impl Replaced {
    /// Returns the conjugate numbers that the objects had with these bodies and classes. The number is zero for an object without a
    /// conjugate. Some of the conjugates may have ended.
    pub fn conjugates(&self) -> impl Iterator<Item = u64> {
        let staged = self.bodies.iter().map(|(_, _, built)| built);
        staged.chain(self.bindings.objects.iter().map(|(_, built)| built)).map(|built| built.plugin_part().word)
    }
}

/// Objects that keep their bodies, with the state that a rollback restores.
#[derive(Debug, Default)]
pub(super) struct Rebound {
    objects: Vec<(ObjectHandle, Built)>,
    /// Old classes. Each class belongs to the objects between the previous index and its own index. Adjacent objects mostly share a class.
    classes: Vec<(Rc<Class>, usize)>,
}

impl Rebound {
    fn push(&mut self, object: ObjectHandle, class: Rc<Class>, built: Built) {
        self.objects.push((object, built));
        let end = self.objects.len();
        match self.classes.last_mut().filter(|(last, _)| Rc::ptr_eq(last, &class)) {
            Some((_, known)) => *known = end,
            None => self.classes.push((class, end)),
        }
    }

    fn iter(&self) -> impl Iterator<Item = (ObjectHandle, &Rc<Class>, Built)> {
        let mut start = 0;
        self.classes.iter().flat_map(move |(class, end)| {
            let run = &self.objects[std::mem::replace(&mut start, *end)..*end];
            run.iter().map(move |(object, built)| (*object, class, *built))
        })
    }
}

impl fmt::Debug for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bodies, bindings, copies } = self;
        let bindings = bindings.objects.len();
        write!(f, "{} bodies, {bindings} bindings, {} copies of values", bodies.len(), copies.len())
    }
}

impl Objects {
    /// Starts a shadow. Until the end of the shadow, bodies are staged, and constructions and destructions can be rolled back.
    ///
    /// # Panics
    /// Panics if a shadow is already active.
    pub fn begin_shadow(&self) {
        self.abandon_mark();
        let mut store = self.store.borrow_mut();
        assert!(store.shadow.is_none(), "one shadow of objects at a time");
        let first_construction = store.constructions;
        let numbers = store.naming.counts();
        store.shadow = Some(Shadow { first_construction, numbers, ..Shadow::default() });
    }

    /// Checks if a shadow is active. During a shadow, a rollback may restore destroyed objects.
    #[inline]
    pub fn is_in_shadow(&self) -> bool {
        self.store.borrow().shadow.is_some()
    }

    /// Checks if a shadow is active and the object was created before the shadow. Code must not destroy or rename this object in the
    /// shadow, because a rollback could not restore the object. After a rollback has dropped the shadow, returns true for all objects until
    /// the rollback ends, because no later step restores an object.
    #[inline]
    pub fn predates_shadow(&self, object: ObjectHandle) -> bool {
        let store = self.store.borrow();
        let is_older =
            |shadow: &Shadow| store.slots.get(object).is_some_and(|it| it.construction <= shadow.first_construction);
        store.shadow.as_ref().map_or_else(|| self.mode.is_before_commit(), is_older)
    }

    /// Checks if a rollback discards writes to the object. A rollback discards writes to an object that was created in the shadow, and
    /// writes to a staged body. A rollback also discards writes to a kept body, because its values are copied before their first write.
    pub fn is_staged(&self, object: ObjectHandle) -> bool {
        let store = self.store.borrow();
        let (Some(shadow), Some(tenant)) = (&store.shadow, store.slots.get(object)) else { return false };
        let is_new = tenant.construction > shadow.first_construction;
        is_new || shadow.is_staged.get(object.index()) || shadow.in_place.get(object.index())
    }

    /// Keeps the body of an object, and binds the body to `class`. The layouts of `class` and of the current class must be equal. The
    /// object has no conjugate until a new conjugate is set. All classes of the chain are marked as constructed. A rollback restores the
    /// previous binding and the values.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object does not exist.
    ///
    /// # Panics
    /// Panics if no shadow is active or the layouts differ. Also panics if the object was created, staged or kept in the shadow, or has
    /// values outside its memory.
    pub fn keep_body(&self, object: ObjectHandle, class: &Rc<Class>) -> Result<(), CallError> {
        let mut binding = Rc::clone(class);
        let mut store = self.store.borrow_mut();
        let Store { slots, shadow, .. } = &mut *store;
        let shadow = shadow.as_mut().expect("bodies are kept in a shadow");
        let is_moved = shadow.is_staged.get(object.index()) || shadow.in_place.get(object.index());
        let built = slots.rebound(object, Built::without_part(class), |tenant| {
            let is_older = tenant.construction <= shadow.first_construction;
            assert!(is_older && !is_moved, "a body is kept once");
            assert!(!tenant.body.has_more(), "a kept body has its values in its memory");
            tenant.body.rebind(&mut binding);
        });
        shadow.rebound.push(object, binding, built.ok_or(CallError::Stale { handle: object })?);
        shadow.in_place.put(object.index(), true);
        self.has_kept_bodies.set(true);
        Ok(())
    }

    /// If an object keeps its body, copies its values before their first write.
    ///
    /// # Errors
    /// Returns the error of the function that [`Objects::check_copies`] has set.
    #[cold]
    pub(super) fn copy_before_write(&self, object: ObjectHandle) -> Result<(), CallError> {
        {
            let mut store = self.store.borrow_mut();
            let Store { slots, shadow: Some(shadow), .. } = &mut *store else { return Ok(()) };
            let is_unwritten = shadow.in_place.get(object.index()) && !shadow.is_copied.get(object.index());
            let Some(tenant) = slots.get(object).filter(|_| is_unwritten) else { return Ok(()) };
            shadow.copies.push((object, tenant.body.storage.duplicate()));
            shadow.is_copied.put(object.index(), true);
        }
        self.copy_check.get()()
    }

    /// Sets the function that runs after an object's values are copied, and before their first write. For fault injection.
    pub fn check_copies(&self, check: CopyCheck) {
        self.copy_check.set(check);
    }

    /// Stages a new body for an object. The object uses the new body immediately. The shadow keeps the old body unchanged. The object has
    /// no conjugate until a new conjugate is set. All classes of the new chain are marked as constructed.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object does not exist.
    ///
    /// # Panics
    /// Panics if no shadow is active.
    pub fn stage(&self, object: ObjectHandle, body: Body) -> Result<(), CallError> {
        let built = Built::without_part(body.class());
        let mut store = self.store.borrow_mut();
        let Store { slots, graveyard, shadow, .. } = &mut *store;
        let shadow = shadow.as_mut().expect("bodies are staged in a shadow");
        let tenant = slots.get_mut(object).ok_or(CallError::Stale { handle: object })?;
        let old = std::mem::replace(&mut tenant.body, body);
        let old_built = slots.rebuilt(object, built).expect("the object exists");
        match shadow.is_staged.get(object.index()) {
            true => graveyard.push(old),
            false => {
                shadow.staged.push((object, old, old_built));
                shadow.is_staged.put(object.index(), true);
            }
        }
        Ok(())
    }

    /// If a shadow is active, records in the shadow that an object is constructed again. See [`Objects::next_left`].
    pub(crate) fn note_reconstruction(&self, object: ObjectHandle) {
        if let Some(shadow) = &mut self.store.borrow_mut().shadow {
            shadow.reconstructed.put(object.index(), true);
        }
    }

    /// Removes and returns an object that has left its class, with that class. After a commit, returns the objects that have another native
    /// class, with their old classes. After a rollback, returns the objects that were constructed again, with their new classes. Returns
    /// `None` after the last of these objects.
    pub(crate) fn next_left(&self) -> Option<(ObjectHandle, Rc<Class>)> {
        self.store.borrow_mut().left.pop_first()
    }

    /// Variant of [`Objects::next_left`] for one object.
    pub(crate) fn take_left(&self, object: ObjectHandle) -> Option<Rc<Class>> {
        self.store.borrow_mut().left.remove(&object)
    }

    /// Renames a default subobject of an object. A rollback restores the name. Has no effect if `owner` does not have the subobject.
    ///
    /// # Panics
    /// Panics if no shadow is active.
    pub fn rename_part(&self, owner: ObjectHandle, part: ObjectHandle, name: &str) {
        let name = self.names.intern(name);
        let mut store = self.store.borrow_mut();
        let before = store.rename_part(&self.names, (owner, part), (name, name));
        let shadow = store.shadow.as_mut().expect("subobjects are renamed in a shadow");
        shadow.renamed.extend(before.map(|before| ((owner, part), before)));
    }

    /// Commits the shadow. Returns the old bodies, the old classes of kept bodies, and the old conjugates. The commit always succeeds and
    /// calls no foreign code.
    ///
    /// # Panics
    /// Panics if no shadow is active.
    pub fn commit_shadow(&self) -> Replaced {
        self.has_kept_bodies.set(false);
        let mut store = self.store.borrow_mut();
        let shadow = store.shadow.take().expect("a shadow is committed after it was begun");
        for (object, _) in &shadow.ended {
            store.free(*object);
        }
        store.naming.free_vacant();
        self.columns.count_end();
        let Store { slots, left, .. } = &mut *store;
        let native = |body: &Body| body.class().nearest_native().map(|class| class.id);
        let is_moved = |object, old: &Body| slots.get(object).is_some_and(|tenant| native(&tenant.body) != native(old));
        left.extend(shadow.left(is_moved));
        Replaced { bodies: shadow.staged, bindings: shadow.rebound, copies: shadow.copies }
    }

    /// Rolls the shadow back. Restores the destroyed objects, the old bodies, and the values and classes of kept bodies. Returns the staged
    /// bodies, and the classes and conjugates that the shadow had set. Also returns the objects that were created in the shadow, in order
    /// of creation. The caller must destroy these objects.
    ///
    /// # Panics
    /// Panics if no shadow is active.
    pub fn drop_shadow(&self) -> (Replaced, Vec<ObjectHandle>) {
        self.has_kept_bodies.set(false);
        let mut store = self.store.borrow_mut();
        let mut shadow = store.shadow.take().expect("a shadow is dropped after it was begun");
        store.naming.restore(std::mem::take(&mut shadow.claimed), &shadow.numbers);
        // In a shadow, the slot of a destroyed object is not reused if the object was created before the shadow.
        for (object, plugin_part) in &shadow.ended {
            let Some(tenant) = store.slots.any_mut(*object) else { continue };
            tenant.life = TenantState::Alive;
            store.slots.swapped(object.index());
            self.columns.put_plugin_part(*object, *plugin_part);
        }
        for (part, names) in shadow.renamed.drain(..).rev() {
            let _renamed = store.rename_part(&self.names, part, names);
        }
        for (object, body, built) in &mut shadow.staged {
            // An object that was created in the shadow may have been destroyed. A new object may then use its slot.
            let Some(tenant) = store.slots.get_mut(*object) else { continue };
            std::mem::swap(&mut tenant.body, body);
            if let Some(dropped) = store.slots.rebuilt(*object, *built) {
                *built = dropped;
            }
        }
        for (object, copy) in &shadow.copies {
            let Some(tenant) = store.slots.get(*object) else { continue };
            assert!(tenant.body.view().copy_all(copy.view()), "values are copied between bodies of one schema");
        }
        let (mut undone, mut dropped) = (Vec::<Rc<Class>>::new(), Vec::new());
        for (object, class, built) in shadow.rebound.iter() {
            let Some(tenant) = store.slots.get_mut(object) else { continue };
            let mut class = Rc::clone(class);
            tenant.body.rebind(&mut class);
            // Keeps the new class alive, because its drop may run foreign code, and the store is borrowed here.
            if !undone.last().is_some_and(|last| Rc::ptr_eq(last, &class)) {
                undone.push(class);
            }
            (tenant.body.dormant, tenant.body.removed) = (None, None);
            dropped.extend(store.slots.rebuilt(object, built).map(|built| (object, built)));
        }
        shadow.rebound.objects = dropped;
        // The caller drops the new classes together with the list.
        let end = shadow.rebound.objects.len();
        shadow.rebound.classes.extend(undone.into_iter().map(|class| (class, end)));
        for (object, _) in &shadow.ended {
            if let Some(tenant) = store.slots.get(*object).filter(|tenant| tenant.has(object_flags::CDO)) {
                tenant.body.class().cdo.set(*object);
            }
        }
        let created = store.slots.iter().filter(|(_, tenant)| tenant.construction > shadow.first_construction);
        let mut created: Vec<_> = created.map(|(object, tenant)| (tenant.construction, object)).collect();
        created.sort_unstable();
        store.left.extend(shadow.left(|object, _| shadow.reconstructed.get(object.index())));
        let replaced = Replaced { bodies: shadow.staged, bindings: shadow.rebound, copies: shadow.copies };
        (replaced, created.into_iter().map(|(_, object)| object).collect())
    }
}

impl Shadow {
    /// Iterates over the staged objects for which `has_left` is true, each with the class of its body in `staged`.
    fn left(&self, has_left: impl Fn(ObjectHandle, &Body) -> bool) -> impl Iterator<Item = (ObjectHandle, Rc<Class>)> {
        let left = self.staged.iter().filter(move |(object, body, _)| has_left(*object, body));
        left.map(|(object, body, _)| (*object, Rc::clone(body.class())))
    }
}
