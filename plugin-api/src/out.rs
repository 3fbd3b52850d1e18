//! Out parameters: `&mut T` in a signature. The call copies the caller's value to the callee, and, if it succeeds, copies the callee's
//! value back. A failed call leaves the caller's variable unchanged.
#![expect(unsafe_code, reason = "declares the content of the slots of an out parameter")]

use core::cell::RefCell;
use core::ops::{Deref, DerefMut};

use alcedo_abi::zcall::Slot;
use alcedo_rt::{CallError, fail};

use crate::Value;
use crate::kinds::{PtrMut, ValidityToken, Viewable};
use crate::ptr::ArgumentSlot;
use crate::signature::{Param, Params, for_each_count};

/// Argument for an out parameter in a call by name: `this.zcall(name, (2.0, Out::to(&mut rest)))`.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
///
/// fn split(this: This<'_, Object>, gold: u32) -> Result<(u32, u32), CallError> {
///     let mut rest = gold;
///     let share = this.zcall("uf:/Script/Game.Chest:split", (Out::to(&mut rest), 3_u32))?;
///     Ok((share, rest))
/// }
/// ```
#[derive(Debug)]
pub struct Out<'a, T>(RefCell<&'a mut T>);

impl<'a, T> Out<'a, T> {
    /// Creates an argument for an out parameter. If the call succeeds, it assigns the callee's value to `target`.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn reserve(this: This<'_, Object>) -> u32 {
    ///     let mut seats = 4_u32;
    ///     // A failed call leaves the variable unchanged.
    ///     let reserved: Result<(), CallError> = this.zcall("uf:/Script/Game.Train:reserve", (Out::to(&mut seats),));
    ///     if reserved.is_ok() { seats } else { 0 }
    /// }
    /// ```
    pub fn to(target: &'a mut T) -> Self {
        Self(RefCell::new(target))
    }
}

/// Out parameter that a method receives: the value, and the location to which the changed value is written back.
#[doc(hidden)]
pub struct OutValue<'f, T: Value> {
    value: T,
    target: PtrMut<'f, T>,
}

impl<T: Value> OutValue<'_, T> {
    /// Writes the value back to the caller's variable. If the host refuses the write, the running call fails.
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

// SAFETY: the slots of an argument and of a result are encoded like the slots of a `T`.
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
        // SAFETY: the caller promises that a callee has filled `slot` and `awaited`.
        unsafe { T::take_out(slot, awaited) }
    }

    fn give_back(&self, back: T) {
        **self.0.borrow_mut() = back;
    }

    unsafe fn stage(&self) -> T::In {
        // SAFETY: the caller promises the thread that `stage` requires.
        unsafe { self.0.borrow().stage() }
    }

    fn slot_in(&self, staged: &T::In) -> Slot {
        self.0.borrow().slot_in(staged)
    }

    fn from_slot(_slot: ArgumentSlot<'_, T>) -> Result<Self, CallError> {
        Err(CallError::other("a function called by name returns all values in its result"))
    }
}

/// Values of out parameters: a tuple of up to eight values.
///
/// # Safety
/// The slots are encoded as the ABI prescribes for results of these types, and are in the order of the tuple.
pub unsafe trait OutParameters: Params {
    /// Storage for the values until they are returned.
    #[doc(hidden)]
    type Out;
    /// Creates empty storage.
    #[doc(hidden)]
    fn out() -> Self::Out;
    /// Writes slots that point to the storage. Returns the number of slots.
    #[doc(hidden)]
    fn put_slots(out: &mut Self::Out, slots: &mut [Slot]) -> usize;
    /// Converts the filled slots into the values.
    ///
    /// # Safety
    /// A callee has filled the slots and the storage.
    #[doc(hidden)]
    unsafe fn take(slots: &[Slot], out: Self::Out) -> Result<Self, CallError>;
}

macro_rules! out_parameters {
    ($count:literal: $($at:literal $name:ident $value:ident $staged:ident $back:ident)*) => {
        // SAFETY: each value fulfills its own contract, and the values are in the order of the tuple.
        unsafe impl<$($name: Value),*> OutParameters for ($($name,)*) {
            type Out = ($(<$name as Value>::Out,)*);

            #[allow(clippy::unused_unit, reason = "for none")]
            fn out() -> Self::Out {
                ($(<$name as Value>::out(),)*)
            }

            fn put_slots(out: &mut Self::Out, slots: &mut [Slot]) -> usize {
                let ($($value,)*) = out;
                let waiting: [Slot; $count] = [$(<$name as Value>::slot_out($value)),*];
                slots[..$count].copy_from_slice(&waiting);
                $count
            }

            #[allow(unused_variables, unused_unsafe, clippy::unused_unit, reason = "for none")]
            unsafe fn take(slots: &[Slot], out: Self::Out) -> Result<Self, CallError> {
                let ($($value,)*) = out;
                // SAFETY: the caller promises that a callee has filled the slots.
                let ($($value,)*) = unsafe { ($(<$name as Value>::take_out(slots[$at], $value),)*) };
                Ok(($($value?,)*))
            }
        }
    };
}

for_each_count!(out_parameters);
