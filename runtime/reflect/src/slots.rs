//! Slots of objects and their reuse. A handle contains a slot index and a serial number. Each object in a slot (tenant) has a unique
//! serial. A slot with exhausted serials is not reused. A stale handle therefore never refers to another object.
//!
//! Frequently read fields are cached in the [`HotColumns`]. Call [`Slots::show`] after each change of a tenant's current body.

use std::rc::Rc;

use alcedo_abi::host::DirectoryEntry;
use alcedo_base::handles::{Name, ObjectHandle};
use smallvec::SmallVec;

use crate::bits::Bits;
use crate::body::Body;
use crate::hot_columns::HotColumns;
use crate::naming::Label;
use crate::object_flags;

#[derive(Debug)]
pub(super) struct Tenant {
    pub(super) body: Body,
    /// Body created by a reload. Replaces `body` while the shadow is active.
    pub(super) staged: Option<Box<Body>>,
    pub(super) life: TenantState,
    pub(super) outer: ObjectHandle,
    pub(super) label: Label,
    pub(super) flags: u32,
    /// Number in the order of creation, from 1.
    pub(super) construction: u64,
    /// Default subobjects with their names, in order of creation. The typical single subobject needs no allocation.
    pub(super) subobjects: SmallVec<[(Name, ObjectHandle); 1]>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TenantState {
    Alive,
    /// Destruction has begun. The handle is still valid.
    Ending,
    /// The object was destroyed during the active shadow. A rollback restores the object.
    Gone,
}

#[derive(Debug)]
pub(super) struct Slots {
    columns: Rc<HotColumns>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    last_serial: u32,
    /// Slots with valid handles.
    occupied: Bits,
    count: usize,
    /// Slots of objects with references outside their properties: an outer, subobjects, or kept values.
    related: Bits,
    /// Slots of CDOs and their subobjects. The slot of an object that was destroyed in a shadow keeps its bit.
    templates: Bits,
    /// Slots of dormant objects.
    dormant: Bits,
}

#[derive(Debug)]
struct Slot {
    serial: u32,
    tenant: Option<Tenant>,
}

impl Tenant {
    /// Checks that the object is a CDO or a subobject of a CDO.
    #[inline]
    pub(super) fn is_template(&self) -> bool {
        self.flags & (object_flags::CDO | object_flags::IN_CDO) != 0
    }

    #[inline]
    pub(super) fn visible_body(&self) -> &Body {
        self.staged.as_deref().unwrap_or(&self.body)
    }

    #[inline]
    pub(super) fn visible_body_mut(&mut self) -> &mut Body {
        self.staged.as_deref_mut().unwrap_or(&mut self.body)
    }
}

impl Slots {
    /// Creates an empty list. The serials of each slot are 1 to `last_serial`.
    pub(super) fn new(columns: Rc<HotColumns>, last_serial: u32) -> Self {
        let (occupied, related, templates, dormant) = Default::default();
        let (slots, free) = Default::default();
        Self { columns, slots, free, last_serial, occupied, count: 0, related, templates, dormant }
    }

    pub(super) fn next(&self) -> ObjectHandle {
        match self.free.last() {
            Some(index) => ObjectHandle::new(*index, self.slots[*index as usize].serial),
            None => ObjectHandle::new(u32::try_from(self.slots.len()).expect("fewer than four billion objects"), 1),
        }
    }

    /// Inserts a tenant with the handle that [`Slots::next`] returns. Builds the tenant in place: a move of this large value is a
    /// measurable cost of a construction.
    #[inline(always)]
    pub(super) fn insert(&mut self, handle: ObjectHandle, tenant: impl FnOnce() -> Tenant) {
        let index = handle.index();
        if self.free.pop().is_none() {
            self.add();
        }
        let Slot { tenant: entry, .. } = &mut self.slots[index as usize];
        assert!(entry.is_none(), "slot {index} has a tenant");
        // An assignment builds the value in place; `Option::insert` would move the value.
        *entry = Some(tenant());
        let Some(tenant) = entry else { unreachable!("it was put there just now") };
        let (is_related, is_template) = (!tenant.outer.is_none(), tenant.is_template());
        let (class, memory, plugin_part) = (tenant.body.class().id, tenant.body.memory(), tenant.body.plugin_part);
        self.count += 1;
        self.occupied.put(index, true);
        // The bits are already clear, because the slot was empty.
        if is_related {
            self.related.put(index, true);
        }
        if is_template {
            self.templates.put(index, true);
        }
        self.columns.put(index, DirectoryEntry { serial: handle.serial(), class, memory }, plugin_part);
    }

    #[cold]
    fn add(&mut self) {
        self.slots.push(Slot { serial: 1, tenant: None });
        self.columns.add();
    }

    /// Registers `child` as a default subobject of `owner`, if `owner` exists.
    pub(super) fn adopt(&mut self, owner: ObjectHandle, name: Name, child: ObjectHandle) {
        let Some(tenant) = self.get_mut(owner) else { return };
        tenant.subobjects.push((name, child));
        self.related.put(owner.index(), true);
    }

    /// Empties the slot. The slot is reused unless its serials are exhausted.
    pub(super) fn remove(&mut self, handle: ObjectHandle) -> Option<Tenant> {
        let slot = self.slots.get_mut(handle.index() as usize).filter(|slot| slot.serial == handle.serial())?;
        let tenant = slot.tenant.take()?;
        if slot.serial < self.last_serial {
            slot.serial += 1;
            self.free.push(handle.index());
        }
        self.templates.put(handle.index(), false);
        self.show(handle.index());
        self.columns.count_end();
        Some(tenant)
    }

    /// Updates the columns and bit sets of a slot from its tenant.
    pub(super) fn show(&mut self, index: u32) {
        let Slot { serial, tenant } = &self.slots[index as usize];
        let visible = tenant.as_ref().filter(|tenant| tenant.life != TenantState::Gone);
        let was = self.occupied.get(index);
        self.count = self.count + usize::from(visible.is_some()) - usize::from(was);
        self.occupied.put(index, visible.is_some());
        let Some(tenant) = visible else {
            self.related.put(index, false);
            self.dormant.put(index, false);
            return self.columns.clear(index);
        };
        let body = tenant.visible_body();
        let has_relations = !tenant.outer.is_none() || !tenant.subobjects.is_empty() || body.has_more();
        self.related.put(index, has_relations);
        self.dormant.put(index, body.dormant.is_some());
        let entry = DirectoryEntry { serial: *serial, class: body.class().id, memory: body.memory() };
        self.columns.put(index, entry, body.plugin_part);
    }

    /// Updates a slot after its tenant's current body was replaced.
    pub(super) fn swapped(&mut self, index: u32) {
        self.show(index);
        self.columns.count_end();
    }

    /// Returns the tenant, even if the tenant was destroyed in a shadow.
    #[inline]
    pub(super) fn any(&self, handle: ObjectHandle) -> Option<&Tenant> {
        let slot = self.slots.get(handle.index() as usize).filter(|slot| slot.serial == handle.serial())?;
        slot.tenant.as_ref()
    }

    #[inline]
    pub(super) fn any_mut(&mut self, handle: ObjectHandle) -> Option<&mut Tenant> {
        let slot = self.slots.get_mut(handle.index() as usize).filter(|slot| slot.serial == handle.serial())?;
        slot.tenant.as_mut()
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

    /// Returns the handle of the object in the slot. Returns none for an empty slot.
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
            let tenant = slot.tenant.as_ref().filter(|tenant| tenant.life != TenantState::Gone)?;
            Some((ObjectHandle::new(index as u32, slot.serial), tenant))
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

    /// Checks that the tenant has references outside its properties.
    pub(super) fn has_relations(&self, index: u32) -> bool {
        self.related.get(index)
    }

    /// Checks that the object in the slot is dormant.
    #[inline]
    pub(super) fn is_dormant(&self, index: u32) -> bool {
        self.dormant.get(index)
    }
}
