//! The slots objects live in, and when a slot may have its next tenant. A handle names slot and tenant, so a stale one
//! never becomes another object: each tenant has its own serial, and a slot that has given out its last one stays empty.

use std::rc::Rc;

use crate::handles::{Name, ObjectHandle};
use crate::object::objects::Body;

/// One object as the store knows it.
#[derive(Debug)]
pub(super) struct Tenant {
    pub(super) body: Body,
    /// The body a reload made for it; seen instead of the other while the shadow is up.
    pub(super) staged: Option<Body>,
    pub(super) life: Life,
    pub(super) outer: ObjectHandle,
    pub(super) name: Name,
    /// Class name and number, where the name was made of them; the number is given back.
    pub(super) generated: Option<(Rc<str>, u32)>,
    pub(super) flags: u32,
    /// Order of creation, from 1.
    pub(super) birth: u64,
    /// How many classes of its chain, from the root, have constructed it.
    pub(super) constructed: usize,
    /// Default subobjects, in order of creation.
    pub(super) subobjects: Vec<(Rc<str>, ObjectHandle)>,
}

/// How far an object's life is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Life {
    /// It lives.
    Alive,
    /// Its end has begun; its handle still works.
    Ending,
    /// It ended while a shadow was up; it comes back if the shadow is dropped.
    Gone,
}

/// All slots.
#[derive(Debug)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
    last_serial: u32,
}

#[derive(Debug)]
struct Slot {
    serial: u32,
    tenant: Option<Tenant>,
}

impl Tenant {
    /// The body that is seen now.
    pub(super) fn seen(&self) -> &Body {
        self.staged.as_ref().unwrap_or(&self.body)
    }

    pub(super) fn seen_mut(&mut self) -> &mut Body {
        self.staged.as_mut().unwrap_or(&mut self.body)
    }
}

impl Slots {
    /// No slots yet; a slot's serials go from 1 to `last_serial`.
    pub(super) fn new(last_serial: u32) -> Self {
        Self { slots: Vec::new(), free: Vec::new(), last_serial }
    }

    /// The handle of a new tenant.
    pub(super) fn insert(&mut self, tenant: Tenant) -> ObjectHandle {
        if let Some(index) = self.free.pop() {
            let slot = &mut self.slots[index as usize];
            slot.tenant = Some(tenant);
            return ObjectHandle::new(index, slot.serial);
        }
        let index = u32::try_from(self.slots.len()).expect("fewer than four billion objects");
        self.slots.push(Slot { serial: 1, tenant: Some(tenant) });
        ObjectHandle::new(index, 1)
    }

    /// Empties the slot. It waits for its next tenant, unless its serials are used up.
    pub(super) fn remove(&mut self, handle: ObjectHandle) -> Option<Tenant> {
        let slot = self.slots.get_mut(handle.index() as usize).filter(|slot| slot.serial == handle.serial())?;
        let tenant = slot.tenant.take()?;
        if slot.serial < self.last_serial {
            slot.serial += 1;
            self.free.push(handle.index());
        }
        Some(tenant)
    }

    /// The tenant, also one that is gone in a shadow.
    pub(super) fn any(&self, handle: ObjectHandle) -> Option<&Tenant> {
        let slot = self.slots.get(handle.index() as usize).filter(|slot| slot.serial == handle.serial())?;
        slot.tenant.as_ref()
    }

    pub(super) fn any_mut(&mut self, handle: ObjectHandle) -> Option<&mut Tenant> {
        let slot = self.slots.get_mut(handle.index() as usize).filter(|slot| slot.serial == handle.serial())?;
        slot.tenant.as_mut()
    }

    /// The tenant, if its handle works.
    pub(super) fn get(&self, handle: ObjectHandle) -> Option<&Tenant> {
        self.any(handle).filter(|tenant| tenant.life != Life::Gone)
    }

    pub(super) fn get_mut(&mut self, handle: ObjectHandle) -> Option<&mut Tenant> {
        self.any_mut(handle).filter(|tenant| tenant.life != Life::Gone)
    }

    /// Handles that work and their tenants, in the order of slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ObjectHandle, &Tenant)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            let tenant = slot.tenant.as_ref().filter(|tenant| tenant.life != Life::Gone)?;
            Some((ObjectHandle::new(index as u32, slot.serial), tenant))
        })
    }
}
