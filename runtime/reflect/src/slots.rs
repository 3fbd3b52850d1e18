//! The slots objects live in, and when a slot may have its next tenant. A handle names slot and tenant, so a stale one
//! never becomes another object: each tenant has its own serial, and a slot that has given out its last one stays empty.
//!
//! What is read often stands in the [`HotColumns`] as well, and [`Slots::show`] is what keeps the two the same: whoever
//! changes which body of a tenant is seen calls it.

use std::rc::Rc;

use alcedo_abi::host::DirectoryEntry;
use alcedo_base::handles::ObjectHandle;

use crate::bits::Bits;
use crate::body::Body;
use crate::hot_columns::HotColumns;
use crate::naming::Label;

/// One object as the store keeps it.
#[derive(Debug)]
pub(super) struct Tenant {
    pub(super) body: Body,
    /// The body a reload made for it; seen instead of the other while the shadow is up.
    pub(super) staged: Option<Box<Body>>,
    pub(super) life: TenantState,
    pub(super) outer: ObjectHandle,
    pub(super) label: Label,
    pub(super) flags: u32,
    /// Order of creation, from 1.
    pub(super) construction: u64,
    /// Default subobjects, in order of creation.
    pub(super) subobjects: Vec<(Rc<str>, ObjectHandle)>,
}

/// How far an object's life is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TenantState {
    /// It is alive.
    Alive,
    /// Its end has begun; its handle still works.
    Ending,
    /// It ended while a shadow was up; it comes back if the shadow is dropped.
    Gone,
}

/// All slots.
#[derive(Debug)]
pub(super) struct Slots {
    columns: Rc<HotColumns>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    last_serial: u32,
    /// Whose handles work.
    occupied: Bits,
    count: usize,
    /// An object that refers to others by more than its properties: it has an outer, subobjects, or values it keeps
    /// while dormant.
    related: Bits,
}

#[derive(Debug)]
struct Slot {
    serial: u32,
    tenant: Option<Tenant>,
}

impl Tenant {
    /// The body that is seen now.
    #[inline]
    pub(super) fn seen(&self) -> &Body {
        self.staged.as_deref().unwrap_or(&self.body)
    }

    #[inline]
    pub(super) fn seen_mut(&mut self) -> &mut Body {
        self.staged.as_deref_mut().unwrap_or(&mut self.body)
    }
}

impl Slots {
    /// No slots yet; a slot's serials go from 1 to `last_serial`.
    pub(super) fn new(columns: Rc<HotColumns>, last_serial: u32) -> Self {
        let (occupied, related) = Default::default();
        Self { columns, slots: Vec::new(), free: Vec::new(), last_serial, occupied, count: 0, related }
    }

    /// The handle that the next tenant will have.
    pub(super) fn next(&self) -> ObjectHandle {
        match self.free.last() {
            Some(index) => ObjectHandle::new(*index, self.slots[*index as usize].serial),
            None => ObjectHandle::new(u32::try_from(self.slots.len()).expect("fewer than four billion objects"), 1),
        }
    }

    /// A new tenant, whose handle is [`Slots::next`]. It is made where it is to be: a tenant is long, and moving it would
    /// be a good part of what a construction costs.
    #[inline(always)]
    pub(super) fn insert(&mut self, handle: ObjectHandle, tenant: impl FnOnce() -> Tenant) {
        let index = handle.index();
        if self.free.pop().is_none() {
            self.add();
        }
        let Slot { tenant: place, .. } = &mut self.slots[index as usize];
        assert!(place.is_none(), "slot {index} has a tenant");
        // An assignment is made in place; `Option::insert` would move it there.
        *place = Some(tenant());
        let Some(tenant) = place else { unreachable!("it was put there just now") };
        let is_related = !tenant.outer.is_none();
        let (class, memory, plugin_part) = (tenant.body.class().id, tenant.body.memory(), tenant.body.plugin_part);
        self.count += 1;
        self.occupied.put(index, true);
        // For an empty slot the answer is no already.
        if is_related {
            self.related.put(index, true);
        }
        self.columns.put(index, DirectoryEntry { serial: handle.serial(), class, memory }, plugin_part);
    }

    #[cold]
    fn add(&mut self) {
        self.slots.push(Slot { serial: 1, tenant: None });
        self.columns.add();
    }

    /// Empties the slot. It waits for its next tenant, unless its serials are used up.
    pub(super) fn remove(&mut self, handle: ObjectHandle) -> Option<Tenant> {
        let slot = self.slots.get_mut(handle.index() as usize).filter(|slot| slot.serial == handle.serial())?;
        let tenant = slot.tenant.take()?;
        if slot.serial < self.last_serial {
            slot.serial += 1;
            self.free.push(handle.index());
        }
        self.show(handle.index());
        self.columns.count_end();
        Some(tenant)
    }

    /// Makes what stands in the columns at that slot what its tenant is now.
    pub(super) fn show(&mut self, index: u32) {
        let Slot { serial, tenant } = &self.slots[index as usize];
        let seen = tenant.as_ref().filter(|tenant| tenant.life != TenantState::Gone);
        let was = self.occupied.get(index);
        self.count = self.count + usize::from(seen.is_some()) - usize::from(was);
        self.occupied.put(index, seen.is_some());
        let Some(tenant) = seen else {
            self.related.put(index, false);
            return self.columns.clear(index);
        };
        let body = tenant.seen();
        let has_relations = !tenant.outer.is_none() || !tenant.subobjects.is_empty() || body.has_more();
        self.related.put(index, has_relations);
        let entry = DirectoryEntry { serial: *serial, class: body.class().id, memory: body.memory() };
        self.columns.put(index, entry, body.plugin_part);
    }

    /// Another body of the tenant is seen from now on.
    pub(super) fn swapped(&mut self, index: u32) {
        self.show(index);
        self.columns.count_end();
    }

    /// The tenant, also one that is gone in a shadow.
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

    /// The tenant, if its handle works.
    #[inline]
    pub(super) fn get(&self, handle: ObjectHandle) -> Option<&Tenant> {
        self.any(handle).filter(|tenant| tenant.life != TenantState::Gone)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, handle: ObjectHandle) -> Option<&mut Tenant> {
        self.any_mut(handle).filter(|tenant| tenant.life != TenantState::Gone)
    }

    /// The handle of the object in the slot; none for an empty one.
    #[inline]
    pub(super) fn handle(&self, index: u32) -> ObjectHandle {
        match self.columns.entry(index).serial {
            0 => ObjectHandle::NONE,
            serial => ObjectHandle::new(index, serial),
        }
    }

    /// Handles that work and their tenants, in the order of slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ObjectHandle, &Tenant)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            let tenant = slot.tenant.as_ref().filter(|tenant| tenant.life != TenantState::Gone)?;
            Some((ObjectHandle::new(index as u32, slot.serial), tenant))
        })
    }

    /// What is read most.
    #[inline]
    pub(super) fn columns(&self) -> &HotColumns {
        &self.columns
    }

    /// How many handles work.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// How many slots there are.
    pub(super) fn len(&self) -> u32 {
        self.columns.len()
    }

    /// The slots whose tenants' handles work.
    pub(super) fn occupied(&self) -> &Bits {
        &self.occupied
    }

    /// Whether the tenant refers to others by more than its properties.
    pub(super) fn has_relations(&self, index: u32) -> bool {
        self.related.get(index)
    }
}
