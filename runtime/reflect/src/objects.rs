//! The object store: which objects there are, and what each is made of. While a shadow is up, a reload puts new bodies
//! beside the old ones; then either all new ones are swapped in or all old ones are as they were.

use std::num::NonZeroU32;
use std::rc::Rc;

use alcedo_abi::host::{Directory, mode};
use alcedo_base::border::CallError;
use alcedo_base::cells::RefCell;
use alcedo_base::handles::{ClassId, Name, ObjectHandle, last_serial};

use crate::bits::Bits;
use crate::body::Body;
use crate::class::Class;
use crate::dormant::{Dormant, FieldAside};
use crate::hot_columns::{HotColumns, PluginPart};
use crate::marker::Marker;
use crate::member::PropertyKey;
use crate::mode::ModeWord;
use crate::names::Names;
use crate::naming::Naming;
use crate::property::Property;
use crate::slices::LentSlices;
use crate::slots::{Slots, Tenant, TenantState};
use crate::storage::View;
use crate::typed::FrameValue;
use crate::value::Value;

pub use place::RenameError;

/// Flag bits of objects.
pub mod object_flags {
    /// The class default object of its class.
    pub const CDO: u32 = 1;
    /// A subobject, directly or not, of a CDO.
    pub(crate) const IN_CDO: u32 = 1 << 1;
    /// Made together with its outer.
    pub const SUBOBJECT: u32 = 1 << 2;
}

/// The objects of a world. Game thread only; no method calls foreign code.
#[derive(Debug)]
pub struct Objects {
    pub(super) store: RefCell<Store>,
    /// The mark that is under way, if one is. Apart from the store, which a mark only reads.
    pub(super) marker: RefCell<Option<Marker>>,
    /// What is in the store and read most; see [`Slots::show`].
    pub(super) columns: Rc<HotColumns>,
    pub(super) mode: ModeWord,
    slices: LentSlices,
    names: Rc<Names>,
}

#[derive(Debug)]
pub(super) struct Store {
    pub(super) slots: Slots,
    constructions: u64,
    /// The slots of the root set. One that ended in a shadow may come back, and is in it then.
    pub(super) roots: Bits,
    naming: Naming,
    /// Bodies of objects that ended since the last safe point: a plugin's view may still point into them.
    graveyard: Vec<Body>,
    shadow: Option<Shadow>,
}

#[derive(Debug)]
struct Shadow {
    /// Objects with a later construction were born in the shadow.
    first_construction: u64,
    staged: Vec<ObjectHandle>,
    gone: Vec<ObjectHandle>,
    /// Empty, with room for every staged object, so that the commit need not allocate.
    old: Vec<Body>,
}

impl Objects {
    /// An empty store, whose writes test `mode`, and which is given the counts of lent slices.
    pub fn new(names: Rc<Names>, mode: ModeWord, slices: LentSlices) -> Self {
        Self { slices, ..Self::with_last_serial(names, mode, last_serial()) }
    }

    /// An empty store whose slots are used up after so many tenants, so that a test sees it happen.
    pub fn with_last_serial(names: Rc<Names>, mode: ModeWord, last_serial: u32) -> Self {
        let columns = Rc::new(HotColumns::new());
        let store = Store {
            slots: Slots::new(Rc::clone(&columns), last_serial),
            constructions: 0,
            roots: Bits::default(),
            naming: Naming::default(),
            graveyard: Vec::new(),
            shadow: None,
        };
        let slices = LentSlices::new();
        Self { store: RefCell::new(store), marker: RefCell::default(), columns, mode, slices, names }
    }

    /// A new object, all properties at zero. Without a name it gets one that no other object has: `MagicCube_17`.
    #[inline]
    pub fn allocate(&self, class: &Rc<Class>, name: Option<Name>, outer: ObjectHandle, flags: u32) -> ObjectHandle {
        self.allocate_as(class, name, outer, flags, 0)
    }

    /// The same for an object that the first so many classes of its chain have constructed, as far as there is anything
    /// to be constructed.
    #[inline]
    pub(super) fn allocate_as(
        &self,
        class: &Rc<Class>,
        name: Option<Name>,
        outer: ObjectHandle,
        flags: u32,
        constructed: usize,
    ) -> ObjectHandle {
        let mut store = self.store.borrow_mut();
        let Store { slots, naming, constructions, .. } = &mut *store;
        let object = slots.next();
        *constructions += 1;
        let construction = *constructions;
        let tenant = |label| {
            let body = Body { constructed, ..Body::new(class) };
            Tenant {
                body,
                staged: None,
                life: TenantState::Alive,
                outer,
                label,
                flags,
                construction,
                subobjects: Vec::new(),
            }
        };
        // Apart, so that no label has to be put together before it is where it belongs.
        match name {
            Some(name) => {
                let label = naming.give(&self.names, name, outer, object);
                slots.insert(object, || tenant(label));
            }
            None => {
                let label = naming.make(class, object);
                slots.insert(object, || tenant(label));
            }
        }
        if let Some(marker) = &mut *self.marker.borrow_mut() {
            marker.born(object);
        }
        object
    }

    /// Where modules read by themselves which objects there are. The address stays as long as the store.
    #[inline]
    pub fn directory(&self) -> *const Directory {
        self.columns.head()
    }

    /// What is looked at most.
    #[inline]
    pub fn columns(&self) -> &Rc<HotColumns> {
        &self.columns
    }

    /// Whether the handle names an object that is there.
    #[inline]
    pub fn is_alive(&self, object: ObjectHandle) -> bool {
        self.columns.find(object).is_some()
    }

    /// Its class.
    #[inline]
    pub fn class(&self, object: ObjectHandle) -> Option<Rc<Class>> {
        self.ask(object, |tenant| tenant.seen().class.clone())
    }

    /// The number of its class.
    #[inline]
    pub fn class_id(&self, object: ObjectHandle) -> Option<ClassId> {
        Some(self.columns.find(object)?.class)
    }

    /// Its first byte. Valid until the object ended and the safe point after that has come, or its body was replaced.
    #[inline]
    pub fn memory(&self, object: ObjectHandle) -> Option<*mut u8> {
        Some(self.columns.find(object)?.memory)
    }

    /// Its conjugate's number; zero is none.
    #[inline]
    pub fn conjugate(&self, object: ObjectHandle) -> Option<u64> {
        self.ask(object, |tenant| tenant.seen().plugin_part.word)
    }

    /// Of what the floors above keep beside it the part for its most derived class, if that is `class`.
    #[inline]
    pub fn part(&self, object: ObjectHandle, class: ClassId) -> Option<*mut ()> {
        self.columns.part(object, class)
    }

    /// Gives it something to keep beside it. Whether the object is there.
    #[inline]
    pub fn set_plugin_part(&self, object: ObjectHandle, plugin_part: PluginPart) -> bool {
        let set = self.change(object, |tenant| tenant.seen_mut().plugin_part = plugin_part).is_some();
        if set {
            self.columns.put_plugin_part(object, plugin_part);
        }
        set
    }

    /// The object it lies in, or none.
    #[inline]
    pub fn outer(&self, object: ObjectHandle) -> Option<ObjectHandle> {
        self.ask(object, |tenant| tenant.outer)
    }

    /// Whether the object is of a class of a module, be it there or not.
    #[inline]
    pub fn needs_module(&self, object: ObjectHandle) -> bool {
        self.ask(object, |tenant| tenant.seen().dormant.is_some() || tenant.seen().class.needs_module()) == Some(true)
    }

    /// Path of the class that a dormant object waits for; none for one that is awake.
    #[inline]
    pub fn waits_for(&self, object: ObjectHandle) -> Option<Rc<str>> {
        self.ask(object, |tenant| tenant.seen().dormant.as_ref().map(|dormant| Rc::clone(&dormant.class)))?
    }

    /// How many dormant objects wait for the class of that path.
    pub fn waiting_for(&self, class: &str) -> u64 {
        let store = self.store.borrow();
        let waits = |tenant: &Tenant| tenant.seen().dormant.as_ref().is_some_and(|dormant| *dormant.class == *class);
        store.slots.iter().filter(|(_, tenant)| waits(tenant)).count() as u64
    }

    /// Bits of [`object_flags`].
    #[inline]
    pub fn flags(&self, object: ObjectHandle) -> Option<u32> {
        self.ask(object, |tenant| tenant.flags)
    }

    /// Whether it is a class default object or lies in one.
    #[inline]
    pub fn is_template(&self, object: ObjectHandle) -> bool {
        self.flags(object).unwrap_or_default() & (object_flags::CDO | object_flags::IN_CDO) != 0
    }

    /// Its default subobjects that are there, in order of creation.
    pub fn children(&self, object: ObjectHandle) -> Vec<ObjectHandle> {
        let store = self.store.borrow();
        let children = store.slots.get(object).into_iter().flat_map(|tenant| &tenant.subobjects);
        children.map(|(_, child)| *child).filter(|child| store.slots.get(*child).is_some()).collect()
    }

    /// Its default subobjects that are there, by the names it has for them, in order of creation.
    pub fn parts(&self, object: ObjectHandle) -> Vec<(Rc<str>, ObjectHandle)> {
        let store = self.store.borrow();
        let parts = store.slots.get(object).into_iter().flat_map(|tenant| &tenant.subobjects);
        parts.filter(|(_, child)| store.slots.get(*child).is_some()).cloned().collect()
    }

    /// The object keeps this of its class, which is not there.
    pub fn lay_to_sleep(&self, object: ObjectHandle, dormant: Dormant) -> Result<(), CallError> {
        let mut store = self.store.borrow_mut();
        let tenant = store.slots.get_mut(object).ok_or(CallError::Stale { handle: object })?;
        tenant.seen_mut().dormant = Some(Box::new(dormant));
        store.slots.show(object.index());
        Ok(())
    }

    /// The object keeps this value of a property, which has another one now.
    ///
    /// # Errors
    /// [`CallError::Stale`] when the object is gone.
    pub fn put_aside(&self, object: ObjectHandle, property: &Rc<str>, value: Value) -> Result<(), CallError> {
        let mut store = self.store.borrow_mut();
        let tenant = store.slots.get_mut(object).ok_or(CallError::Stale { handle: object })?;
        tenant.seen_mut().removed.get_or_insert_default().put(property, value);
        store.slots.show(object.index());
        drop(store);
        self.look_again(object);
        Ok(())
    }

    /// Whether it keeps a value of that property.
    pub fn has_aside(&self, object: ObjectHandle, property: &str) -> bool {
        self.ask(object, |tenant| tenant.seen().removed.as_ref().is_some_and(|removed| removed.has(property)))
            .unwrap_or(false)
    }

    /// Takes what it keeps of a property.
    pub fn take_aside(&self, object: ObjectHandle, property: &str) -> Option<Value> {
        let mut store = self.store.borrow_mut();
        let removed = &mut store.slots.get_mut(object)?.seen_mut().removed;
        let value = removed.as_mut()?.take(property);
        *removed = removed.take().and_then(|removed| removed.boxed());
        store.slots.show(object.index());
        value
    }

    /// Replaces the kept fields that are put aside, and returns those before. Does nothing if the object is gone.
    pub fn replace_fields_aside(&self, object: ObjectHandle, fields: Vec<FieldAside>) -> Vec<FieldAside> {
        let mut store = self.store.borrow_mut();
        let Some(tenant) = store.slots.get_mut(object) else { return Vec::new() };
        let removed = &mut tenant.seen_mut().removed;
        if fields.is_empty() && removed.is_none() {
            return Vec::new();
        }
        let mut aside = removed.take().map_or_else(Default::default, |removed| *removed);
        let before = std::mem::replace(&mut aside.fields, fields);
        *removed = aside.boxed();
        before
    }

    /// Its default subobject of that name.
    #[inline]
    pub fn subobject(&self, object: ObjectHandle, name: &str) -> Option<ObjectHandle> {
        let store = self.store.borrow();
        let named = store.slots.get(object)?.subobjects.iter().filter(|(known, _)| **known == *name);
        named.map(|(_, child)| *child).rfind(|child| store.slots.get(*child).is_some())
    }

    /// How many objects there are, CDOs too.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.store.borrow().slots.count()
    }

    /// The object is gone: its handle is stale from now on. Its memory stays until [`Objects::free_graveyard`]. While a
    /// shadow is up, an object from before comes back if the shadow is dropped. Whether the object was there.
    pub fn release(&self, object: ObjectHandle) -> bool {
        let mut store = self.store.borrow_mut();
        let Store { slots, graveyard, shadow, .. } = &mut *store;
        let Some(tenant) = slots.get_mut(object) else { return false };
        match shadow {
            Some(shadow) if tenant.construction <= shadow.first_construction => {
                tenant.life = TenantState::Gone;
                graveyard.extend(tenant.staged.take().map(|staged| *staged));
                shadow.gone.push(object);
                slots.swapped(object.index());
            }
            _ => store.free(&self.names, object),
        }
        true
    }

    /// Destroys the properties of ended objects and frees their memory. At safe points only: a plugin's view may point
    /// into it until then. How many bodies there were.
    #[inline]
    pub fn free_graveyard(&self) -> usize {
        let dead = std::mem::take(&mut self.store.borrow_mut().graveyard);
        dead.len()
    }

    /// Keeps an object, and what it refers to, from collection. Whether the object is there.
    pub fn add_root(&self, object: ObjectHandle) -> bool {
        let is_there = self.is_alive(object);
        if is_there {
            self.store.borrow_mut().roots.put(object.index(), true);
        }
        is_there
    }

    /// Takes an object from the root set. Whether it was in it.
    pub fn remove_root(&self, object: ObjectHandle) -> bool {
        let was = self.is_root(object);
        if was {
            self.store.borrow_mut().roots.put(object.index(), false);
        }
        was
    }

    /// Whether an object is in the root set.
    #[inline]
    pub fn is_root(&self, object: ObjectHandle) -> bool {
        self.is_alive(object) && self.store.borrow().roots.get(object.index())
    }

    /// The root set as it is now, to compare with later.
    pub fn root_set(&self) -> Bits {
        self.store.borrow().roots.clone()
    }

    /// The living that came into the root set since `before`, and those that were taken from it. Slots must not have got
    /// other objects meanwhile, as none does in a shadow.
    pub fn roots_since(&self, before: &Bits) -> (Vec<ObjectHandle>, Vec<ObjectHandle>) {
        let store = self.store.borrow();
        let living = |index| Some(store.slots.handle(index)).filter(|object| !object.is_none());
        let added = store.roots.without(before).filter_map(living).collect();
        (added, before.without(&store.roots).filter_map(living).collect())
    }

    /// The root set, in no order.
    #[cfg(test)]
    pub(crate) fn roots(&self) -> Vec<ObjectHandle> {
        let store = self.store.borrow();
        store.roots.iter().map(|index| store.slots.handle(index)).filter(|root| !root.is_none()).collect()
    }

    /// What an object keeps alive: what its properties refer to, its outer, its subobjects. Natives may add to that.
    #[cfg(test)]
    pub(crate) fn references(&self, object: ObjectHandle) -> Vec<ObjectHandle> {
        let collect = |tenant: &Tenant| {
            let mut found = tenant.seen().view().objects();
            tenant.each_relation(|object| found.push(object));
            found
        };
        self.ask(object, collect).unwrap_or_default()
    }

    /// Whether a property of the object may be written now.
    ///
    /// # Errors
    /// [`CallError::DuringRebuild`] while a reload is under way that could not put back what is there, [`CallError::Lent`]
    /// while plugin code holds a slice of some value.
    pub fn may_write(&self, object: ObjectHandle) -> Result<(), CallError> {
        let shown = self.shown(object);
        self.slices.allow_change(&format_args!("writing to {shown}"))?;
        if self.mode.get() == mode::NORMAL {
            return Ok(());
        }
        if !self.mode.may_write(object, || self.is_staged(object)) {
            return Err(CallError::DuringRebuild { action: format!("writing to {shown}") });
        }
        self.look_again(object);
        Ok(())
    }

    /// A mark that is under way looks at the object again before it ends: what the object refers to may change now.
    pub(super) fn look_again(&self, object: ObjectHandle) {
        if self.is_alive(object) {
            self.with_marker(|marker| marker.look_again(object));
        }
    }

    /// The value of the property of that name, by its Rust type.
    ///
    /// # Errors
    /// [`CallError::Stale`] when the object is gone, [`CallError::NotFound`] when its class has no such property,
    /// [`CallError::Signature`] when it holds other values.
    #[inline]
    pub fn get<T: FrameValue>(&self, object: ObjectHandle, name: impl PropertyKey) -> Result<T, CallError> {
        self.with_property(object, name, |view, property| view.get(property))
    }

    /// Overwrites the value of a property, by its Rust type.
    ///
    /// # Errors
    /// As for [`Objects::get`]; [`CallError::DuringRebuild`] when conjugates are rebuilt and it is not the object's turn.
    #[cfg(test)]
    pub fn set<T: FrameValue>(&self, object: ObjectHandle, name: &str, value: T) -> Result<(), CallError> {
        self.may_write(object)?;
        self.with_property(object, name, |view, property| view.set(property, value))
    }

    /// The value of the property of that name.
    ///
    /// # Errors
    /// [`CallError::Stale`] when the object is gone, [`CallError::NotFound`] when its class has no such property.
    #[inline]
    pub fn read_value(&self, object: ObjectHandle, name: impl PropertyKey) -> Result<Value, CallError> {
        self.with_property(object, name, |view, property| view.read(property))
    }

    /// Overwrites the value of the property of that name.
    ///
    /// # Errors
    /// Returns the errors of [`Objects::read_value`], and [`CallError::DuringRebuild`] if it is not the object's turn in a rebuild.
    #[inline]
    pub fn write_value(&self, object: ObjectHandle, name: &str, value: &Value) -> Result<(), CallError> {
        self.may_write(object)?;
        self.with_property(object, name, |view, property| view.write(property, value))
    }

    /// Shows an object's body to `change`, which may overwrite properties and must not change the store. Nobody asks whether
    /// they may be written now.
    ///
    /// # Errors
    /// [`CallError::Stale`] when the object is gone.
    #[inline]
    pub fn with_body_to_write<T>(&self, object: ObjectHandle, change: impl FnOnce(&Body) -> T) -> Result<T, CallError> {
        self.look_again(object);
        self.with_body(object, change)
    }

    /// Shows an object's body to `look`, which writes nothing and must not change the store.
    ///
    /// # Errors
    /// [`CallError::Stale`] when the object is gone, [`CallError::Lent`] while plugin code may write to a slice of some value.
    #[inline]
    pub fn with_body<T>(&self, object: ObjectHandle, look: impl FnOnce(&Body) -> T) -> Result<T, CallError> {
        self.slices.allow_read(&format_args!("reading {}", self.shown(object)))?;
        self.ask(object, |tenant| look(tenant.seen())).ok_or(CallError::Stale { handle: object })
    }

    /// By what a delegate property is known while it is called. One that has no mark gets the fresh one.
    ///
    /// # Errors
    /// As for [`Objects::read_value`].
    #[inline]
    pub fn delegate_mark(
        &self,
        object: ObjectHandle,
        name: &str,
        fresh: impl FnOnce() -> Option<NonZeroU32>,
    ) -> Result<Option<NonZeroU32>, CallError> {
        self.with_property(object, name, |view, property| view.delegate_mark(property, fresh))
    }

    /// Shows `work` the body's memory and the property of that name. It must not change the store.
    ///
    /// # Errors
    /// As for [`Objects::read_value`], and what `work` says.
    pub(super) fn with_property<T>(
        &self,
        object: ObjectHandle,
        name: impl PropertyKey,
        work: impl FnOnce(View<'_>, &Property) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        self.with_body(object, |body| match name.find(&body.class) {
            Some(property) => work(body.view(), property),
            None => Err(CallError::NotFound {
                message: format!(
                    "{} has no property {}: look at what the class declares",
                    body.class.path,
                    name.name()
                ),
            }),
        })?
    }

    fn ask<T>(&self, object: ObjectHandle, question: impl FnOnce(&Tenant) -> T) -> Option<T> {
        self.store.borrow().slots.get(object).map(question)
    }

    fn change<T>(&self, object: ObjectHandle, change: impl FnOnce(&mut Tenant) -> T) -> Option<T> {
        self.store.borrow_mut().slots.get_mut(object).map(change)
    }
}

/// What a construction does to an object; the order is `construction.rs`'s.
impl Objects {
    /// Overwrites a property without asking whether it may be written now: the object is being born.
    #[inline]
    pub fn write_unasked(&self, object: ObjectHandle, name: &str, value: &Value) -> Result<(), CallError> {
        self.look_again(object);
        self.with_property(object, name, |view, property| view.write(property, value))
    }

    /// Overwrites all properties with the values of `from`, where these are plain bytes and both objects have the same.
    /// Whether they are and both are there; nothing was written otherwise.
    #[inline]
    pub(super) fn copy_plain(&self, object: ObjectHandle, from: ObjectHandle) -> bool {
        let store = self.store.borrow();
        let (Some(to), Some(from)) = (store.slots.get(object), store.slots.get(from)) else { return false };
        let view = to.seen().view();
        to.subobjects.is_empty() && !view.names_objects() && view.copy_bytes(from.seen().view())
    }

    /// Overwrites properties that both have with the values of `from`; references that stand in `pairs` become those
    /// beside them. Properties that refer to a subobject of its own keep doing so.
    pub(super) fn copy_values(
        &self,
        object: ObjectHandle,
        from: ObjectHandle,
        properties: &[Rc<Property>],
        pairs: &[(ObjectHandle, ObjectHandle)],
    ) -> Result<(), CallError> {
        self.look_again(object);
        let store = self.store.borrow();
        let to = store.slots.get(object).ok_or(CallError::Stale { handle: object })?;
        let from = store.slots.get(from).ok_or(CallError::Stale { handle: from })?;
        let (view, template) = (to.seen().view(), from.seen().view());
        if to.subobjects.is_empty() && to.seen().class.properties.len() == properties.len() && view.copy_bytes(template)
        {
            if view.names_objects() {
                for property in properties.iter().filter(|it| it.ty.names_objects()) {
                    view.replace_objects(property, pairs)?;
                }
            }
            return Ok(());
        }
        let is_own = |property: &Property| to.subobjects.iter().any(|(name, _)| *name == property.text);
        for property in properties.iter().filter(|property| !is_own(property)) {
            view.copy_from(property, template, property)?;
            if property.ty.names_objects() {
                view.replace_objects(property, pairs)?;
            }
        }
        Ok(())
    }

    /// `child` is a subobject of `owner` from now on.
    pub fn adopt(&self, owner: ObjectHandle, name: &Rc<str>, child: ObjectHandle) {
        let mut store = self.store.borrow_mut();
        let Some(tenant) = store.slots.get_mut(owner) else { return };
        tenant.subobjects.push((name.clone(), child));
        store.slots.show(owner.index());
        self.look_again(owner);
    }

    /// How many classes of its chain, from the root, have constructed it.
    #[inline]
    pub fn constructed(&self, object: ObjectHandle) -> usize {
        self.ask(object, |tenant| tenant.seen().constructed).unwrap_or(0)
    }

    /// Its first so many classes have constructed it from now on, if they had not. Whether they had, and whether the
    /// object is, or lies in, a CDO.
    pub(super) fn construct(&self, object: ObjectHandle, count: usize) -> Option<(bool, bool)> {
        self.change(object, |tenant| {
            let constructed = &mut tenant.seen_mut().constructed;
            let was_run = *constructed >= count;
            *constructed = count.max(*constructed);
            (was_run, tenant.flags & (object_flags::CDO | object_flags::IN_CDO) != 0)
        })
    }

    /// So many classes of its chain, from the root, have constructed it.
    #[inline]
    pub fn set_constructed(&self, object: ObjectHandle, count: usize) {
        self.change(object, |tenant| tenant.seen_mut().constructed = count);
    }

    /// The object's end begins. Whether it had not begun before.
    pub(super) fn begin_end(&self, object: ObjectHandle) -> bool {
        self.change(object, |tenant| std::mem::replace(&mut tenant.life, TenantState::Ending) == TenantState::Alive)
            == Some(true)
    }
}

impl Store {
    fn free(&mut self, names: &Names, object: ObjectHandle) {
        let Some(tenant) = self.slots.remove(object) else { return };
        self.roots.put(object.index(), false);
        self.naming.give_back(names, tenant.label, tenant.outer, object);
        if tenant.flags & object_flags::SUBOBJECT != 0
            && let Some(owner) = self.slots.any_mut(tenant.outer)
        {
            owner.subobjects.retain(|(_, child)| *child != object);
        }
        self.graveyard.push(tenant.body);
        self.graveyard.extend(tenant.staged.map(|staged| *staged));
    }
}

impl Tenant {
    /// Shows `visit` what the object refers to by more than its properties.
    pub(super) fn each_relation(&self, mut visit: impl FnMut(ObjectHandle)) {
        visit(self.outer);
        self.subobjects.iter().for_each(|(_, child)| visit(*child));
        self.seen().dormant.iter().flat_map(|dormant| dormant.objects()).for_each(&mut visit);
        self.seen().removed.iter().flat_map(|removed| removed.objects()).for_each(visit);
    }
}

mod lists;
pub mod place;
mod shadow;
#[cfg(test)]
mod tests;
