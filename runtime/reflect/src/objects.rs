//! Object store: the objects of a world and their bodies. A reload activates a shadow, replaces bodies, and keeps the old bodies in the
//! shadow. A commit discards the old bodies. A rollback restores the old bodies. If the layout of a class is unchanged, its objects can
//! keep their bodies. The values of a kept body are copied before their first write, and a rollback restores the copies.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::rc::Rc;

use alcedo_abi::host::mode;
use alcedo_base::boundary::{CallError, not_found};
use alcedo_base::cells::RefCell;
use alcedo_base::handles::{ClassId, Name, ObjectHandle, last_serial};

use crate::bits::Bits;
use crate::body::Body;
use crate::class::Class;
use crate::hot_columns::{HotColumns, PluginPart};
use crate::marker::Marker;
use crate::member::PropertyKey;
use crate::mode::ModeWord;
use crate::names::{Names, PartName};
use crate::naming::{GeneratedName, Label, Naming};
use crate::owned::OwnedValue;
use crate::property::Property;
use crate::slices::BorrowedSlices;
use crate::slots::{Built, Slots, Subobjects, Tenant, TenantState};
use crate::storage::{Storage, View};
use crate::typed::FrameValue;
use crate::value::Value;

pub use crate::object_flags;
pub use lists::ListEdit;
pub use place::RenameError;
use shadow::Rebound;
pub use shadow::Replaced;

/// Objects of a world. Game thread only. No method calls foreign code.
#[derive(Debug)]
pub struct Objects {
    pub(super) store: RefCell<Store>,
    /// Mark or sweep in progress. Stored outside `store`, because the marker changes during a shared borrow of the store.
    pub(super) marker: RefCell<Option<Marker>>,
    /// Cached columns with the most frequently read fields of the store. See [`Slots::show`].
    pub(super) columns: Rc<HotColumns>,
    pub(super) mode: ModeWord,
    slices: BorrowedSlices,
    names: Rc<Names>,
    /// True while a shadow has objects that keep their bodies.
    has_kept_bodies: Cell<bool>,
    copy_check: Cell<CopyCheck>,
}

/// Function that runs after the values of a kept body are copied, and before their first write. An error rejects the write.
pub type CopyCheck = fn() -> Result<(), CallError>;

/// Accepts every write.
const ACCEPT: CopyCheck = || Ok(());

#[derive(Debug)]
pub(super) struct Store {
    pub(super) slots: Slots,
    constructions: u64,
    /// Slots of the root set. An object that is released in a shadow keeps its bit, because a rollback may restore the object.
    pub(super) roots: Bits,
    naming: Naming,
    /// Bodies released since the last safe point. Plugins may still use addresses of values in these bodies.
    graveyard: Vec<Body>,
    shadow: Option<Shadow>,
    /// Objects that have left their classes, each with the class. See [`Objects::next_left`]. An entry is removed when `begin_destroy` of
    /// the class runs.
    left: BTreeMap<ObjectHandle, Rc<Class>>,
}

#[derive(Debug, Default)]
struct Shadow {
    /// Construction number of the last object that was created before the shadow. Objects that were created in the shadow have higher
    /// numbers.
    first_construction: u64,
    /// Objects whose bodies were replaced, with their old bodies.
    staged: Vec<(ObjectHandle, Body, Built)>,
    /// Slots of the objects in `staged`.
    is_staged: Bits,
    /// Destroyed objects that were created before the shadow, with their plugin parts.
    ended: Vec<(ObjectHandle, PluginPart)>,
    /// Objects that keep their bodies, with their old classes.
    rebound: Rebound,
    /// Slots of the objects in `rebound`.
    in_place: Bits,
    /// Values of the written objects in `rebound`, copied before their first write.
    copies: Vec<(ObjectHandle, Storage<Rc<Class>>)>,
    /// Slots of the objects in `copies`.
    is_copied: Bits,
    /// Renamed default subobjects, with their owners and previous names.
    renamed: Vec<(Part, PartNames)>,
    /// Slots of the objects that are constructed again.
    reconstructed: Bits,
    /// Generated names that loaded objects have received, with the slots of the older objects that had these names.
    claimed: Vec<(GeneratedName, u32)>,
    /// Counts of the numbers for generated names before the shadow. See [`Naming::counts`].
    numbers: Vec<usize>,
}

/// An object, and one of its default subobjects.
type Part = (ObjectHandle, ObjectHandle);

/// Name under which an owner lists a default subobject, and the subobject's own name. The names can differ for a loaded subobject.
type PartNames = (Name, Name);

impl Objects {
    /// Creates an empty store that checks `mode` on writes and `slices` on reads and writes.
    pub fn new(names: Rc<Names>, mode: ModeWord, slices: BorrowedSlices) -> Self {
        let columns = Rc::new(HotColumns::new());
        let store = Store {
            slots: Slots::new(Rc::clone(&columns), last_serial()),
            constructions: 0,
            roots: Bits::default(),
            naming: Naming::default(),
            graveyard: Vec::new(),
            shadow: None,
            left: BTreeMap::new(),
        };
        Self {
            store: RefCell::new(store),
            marker: RefCell::default(),
            columns,
            mode,
            slices,
            names,
            has_kept_bodies: Cell::new(false),
            copy_check: Cell::new(ACCEPT),
        }
    }

    /// Creates an object with all properties zero. If `name` is `None`, generates a unique name such as `MagicCube_17`.
    #[inline]
    pub fn allocate(&self, class: &Rc<Class>, name: Option<Name>, outer: ObjectHandle, flags: u32) -> ObjectHandle {
        self.allocate_as(class, name, outer, flags, 0)
    }

    /// Variant of [`Objects::allocate`] that marks the first `constructed` classes of the chain as constructed.
    #[inline]
    pub fn allocate_as(
        &self,
        class: &Rc<Class>,
        name: Option<Name>,
        outer: ObjectHandle,
        flags: u32,
        constructed: usize,
    ) -> ObjectHandle {
        let mut store = self.store.borrow_mut();
        // Each branch builds the label directly in the slot, without a move.
        let object = match name {
            Some(name) => store.create(class, outer, flags, constructed, |naming, object| {
                naming.assign(&self.names, name, outer, object)
            }),
            None => store.create(class, outer, flags, constructed, |naming, object| naming.make(class, object)),
        };
        if let Some(marker) = &mut *self.marker.borrow_mut() {
            marker.add_created(object);
        }
        object
    }

    /// Interns the name of a default subobject, for [`Objects::allocate_part`].
    pub(super) fn part_name(&self, text: &str) -> PartName {
        PartName::of(&self.names, text)
    }

    /// Variant of [`Objects::allocate_as`] that creates a default subobject of `owner`. The owner lists the subobject immediately. A
    /// destruction of the owner therefore includes the subobject.
    pub(super) fn allocate_part(
        &self,
        class: &Rc<Class>,
        name: PartName,
        owner: ObjectHandle,
        flags: u32,
        constructed: usize,
    ) -> ObjectHandle {
        let mut store = self.store.borrow_mut();
        let object = store.create(class, owner, flags, constructed, |naming, object| {
            naming.assign_part(&self.names, name, owner, object)
        });
        store.slots.adopt(owner, name.name, object);
        if let Some(marker) = &mut *self.marker.borrow_mut() {
            marker.add_created(object);
            marker.rescan(owner);
        }
        object
    }

    /// Returns the cached columns of the most frequently read fields.
    #[inline]
    pub fn columns(&self) -> &Rc<HotColumns> {
        &self.columns
    }

    /// Checks if the handle refers to an object of the store.
    #[inline]
    pub fn is_alive(&self, object: ObjectHandle) -> bool {
        self.columns.find(object).is_some()
    }

    /// Returns the class of the object.
    #[inline]
    pub fn class(&self, object: ObjectHandle) -> Option<Rc<Class>> {
        self.inspect(object, |tenant| Rc::clone(tenant.body.class()))
    }

    /// Returns the class of the object. Returns `None` if the object is dormant or destroyed.
    #[inline]
    pub fn awake_class(&self, object: ObjectHandle) -> Option<Rc<Class>> {
        self.inspect(object, |tenant| tenant.body.dormant.is_none().then(|| Rc::clone(tenant.body.class())))?
    }

    /// Returns the object's class if the object needs a conjugate. Returns `None` if the object is dormant or has a conjugate.
    #[inline]
    pub fn class_to_build(&self, object: ObjectHandle) -> Option<Rc<Class>> {
        if self.conjugate(object) != Some(0) {
            return None;
        }
        self.awake_class(object)
    }

    /// Returns the object's class if a reload has put off the object's plugin part until its first use. Returns `None` for an object whose
    /// first construction is not complete.
    pub fn class_awaiting_part(&self, object: ObjectHandle) -> Option<Rc<Class>> {
        let class = self.class_to_build(object)?;
        let is_constructed = self.inspect(object, |tenant| tenant.constructed as usize == class.depth());
        (is_constructed == Some(true) && class.is_rebuilt_lazily()).then_some(class)
    }

    /// Returns the id of the object's class.
    #[inline]
    pub fn class_id(&self, object: ObjectHandle) -> Option<ClassId> {
        Some(self.columns.find(object)?.class)
    }

    /// Checks if the object has the class with this id or a derived class.
    #[inline]
    pub(super) fn is_of(&self, object: ObjectHandle, class: ClassId) -> bool {
        self.inspect(object, |tenant| tenant.body.class().chain_ids().contains(&class)) == Some(true)
    }

    /// Returns the address of the object's memory. The address is valid until the body is replaced, or until the next safe point after the
    /// object's destruction.
    #[inline]
    pub fn memory(&self, object: ObjectHandle) -> Option<*mut u8> {
        Some(self.columns.find(object)?.memory)
    }

    /// Returns the conjugate number of the object. The number is zero if the object has no conjugate.
    #[inline]
    pub fn conjugate(&self, object: ObjectHandle) -> Option<u64> {
        self.columns.find_conjugate(object)
    }

    /// Returns the cached plugin part of the object. Returns `None` if the plugin part is not for the class `class`.
    #[inline]
    pub fn part(&self, object: ObjectHandle, class: ClassId) -> Option<*mut ()> {
        self.columns.part(object, class)
    }

    /// Sets the plugin part of the object to the plugin part that `begin` returns. `begin` must not change the store. Returns the result of
    /// `begin`. If the object does not exist, does not call `begin`.
    #[inline(always)]
    pub fn begin_plugin_part<K>(
        &self,
        object: ObjectHandle,
        begin: impl FnOnce() -> (K, PluginPart),
    ) -> Option<(K, PluginPart)> {
        if !self.is_alive(object) {
            return None;
        }
        let (key, plugin_part) = begin();
        self.columns.put_plugin_part(object, plugin_part);
        Some((key, plugin_part))
    }

    /// Replaces the plugin part of the object by the complete plugin part of the same conjugate. Has no effect if the object does not
    /// exist, or has a different conjugate.
    #[inline]
    pub fn finish_plugin_part(&self, object: ObjectHandle, plugin_part: PluginPart) {
        self.columns.cache_part(object, plugin_part);
    }

    /// Sets the plugin part of the object. Has no effect if the object does not exist.
    #[inline]
    pub fn set_plugin_part(&self, object: ObjectHandle, plugin_part: PluginPart) {
        if self.is_alive(object) {
            self.columns.put_plugin_part(object, plugin_part);
        }
    }

    /// Returns the outer of the object.
    #[inline]
    pub fn outer(&self, object: ObjectHandle) -> Option<ObjectHandle> {
        self.inspect(object, |tenant| tenant.outer)
    }

    /// Returns the outer of a default subobject. Returns `None` for all other objects.
    #[inline]
    pub fn owner(&self, object: ObjectHandle) -> Option<ObjectHandle> {
        self.inspect(object, |tenant| tenant.has(object_flags::SUBOBJECT).then_some(tenant.outer)).flatten()
    }

    /// Checks if the object needs a module. An object needs a module if a module declares the object's class or a base class, or if
    /// the object is dormant.
    #[inline]
    pub fn needs_module(&self, object: ObjectHandle) -> bool {
        self.inspect(object, |tenant| tenant.body.dormant.is_some() || tenant.body.class().needs_module()) == Some(true)
    }

    /// Returns the object's bits of [`object_flags`].
    #[inline]
    pub fn flags(&self, object: ObjectHandle) -> Option<u32> {
        self.inspect(object, |tenant| tenant.flags.into())
    }

    /// Checks if the object is a CDO or a subobject of a CDO.
    #[inline]
    pub fn is_template(&self, object: ObjectHandle) -> bool {
        self.inspect(object, Tenant::is_template) == Some(true)
    }

    /// Returns the live default subobjects of the object, in order of creation.
    pub fn children(&self, object: ObjectHandle) -> Vec<ObjectHandle> {
        let store = self.store.borrow();
        let children = store.slots.get(object).into_iter().flat_map(|tenant| tenant.subobjects.iter());
        children.map(|(_, child)| child).filter(|child| store.slots.get(*child).is_some()).collect()
    }

    /// Returns the live default subobjects of the object with their names, in order of creation.
    pub fn parts(&self, object: ObjectHandle) -> Vec<(Rc<str>, ObjectHandle)> {
        let store = self.store.borrow();
        let parts = store.slots.get(object).into_iter().flat_map(|tenant| tenant.subobjects.iter());
        let parts = parts.filter(|(_, child)| store.slots.get(*child).is_some());
        parts.map(|(name, child)| (self.names.text(name), child)).collect()
    }

    /// Returns the default subobject with that name.
    #[inline]
    pub fn subobject(&self, object: ObjectHandle, name: &str) -> Option<ObjectHandle> {
        let store = self.store.borrow();
        let is_named = |(known, _): &(Name, ObjectHandle)| self.names.has_text(*known, name);
        let named = store.slots.get(object)?.subobjects.iter().filter(is_named);
        named.map(|(_, child)| child).rfind(|child| store.slots.get(*child).is_some())
    }

    /// Returns the number of objects, including CDOs.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.store.borrow().slots.count()
    }

    /// Releases the object and makes its handle stale. The memory of the object remains valid until [`Objects::free_graveyard`]. If a
    /// shadow is active and the object was created before the shadow, a rollback restores the object. Returns `true` if the object existed.
    pub fn release(&self, object: ObjectHandle) -> bool {
        self.store.borrow_mut().release(object)
    }

    /// Releases several objects as [`Objects::release`] does, and frees their memory as [`Objects::free_graveyard`] does. Call at safe
    /// points only.
    pub(crate) fn release_all(&self, objects: &[ObjectHandle]) {
        let mut store = self.store.borrow_mut();
        let earlier = std::mem::replace(&mut store.graveyard, Vec::with_capacity(objects.len()));
        for object in objects {
            store.release(*object);
        }
        let dead = std::mem::replace(&mut store.graveyard, earlier);
        drop(store);
        drop(dead);
    }

    /// Destroys the properties of released objects and frees their memory. Returns the number of freed bodies. Call at safe points only,
    /// because plugins may use addresses in this memory until the next safe point.
    #[inline]
    pub fn free_graveyard(&self) -> usize {
        let dead = std::mem::take(&mut self.store.borrow_mut().graveyard);
        dead.len()
    }

    /// Adds an object to the root set. Garbage collections keep the root object and all objects that are reachable from the root object.
    /// Returns `true` if the object exists.
    #[inline]
    pub fn add_root(&self, object: ObjectHandle) -> bool {
        let is_there = self.is_alive(object);
        if is_there {
            self.store.borrow_mut().roots.put(object.index(), true);
            self.with_marker(|marker| marker.add_root(object));
        }
        is_there
    }

    /// Removes an object from the root set. Returns `true` if the object was a root.
    pub fn remove_root(&self, object: ObjectHandle) -> bool {
        let was = self.is_root(object);
        if was {
            self.store.borrow_mut().roots.put(object.index(), false);
        }
        was
    }

    /// Checks if an object is in the root set.
    #[inline]
    pub fn is_root(&self, object: ObjectHandle) -> bool {
        self.is_alive(object) && self.store.borrow().roots.get(object.index())
    }

    /// Returns a copy of the root set for [`Objects::roots_since`].
    pub fn root_set(&self) -> Bits {
        self.store.borrow().roots.clone()
    }

    /// Returns two lists of live objects. The first list has the objects that were added to the root set since `before`. The second list
    /// has the objects that were removed from the root set. The slots in `before` must not have been reused since then. During a shadow,
    /// these slots are not reused.
    pub fn roots_since(&self, before: &Bits) -> (Vec<ObjectHandle>, Vec<ObjectHandle>) {
        let store = self.store.borrow();
        let living = |index| Some(store.slots.handle(index)).filter(|object| !object.is_none());
        let added = store.roots.without(before).filter_map(living).collect();
        (added, before.without(&store.roots).filter_map(living).collect())
    }

    /// Checks that properties of the object may be written.
    ///
    /// # Errors
    /// Returns [`CallError::DuringRebuild`] if a reload is in progress and its rollback could not restore the overwritten values. Returns
    /// [`CallError::Borrowed`] while plugin code holds a borrowed slice of a value.
    pub fn may_write(&self, object: ObjectHandle) -> Result<(), CallError> {
        let object_text = self.display(object);
        self.slices.allow_change(&format_args!("writing to {object_text}"))?;
        if self.mode.get() == mode::NORMAL {
            return Ok(());
        }
        if !self.mode.may_write(object, || self.is_staged(object)) {
            return Err(CallError::DuringRebuild { action: format!("writing to {object_text}") });
        }
        self.will_write(object)
    }

    /// Prepares a write to values of the object. Queues the object for a new scan if a mark is in progress. If the object keeps its body
    /// during a shadow, copies its values before their first write. Each write to an existing object first calls this function, directly or
    /// through [`Objects::may_write`]. See `docs/before-the-commit.md`.
    ///
    /// # Errors
    /// Returns the error of the function that [`Objects::check_copies`] has set.
    fn will_write(&self, object: ObjectHandle) -> Result<(), CallError> {
        self.rescan(object);
        if self.has_kept_bodies.get() { self.copy_before_write(object) } else { Ok(()) }
    }

    /// Queues the object for a new scan if a mark is in progress. Called before a change to the object's references.
    pub(super) fn rescan(&self, object: ObjectHandle) {
        if self.is_alive(object) {
            self.with_marker(|marker| marker.rescan(object));
        }
    }

    /// Returns the value of a property as a Rust type.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object does not exist. Returns [`CallError::NotFound`] if the object's class has no property of
    /// that name. Returns [`CallError::Signature`] if the property has a different type. Returns [`CallError::Borrowed`] while plugin code
    /// may write to a borrowed slice.
    #[inline]
    pub fn get<T: FrameValue>(&self, object: ObjectHandle, name: impl PropertyKey) -> Result<T, CallError> {
        self.with_property(object, name, |view, property| view.get(property))
    }

    /// Returns a copy of the value of a property, for a conversion to a Rust type that runs code of the host.
    ///
    /// # Errors
    /// Returns the errors of [`Objects::get`].
    pub(crate) fn copy_as<T: FrameValue>(
        &self,
        object: ObjectHandle,
        name: impl PropertyKey,
    ) -> Result<OwnedValue, CallError> {
        self.with_property(object, name, |view, property| view.copy_as::<T>(property))
    }

    /// Returns the value of the property with that name.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object does not exist. Returns [`CallError::NotFound`] if the object's class has no property of
    /// that name. Returns [`CallError::Borrowed`] while plugin code may write to a borrowed slice.
    #[inline]
    pub fn read_value(&self, object: ObjectHandle, name: impl PropertyKey) -> Result<Value, CallError> {
        self.with_property(object, name, |view, property| view.read(property))
    }

    /// Passes the object's body to `change`. `change` may overwrite properties, and must not change the store. The caller must check that
    /// writes are allowed.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object does not exist. Returns [`CallError::Borrowed`] while plugin code may write to a borrowed
    /// slice.
    #[inline]
    pub fn with_body_to_write<T>(&self, object: ObjectHandle, change: impl FnOnce(&Body) -> T) -> Result<T, CallError> {
        self.will_write(object)?;
        self.with_body(object, change)
    }

    /// Passes the object's body to `read`. `read` must not write to the body or change the store.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object does not exist. Returns [`CallError::Borrowed`] while plugin code may write to a borrowed
    /// slice.
    #[inline]
    pub fn with_body<T>(&self, object: ObjectHandle, read: impl FnOnce(&Body) -> T) -> Result<T, CallError> {
        self.slices.allow_read(&format_args!("reading {}", self.display(object)))?;
        self.inspect(object, |tenant| read(&tenant.body)).ok_or(CallError::Stale { handle: object })
    }

    /// Passes the bodies of several objects to `read`. `read` must not write to the bodies or change the store.
    ///
    /// # Errors
    /// Returns the error of [`Objects::with_body`] for the first object that causes an error.
    #[inline]
    pub fn with_bodies<const N: usize, T>(
        &self,
        objects: [ObjectHandle; N],
        read: impl FnOnce([&Body; N]) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        self.slices.allow_read(&"reading objects")?;
        let store = self.store.borrow();
        let bodies = objects.map(|object| store.slots.get(object).map(|tenant| &tenant.body));
        match bodies.iter().position(Option::is_none) {
            Some(missing) => Err(CallError::Stale { handle: objects[missing] }),
            None => read(bodies.map(|body| body.unwrap_or_else(|| unreachable!("all bodies exist")))),
        }
    }

    /// Returns the id that identifies a delegate property during a call. If the delegate has no id, assigns the result of `fresh` as its
    /// id.
    ///
    /// # Errors
    /// Returns the errors of [`Objects::read_value`].
    #[inline]
    pub fn delegate_mark(
        &self,
        object: ObjectHandle,
        name: impl PropertyKey,
        fresh: impl FnOnce() -> Option<NonZeroU32>,
    ) -> Result<Option<NonZeroU32>, CallError> {
        self.with_property(object, name, |view, property| view.delegate_mark(property, fresh))
    }

    /// Passes a view of the object's body and the property with that name to `work`. `work` must not change the store.
    ///
    /// # Errors
    /// Returns the errors of [`Objects::read_value`] and of `work`.
    pub(super) fn with_property<T>(
        &self,
        object: ObjectHandle,
        name: impl PropertyKey,
        work: impl FnOnce(View<'_>, &Property) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        self.with_body(object, |body| match name.find(body.class()) {
            Some(property) => work(body.view(), property),
            None => Err(not_found(format!(
                "{} has no property {}: check the declaration of the class",
                body.class().path,
                name.name()
            ))),
        })?
    }

    fn inspect<T>(&self, object: ObjectHandle, read: impl FnOnce(&Tenant) -> T) -> Option<T> {
        self.store.borrow().slots.get(object).map(read)
    }

    fn change<T>(&self, object: ObjectHandle, change: impl FnOnce(&mut Tenant) -> T) -> Option<T> {
        self.store.borrow_mut().slots.get_mut(object).map(change)
    }
}

impl Store {
    /// Implements [`Objects::release`].
    fn release(&mut self, object: ObjectHandle) -> bool {
        let Self { slots, shadow, .. } = &mut *self;
        let Some(tenant) = slots.get_mut(object) else { return false };
        match shadow {
            Some(shadow) if tenant.construction <= shadow.first_construction => {
                tenant.life = TenantState::Gone;
                shadow.ended.push((object, slots.columns().plugin_part(object.index())));
                slots.swapped(object.index());
            }
            _ => self.free(object),
        }
        true
    }

    fn free(&mut self, object: ObjectHandle) {
        let Some(tenant) = self.slots.remove(object) else { return };
        self.roots.put(object.index(), false);
        self.naming.release(tenant.label, tenant.outer, object);
        if tenant.has(object_flags::SUBOBJECT)
            && let Some(owner) = self.slots.any_mut(tenant.outer)
        {
            owner.subobjects.remove(object);
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.is_staged.put(object.index(), false);
        }
        self.graveyard.push(tenant.body);
    }

    /// Creates an object with all properties zero and the label that `label` returns. The function is inlined, so that the label and the
    /// body are built directly in the slot. See [`Slots::insert`].
    #[inline(always)]
    fn create(
        &mut self,
        class: &Rc<Class>,
        outer: ObjectHandle,
        flags: u32,
        constructed: usize,
        label: impl FnOnce(&mut Naming, ObjectHandle) -> Label,
    ) -> ObjectHandle {
        let Self { slots, naming, constructions, .. } = self;
        let object = slots.next();
        *constructions += 1;
        let construction = *constructions;
        let label = label(naming, object);
        slots.insert(object, || Tenant {
            body: Body::new(class),
            outer,
            construction,
            subobjects: Subobjects::None,
            label,
            serial: object.serial(),
            constructed: constructed as u32,
            flags: flags as u8,
            life: TenantState::Alive,
        });
        object
    }
}

impl Tenant {
    /// Calls `visit` for each reference that the object has outside its properties.
    pub(super) fn each_relation(&self, mut visit: impl FnMut(ObjectHandle)) {
        visit(self.outer);
        self.subobjects.iter().for_each(|(_, child)| visit(child));
        self.body.dormant.iter().flat_map(|dormant| dormant.objects()).for_each(&mut visit);
        self.body.removed.iter().flat_map(|removed| removed.objects()).for_each(visit);
    }
}

mod aside;
mod lists;
pub mod place;
mod shadow;
#[cfg(test)]
mod tests;
mod under_construction;
