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
use crate::signature::{Param, Params};

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

/// The values of out parameters: a tuple of up to eight.
///
/// # Safety
/// The slots are those that the border prescribes for results of the values, in order.
pub unsafe trait Outs: Params {
    /// Holds the values until they are taken.
    #[doc(hidden)]
    type Out;
    /// Returns empty storage.
    #[doc(hidden)]
    fn out() -> Self::Out;
    /// Writes the slots that point to the storage. Returns their number.
    #[doc(hidden)]
    fn put_slots(out: &mut Self::Out, slots: &mut [Slot]) -> usize;
    /// The values.
    ///
    /// # Safety
    /// A callee has filled the slots, and what waited.
    #[doc(hidden)]
    unsafe fn take(slots: &[Slot], out: Self::Out) -> Result<Self, CallError>;
}

macro_rules! outs {
    ($count:literal $($name:ident $value:ident $at:literal)*) => {
        // SAFETY: each value answers for itself, and they stand in order.
        unsafe impl<$($name: Value),*> Outs for ($($name,)*) {
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
                // SAFETY: our caller promises that a callee has filled them.
                let ($($value,)*) = unsafe { ($(<$name as Value>::take_out(slots[$at], $value),)*) };
                Ok(($($value?,)*))
            }
        }
    };
}

outs!(0);
outs!(1 A a 0);
outs!(2 A a 0 B b 1);
outs!(3 A a 0 B b 1 C c 2);
outs!(4 A a 0 B b 1 C c 2 D d 3);
outs!(5 A a 0 B b 1 C c 2 D d 3 E e 4);
outs!(6 A a 0 B b 1 C c 2 D d 3 E e 4 F f 5);
outs!(7 A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6);
outs!(8 A a 0 B b 1 C c 2 D d 3 E e 4 F f 5 G g 6 H h 7);
