//! Slots of objects and their reuse. A handle contains a slot index and a serial number. The object in a slot is its tenant. Each tenant of
//! a slot has a different serial. A slot is not reused after its last serial. A stale handle therefore never refers to a different object.
//!
//! Frequently read fields are cached in the [`HotColumns`]. Call [`Slots::show`] after each change to a tenant's current body.

use std::rc::Rc;

use alcedo_abi::host::DirectoryEntry;
use alcedo_base::handles::{ClassId, Name, ObjectHandle};

use crate::bits::Bits;
use crate::body::Body;
use crate::class::Class;
use crate::hot_columns::{HotColumns, PluginPart};
use crate::naming::Label;
use crate::object_flags;

#[derive(Debug)]
pub(super) struct Tenant {
    /// Current body. If a reload replaced the body, the shadow keeps the old body.
    pub(super) body: Body,
    pub(super) outer: ObjectHandle,
    /// Position of the object in the order of creation, from 1.
    pub(super) construction: u64,
    pub(super) subobjects: Subobjects,
    pub(super) label: Label,
    /// Serial number of the handle.
    pub(super) serial: u32,
    /// Number of constructed classes of the chain, counted from the root.
    pub(super) constructed: u32,
    /// Bits of [`object_flags`].
    pub(super) flags: u8,
    pub(super) life: TenantState,
}

// Limits the size of a slot, because each object needs a slot. Fields that few objects need are stored behind a pointer, or in the shadow.
const _: () = assert!(size_of::<Option<Tenant>>() <= 88);

/// Default subobjects with their names, in order of creation. A single subobject needs no allocation.
#[derive(Debug)]
pub(super) enum Subobjects {
    None,
    One(Name, ObjectHandle),
    #[expect(clippy::box_collection, reason = "a list in place would make all slots larger")]
    Many(Box<Vec<(Name, ObjectHandle)>>),
}

impl Subobjects {
    pub(super) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (Name, ObjectHandle)> {
        let (one, many) = match self {
            Self::None => (None, &[][..]),
            Self::One(name, child) => (Some((*name, *child)), &[][..]),
            Self::Many(all) => (None, &all[..]),
        };
        one.into_iter().chain(many.iter().copied())
    }

    fn push(&mut self, name: Name, child: ObjectHandle) {
        *self = match std::mem::replace(self, Self::None) {
            Self::None => Self::One(name, child),
            Self::One(first, other) => Self::Many(Box::new(vec![(first, other), (name, child)])),
            Self::Many(mut all) => {
                all.push((name, child));
                Self::Many(all)
            }
        };
    }

    /// Renames a subobject. Returns the previous name. Returns `None` if the list lacks the subobject.
    pub(super) fn rename(&mut self, child: ObjectHandle, name: Name) -> Option<Name> {
        let entry = match self {
            Self::None => None,
            Self::One(known, one) => Some((known, one)).filter(|(_, one)| **one == child),
            Self::Many(all) => all.iter_mut().map(|(known, one)| (known, one)).find(|(_, one)| **one == child),
        };
        entry.map(|(known, _)| std::mem::replace(known, name))
    }

    pub(super) fn remove(&mut self, child: ObjectHandle) {
        match self {
            Self::One(_, known) if *known == child => *self = Self::None,
            Self::None | Self::One(..) => {}
            Self::Many(all) => all.retain(|(_, known)| *known != child),
        }
    }
}

/// State that is replaced together with the body or the class of an object: the plugin part, and the number of constructed classes.
/// Contains the fields of the plugin part without their padding, because a reload keeps this struct for each object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Built {
    word: u64,
    part: *mut (),
    part_class: ClassId,
    constructed: u32,
}

// Limits the size of the shadow, which contains this struct for each object.
const _: () = assert!(size_of::<Built>() <= 24);

impl Built {
    fn new(plugin_part: PluginPart, constructed: u32) -> Self {
        let (part, part_class) = plugin_part.cached();
        Self { word: plugin_part.word, part, part_class, constructed }
    }

    pub(super) fn plugin_part(self) -> PluginPart {
        PluginPart::of(self.word).with_part(self.part, self.part_class)
    }

    /// State without a conjugate. All classes of the chain are marked as constructed, because the constructor of an inserted base does not
    /// run for existing objects.
    pub(super) fn without_part(class: &Class) -> Self {
        Self::new(PluginPart::NONE, class.depth() as u32)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TenantState {
    Alive,
    /// The listeners for the destruction of the object run or have run. The object is intact.
    Announced,
    /// The destruction of the object has begun. The handle is still valid.
    Ending,
    /// The object was destroyed during the active shadow. A rollback restores the object.
    Gone,
}

#[derive(Debug)]
pub(super) struct Slots {
    columns: Rc<HotColumns>,
    slots: Vec<Option<Tenant>>,
    /// Handles that the next tenants of the empty slots receive.
    free: Vec<ObjectHandle>,
    last_serial: u32,
    /// Slots with valid handles.
    occupied: Bits,
    count: usize,
    /// Slots of objects with references outside their properties: an outer, subobjects, or values outside their memory.
    related: Bits,
    /// Slots of CDOs and their subobjects. If a CDO or its subobject was destroyed in a shadow, its slot keeps the bit.
    templates: Bits,
    /// Slots of dormant objects.
    dormant: Bits,
}

impl Tenant {
    /// Checks if the object has any of these flags.
    #[inline]
    pub(super) fn has(&self, flags: u32) -> bool {
        u32::from(self.flags) & flags != 0
    }

    /// Checks if the object is a CDO or a subobject of a CDO.
    #[inline]
    pub(super) fn is_template(&self) -> bool {
        self.has(object_flags::CDO | object_flags::IN_CDO)
    }
}

impl Slots {
    /// Creates a list without slots. The serials of each slot are 1 to `last_serial`.
    pub(super) fn new(columns: Rc<HotColumns>, last_serial: u32) -> Self {
        let (occupied, related, templates, dormant) = Default::default();
        let (slots, free) = Default::default();
        Self { columns, slots, free, last_serial, occupied, count: 0, related, templates, dormant }
    }

    pub(super) fn next(&self) -> ObjectHandle {
        match self.free.last() {
            Some(object) => *object,
            None => ObjectHandle::new(u32::try_from(self.slots.len()).expect("fewer than four billion objects"), 1),
        }
    }

    /// Inserts a tenant with the handle that [`Slots::next`] returns. Builds the tenant in its slot, because a move of this large value has
    /// a measurable cost.
    #[inline(always)]
    pub(super) fn insert(&mut self, handle: ObjectHandle, tenant: impl FnOnce() -> Tenant) {
        let index = handle.index();
        if self.free.pop().is_none() {
            self.add();
        }
        let entry = &mut self.slots[index as usize];
        assert!(entry.is_none(), "slot {index} has a tenant");
        // Builds the value in its slot. `Option::insert` would move the value, and an assignment would call the code that drops a tenant.
        let tenant = entry.get_or_insert_with(tenant);
        let (is_related, is_template) = (!tenant.outer.is_none(), tenant.is_template());
        let (class, memory) = (tenant.body.class().id, tenant.body.memory());
        self.count += 1;
        self.occupied.put(index, true);
        // The bits are clear, because the slot was empty.
        if is_related {
            self.related.put(index, true);
        }
        if is_template {
            self.templates.put(index, true);
        }
        self.columns.put(index, DirectoryEntry { serial: handle.serial(), class, memory });
    }

    #[cold]
    fn add(&mut self) {
        self.slots.push(None);
        self.columns.add();
    }

    /// Registers `child` as a default subobject of `owner`, if `owner` exists.
    pub(super) fn adopt(&mut self, owner: ObjectHandle, name: Name, child: ObjectHandle) {
        let Some(tenant) = self.get_mut(owner) else { return };
        tenant.subobjects.push(name, child);
        self.related.put(owner.index(), true);
    }

    /// Empties the slot. The slot is reused unless its serials are exhausted.
    pub(super) fn remove(&mut self, handle: ObjectHandle) -> Option<Tenant> {
        let slot = self.slots.get_mut(handle.index() as usize)?;
        let tenant = slot.take_if(|tenant| tenant.serial == handle.serial())?;
        if tenant.serial < self.last_serial {
            self.free.push(ObjectHandle::new(handle.index(), tenant.serial + 1));
        }
        self.templates.put(handle.index(), false);
        self.show(handle.index());
        self.columns.count_end();
        Some(tenant)
    }

    /// Updates the columns and bit sets of a slot from its tenant.
    pub(super) fn show(&mut self, index: u32) {
        let visible = self.slots[index as usize].as_ref().filter(|tenant| tenant.life != TenantState::Gone);
        let was = self.occupied.get(index);
        self.count = self.count + usize::from(visible.is_some()) - usize::from(was);
        self.occupied.put(index, visible.is_some());
        let Some(tenant) = visible else {
            self.related.put(index, false);
            self.dormant.put(index, false);
            return self.columns.clear(index);
        };
        let body = &tenant.body;
        let has_relations = !tenant.outer.is_none() || !tenant.subobjects.is_empty() || body.has_more();
        self.related.put(index, has_relations);
        self.dormant.put(index, body.dormant.is_some());
        let entry = DirectoryEntry { serial: tenant.serial, class: body.class().id, memory: body.memory() };
        self.columns.put(index, entry);
    }

    /// Updates the columns and bit sets of a slot after the current body of its tenant was replaced.
    pub(super) fn swapped(&mut self, index: u32) {
        self.show(index);
        self.columns.count_end();
    }

    /// Sets the state `built` of an object, and updates its slot. Called after the body or the class of the object was replaced. Returns
    /// the previous state, or `None` if the object does not exist.
    pub(super) fn rebuilt(&mut self, object: ObjectHandle, built: Built) -> Option<Built> {
        let constructed = std::mem::replace(&mut self.get_mut(object)?.constructed, built.constructed);
        let plugin_part = self.columns.plugin_part(object.index());
        self.swapped(object.index());
        self.columns.put_plugin_part(object, built.plugin_part());
        Some(Built::new(plugin_part, constructed))
    }

    /// Variant of [`Slots::rebuilt`] for a body that keeps its memory, and that `bind` binds to another class. The bit sets of the slot do
    /// not change, and addresses that plugins have cached stay valid.
    pub(super) fn rebound(
        &mut self,
        object: ObjectHandle,
        built: Built,
        bind: impl FnOnce(&mut Tenant),
    ) -> Option<Built> {
        let index = object.index();
        let tenant = self.get_mut(object)?;
        bind(tenant);
        let constructed = std::mem::replace(&mut tenant.constructed, built.constructed);
        let (class, memory) = (tenant.body.class().id, tenant.body.memory());
        debug_assert!(self.occupied.get(index) && !self.dormant.get(index), "a kept body is visible and awake");
        let plugin_part = self.columns.plugin_part(index);
        let entry = DirectoryEntry { serial: object.serial(), class, memory };
        self.columns.put_whole(index, entry, built.plugin_part());
        Some(Built::new(plugin_part, constructed))
    }

    /// Returns the tenant, even if the tenant was destroyed in a shadow.
    #[inline]
    pub(super) fn any(&self, handle: ObjectHandle) -> Option<&Tenant> {
        self.slots.get(handle.index() as usize)?.as_ref().filter(|tenant| tenant.serial == handle.serial())
    }

    #[inline]
    pub(super) fn any_mut(&mut self, handle: ObjectHandle) -> Option<&mut Tenant> {
        self.slots.get_mut(handle.index() as usize)?.as_mut().filter(|tenant| tenant.serial == handle.serial())
    }

    /// Returns the tenant if its handle is valid.
    #[inline]
    pub(super) fn get(&self, handle: ObjectHandle) -> Option<&Tenant> {
        self.any(handle).filter(|tenant| tenant.life != TenantState::Gone)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, handle: ObjectHandle) -> Option<&mut Tenant> {
        self.any_mut(handle).filter(|tenant| tenant.life != TenantState::Gone)
    }

    /// Returns the handle of the object in the slot. Returns `ObjectHandle::NONE` for an empty slot.
    #[inline]
    pub(super) fn handle(&self, index: u32) -> ObjectHandle {
        match self.columns.entry(index).serial {
            0 => ObjectHandle::NONE,
            serial => ObjectHandle::new(index, serial),
        }
    }

    /// Iterates over valid handles and their tenants, in slot order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ObjectHandle, &Tenant)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            let tenant = slot.as_ref().filter(|tenant| tenant.life != TenantState::Gone)?;
            Some((ObjectHandle::new(index as u32, tenant.serial), tenant))
        })
    }

    #[inline]
    pub(super) fn columns(&self) -> &HotColumns {
        &self.columns
    }

    /// Returns the number of valid handles.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of valid handles except those of CDOs and their subobjects.
    pub(super) fn count_living(&self) -> usize {
        self.occupied.count_without(&self.templates)
    }

    /// Iterates over the valid handles except those of CDOs and their subobjects, in slot order.
    pub(super) fn living(&self) -> impl Iterator<Item = ObjectHandle> {
        self.occupied.without(&self.templates).map(move |index| self.handle(index))
    }

    pub(super) fn len(&self) -> u32 {
        self.columns.len()
    }

    pub(super) fn occupied(&self) -> &Bits {
        &self.occupied
    }

    /// Checks if the tenant has references outside its properties.
    pub(super) fn has_relations(&self, index: u32) -> bool {
        self.related.get(index)
    }

    /// Checks if the object in the slot is dormant.
    #[inline]
    pub(super) fn is_dormant(&self, index: u32) -> bool {
        self.dormant.get(index)
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // Code of an image that stays mapped may read the head later. A fast path of the host may outlive the slots and keep the columns.
        self.columns.close();
    }
}

#[cfg(test)]
mod tests {
    use super::{Name, ObjectHandle, Subobjects};

    #[test]
    fn subobjects_are_listed_in_order_of_creation_until_they_are_removed() {
        let part = |at: u32| (Name(at), ObjectHandle::new(at, 1));
        let mut list = Subobjects::None;
        for count in 1..=3 {
            let (name, child) = part(count);
            list.push(name, child);
            assert_eq!(list.iter().collect::<Vec<_>>(), (1..=count).map(part).collect::<Vec<_>>());
            assert_eq!(list.rename(child, Name(9)), Some(name));
            assert_eq!(list.rename(child, name), Some(Name(9)));
            assert_eq!(list.rename(part(7).1, name), None);
        }
        list.remove(part(2).1);
        list.remove(part(7).1);
        assert_eq!(list.iter().rev().collect::<Vec<_>>(), [part(3), part(1)]);
        [3, 1].into_iter().for_each(|at| list.remove(part(at).1));
        assert!(list.is_empty());
        let mut single = Subobjects::One(part(1).0, part(1).1);
        single.remove(part(2).1);
        assert!(!single.is_empty());
        single.remove(part(1).1);
        assert!(single.is_empty());
    }
}
