//! Values of a call's own block: parameters that a method sees where they lie, and what a caller gives for them.
#![expect(unsafe_code, reason = "follows addresses in parameter blocks")]

use core::marker::PhantomData;

use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use super::into_host::{IntoHost, staged};
use super::temp::Temp;
use super::{Kind, Lent, ValidityToken};
use crate::signature::Param;
use crate::value::pointer_of;

/// A parameter that a method sees as [`Lent`].
#[derive(Debug)]
pub struct Red<K: Kind>(*mut K::Raw);

// SAFETY: it is the address of the value in the block, or in the memory behind the caller's slot.
unsafe impl<K: Kind> Param for Red<K> {
    type Value = K;
    type In = ();
    type Seen<'f> = Lent<'f, K>;

    unsafe fn open<'f>(self) -> Lent<'f, K> {
        // SAFETY: a parameter block stays for its call, which is the frame.
        unsafe { Lent::new(self.0, ValidityToken::of_frame()) }
    }

    unsafe fn load(raw: *mut K::Raw) -> Self {
        Self(raw)
    }

    unsafe fn stage(&self) {}

    unsafe fn slot_in(&self, (): &()) -> Slot {
        Slot::EMPTY
    }

    unsafe fn from_slot(slot: Slot) -> Result<Self, CallError> {
        pointer_of::<K::Raw>(slot).map(Self)
    }
}

/// What a caller gives for such a parameter.
#[derive(Debug)]
pub struct Passed<K, G>(G, PhantomData<fn() -> K>);

impl<K: Kind, G: IntoHost<K>> Passed<K, G> {
    /// Of what was given.
    pub const fn new(given: G) -> Self {
        Self(given, PhantomData)
    }

    fn at(&self) -> Option<*const K::Raw> {
        self.0.lies_at().unwrap_or_else(|error| alcedo_rt::fail(error))
    }
}

/// What stands on the caller's stack meanwhile.
pub struct OnStack<K: Kind> {
    /// The value, unless it lies somewhere already.
    temp: Option<Temp<K>>,
    shown: K::Shown,
}

// SAFETY: the slot is that of a live value of the kind, as `Kind` makes it.
unsafe impl<K: Kind, G: IntoHost<K>> Param for Passed<K, G> {
    type Value = K;
    type In = OnStack<K>;
    type Seen<'f> = ();

    unsafe fn open<'f>(self) -> Self::Seen<'f> {}

    unsafe fn load(_raw: *mut K::Raw) -> Self {
        alcedo_rt::fail(CallError::other("what a caller gives is never read from a block"))
    }

    unsafe fn stage(&self) -> OnStack<K> {
        let temp = match self.at() {
            Some(_) => None,
            None => Some(staged::<K, G>(&self.0).unwrap_or_else(|error| alcedo_rt::fail(error))),
        };
        let raw = temp.as_ref().map_or_else(|| self.at().unwrap_or(core::ptr::null()), Temp::at);
        // SAFETY: it lies where it was given, or on this stack; what is shown of it is no address of the latter itself.
        let shown = unsafe { K::show(raw) };
        OnStack { temp, shown }
    }

    unsafe fn slot_in(&self, standing: &OnStack<K>) -> Slot {
        let raw = standing.temp.as_ref().map_or_else(|| self.at().unwrap_or(core::ptr::null()), Temp::at);
        // SAFETY: `shown` is of the value, and both stay where they are by contract.
        unsafe { K::slot_of(raw, &standing.shown) }
    }

    unsafe fn from_slot(_slot: Slot) -> Result<Self, CallError> {
        Err(CallError::other("what a caller gives is never read from a slot"))
    }
}
