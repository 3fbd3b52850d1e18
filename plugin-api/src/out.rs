//! Parameters that come back to the caller: `&mut T` in a signature. The value goes in by copy; what the callee has made of
//! it is copied back when the whole call has succeeded, and else the caller's is untouched.
#![expect(unsafe_code, reason = "declares what travels in the slots of such a parameter")]

use core::cell::RefCell;
use core::ops::{Deref, DerefMut};

use alcedo_abi::zcall::Slot;
use alcedo_rt::{CallError, fail};

use crate::Value;
use crate::blocks::ArgumentSlot;
use crate::kinds::{PtrMut, ValidityToken, Viewable};
use crate::signature::Param;

/// A parameter that comes back. Whoever calls by name gives one: `this.zcall(name, (2.0, Out::to(&mut rest)))`.
#[derive(Debug)]
pub struct Out<'a, T>(RefCell<&'a mut T>);

impl<'a, T> Out<'a, T> {
    /// What the callee has made of `target` is put there when the call has succeeded.
    pub fn to(target: &'a mut T) -> Self {
        Self(RefCell::new(target))
    }
}

/// How a method sees one: the value, and where it goes back to.
#[doc(hidden)]
pub struct OutValue<'f, T: Value> {
    value: T,
    target: PtrMut<'f, T>,
}

impl<T: Value> OutValue<'_, T> {
    /// Writes the value back; the running call fails where the host refuses.
    pub fn keep(self) {
        self.value.store(self.target).unwrap_or_else(|error| fail(error));
    }
}

impl<T: Value> Deref for OutValue<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Value> DerefMut for OutValue<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

// SAFETY: what goes in and what waits are the value's own, as an argument's and a result's are.
unsafe impl<'a, T: Value> Param for Out<'a, T> {
    type Value = T;
    type Declared = Out<'static, T>;
    const IS_OUT: bool = true;
    type In = T::In;
    type Seen<'f> = OutValue<'f, T>;
    type Awaited = T::Out;
    type Back = T;

    fn open<'f>(value: Viewable<'f, T, impl FnOnce() -> ValidityToken<'f>>) -> OutValue<'f, T> {
        let (target, _token) = value.into_parts();
        OutValue { value: T::load(target.as_ptr()), target }
    }

    fn awaited() -> T::Out {
        T::out()
    }

    fn slot_back(awaited: &mut T::Out) -> Slot {
        T::slot_out(awaited)
    }

    unsafe fn take_back(slot: Slot, awaited: T::Out) -> Result<T, CallError> {
        // SAFETY: the caller promises that a callee has filled both.
        unsafe { T::take_out(slot, awaited) }
    }

    fn give_back(&self, back: T) {
        **self.0.borrow_mut() = back;
    }

    unsafe fn stage(&self) -> T::In {
        // SAFETY: the caller promises the thread.
        unsafe { self.0.borrow().stage() }
    }

    fn slot_in(&self, staged: &T::In) -> Slot {
        self.0.borrow().slot_in(staged)
    }

    fn from_slot(_slot: ArgumentSlot<'_, T>) -> Result<Self, CallError> {
        Err(CallError::other("a function that is called by name gives all it gives as its result"))
    }
}
