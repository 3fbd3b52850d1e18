//! Memory for the Rust fields of one object. `alcedo_abi::borrows` checks borrows at run time.
#![expect(unsafe_code, reason = "returns references that the borrow state allows")]

use std::cell::{Cell, UnsafeCell};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use alcedo_abi::borrows::{Borrows, Event};

use crate::boundary::CallError;
use crate::handles::ObjectHandle;
use crate::{panic_guard, thread_stack};

/// The Rust fields of one object. Dropping the cell never panics: panics in destructors of the fields are logged.
pub struct PartCell<C> {
    borrows: Cell<Borrows>,
    /// Name of the running method with the newest borrow of the fields.
    holder: Cell<&'static str>,
    /// Reference that a running `&mut self` method has passed to `reborrow`. New borrows are derived from this reference.
    borrowed: Cell<Option<NonNull<C>>>,
    part: UnsafeCell<ManuallyDrop<C>>,
}

impl<C> PartCell<C> {
    pub(super) const fn new(part: C) -> Self {
        Self {
            borrows: Cell::new(Borrows::FREE),
            holder: Cell::new(""),
            borrowed: Cell::new(None),
            part: UnsafeCell::new(ManuallyDrop::new(part)),
        }
    }

    /// Allows calls in `code` to borrow the fields. `part` is the exclusive borrow that the running method holds, and does not use while
    /// `code` runs.
    ///
    /// # Errors
    /// Fails if `part` belongs to another object or is already lent. Returns [`CallError::WrongStack`] on the stack of a coroutine.
    pub(super) fn reborrow<R>(
        &self,
        object: ObjectHandle,
        part: &mut C,
        code: impl FnOnce() -> R,
    ) -> Result<R, CallError> {
        let part = NonNull::from(part);
        if part != self.pointer() {
            return Err(not_its_own(object));
        }
        if !thread_stack::is_here() {
            return Err(CallError::WrongStack { action: format!("{object}: lending its Rust fields") });
        }
        let holder = self.holder.get();
        let _borrow =
            self.try_begin(holder, Event::Reborrow, Event::EndReborrow).ok_or_else(|| self.refused(object, holder))?;
        let _loan = Loan { cell: self, before: self.borrowed.replace(Some(part)) };
        Ok(code())
    }

    #[inline]
    fn pointer(&self) -> NonNull<C> {
        // The `UnsafeCell` has the same address as its contents.
        self.borrowed.get().unwrap_or_else(|| NonNull::from(&self.part).cast())
    }

    #[inline]
    fn try_begin(&self, method: &'static str, begin: Event, end: Event) -> Option<Borrow<'_, C>> {
        // A borrow on the stack of a coroutine could outlive the call of `reborrow`.
        if self.borrowed.get().is_some() && !thread_stack::is_here() {
            return None;
        }
        let borrows = self.borrows.get().step(begin)?;
        self.borrows.set(borrows);
        Some(Borrow { cell: self, end, holder: self.holder.replace(method) })
    }

    /// Runs a `&self` method. Returns `None` if an open borrow conflicts with the method.
    #[inline]
    pub(super) fn try_share<R>(&self, method: &'static str, code: impl FnOnce(&C) -> R) -> Option<R> {
        let _borrow = self.try_begin(method, Event::Share, Event::EndShare)?;
        // SAFETY: the borrow state allows a shared borrow, so no exclusive borrow is used until `_borrow` ends. The pointer is that of the
        // cell, or is derived from the exclusive reference that was passed to `reborrow`, which is unused until `reborrow` returns.
        Some(code(unsafe { self.pointer().as_ref() }))
    }

    /// Runs a `&mut self` method. Returns `None` if an open borrow conflicts with the method.
    #[inline]
    pub(super) fn try_take<R>(&self, method: &'static str, code: impl FnOnce(&mut C) -> R) -> Option<R> {
        let _borrow = self.try_begin(method, Event::Take, Event::EndTake)?;
        // SAFETY: the borrow state allows an exclusive borrow, so no other borrow is used until `_borrow` ends. The pointer is that of the
        // cell, or is derived from the exclusive reference that was passed to `reborrow`, which is unused until `reborrow` returns.
        Some(code(unsafe { self.pointer().as_mut() }))
    }

    pub(super) fn is_in_use(&self) -> bool {
        self.borrows.get() != Borrows::FREE
    }

    /// Returns the error for a borrow by `method` that conflicts with an open borrow.
    #[cold]
    pub(super) fn refused(&self, object: ObjectHandle, method: &str) -> CallError {
        CallError::ReentrantBorrow { object, held: self.holder.get().to_owned(), requested_by: method.to_owned() }
    }
}

impl<C> Drop for PartCell<C> {
    fn drop(&mut self) {
        let part = self.part.get_mut();
        // SAFETY: the fields are dropped only here, and the cell is destroyed afterwards.
        let drop_fields = || unsafe { ManuallyDrop::drop(part) };
        if let Err(message) = panic_guard::caught(drop_fields) {
            let class = std::any::type_name::<C>();
            log!(ERROR, class, message, "the Rust fields of an object panicked when they were dropped");
        }
    }
}

/// Returns the error of `reborrow` if `part` belongs to another object.
#[cold]
pub(super) fn not_its_own(object: ObjectHandle) -> CallError {
    CallError::other(format!(
        "{object}: `lend` received other Rust fields than the object's own: lend the `self` of the method that `this` was \
         passed to"
    ))
}

/// Borrow of the fields, or call of `reborrow`. Dropping this guard restores the previous borrow state, also during unwinding.
struct Borrow<'a, C> {
    cell: &'a PartCell<C>,
    end: Event,
    holder: &'static str,
}

impl<C> Drop for Borrow<'_, C> {
    #[inline]
    fn drop(&mut self) {
        if let Some(borrows) = self.cell.borrows.get().step(self.end) {
            self.cell.borrows.set(borrows);
        }
        self.cell.holder.set(self.holder);
    }
}

/// Reference that `reborrow` has lent. Dropping this guard restores the reference of the surrounding loan, also during unwinding. Other
/// borrows leave the lent reference unchanged.
struct Loan<'a, C> {
    cell: &'a PartCell<C>,
    before: Option<NonNull<C>>,
}

impl<C> Drop for Loan<'_, C> {
    fn drop(&mut self) {
        self.cell.borrowed.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::PartCell;
    use crate::boundary::CallError;
    use crate::handles::ObjectHandle;

    const OBJECT: ObjectHandle = ObjectHandle::new(1, 1);

    impl<C> PartCell<C> {
        fn take<R>(
            &self,
            object: ObjectHandle,
            method: &'static str,
            code: impl FnOnce(&mut C) -> R,
        ) -> Result<R, CallError> {
            self.try_take(method, code).ok_or_else(|| self.refused(object, method))
        }
    }

    #[test]
    fn borrowed_fields_are_reborrowed_and_returned_changed() {
        let cell = PartCell::new(1);
        let seen = cell.take(OBJECT, "tick", |part| {
            *part += 1;
            let inner = cell.reborrow(OBJECT, part, || cell.take(OBJECT, "hello", |part| *part *= 10));
            inner.expect("its own fields").expect("they are free");
            *part += 1;
            *part
        });
        assert_eq!(seen, Ok(21));
        assert_eq!(cell.try_share("look", |part| *part), Some(21));
    }

    #[test]
    fn only_the_fields_of_the_object_can_be_reborrowed() {
        let (cell, mut other) = (PartCell::new(1), 5);
        let refused = cell.take(OBJECT, "tick", |_part| cell.reborrow(OBJECT, &mut other, || ())).expect("free");
        assert!(refused.expect_err("others").to_string().contains("other Rust fields"));
    }

    #[test]
    fn a_panic_ends_its_borrows_and_loans() {
        let cell = PartCell::new(1);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            cell.take(OBJECT, "tick", |part| {
                cell.reborrow(OBJECT, part, || cell.take(OBJECT, "hello", |_part| panic!("inside")))
            })
        }));
        assert!(caught.is_err());
        assert_eq!(cell.take(OBJECT, "tick", |part| *part), Ok(1));
    }

    #[test]
    fn panics_of_dropped_fields_are_caught_also_during_a_panic() {
        struct Grenade;
        impl Drop for Grenade {
            fn drop(&mut self) {
                panic!("on purpose");
            }
        }
        drop([PartCell::new(Grenade), PartCell::new(Grenade)]);
        let caught = catch_unwind(|| {
            let _cell = PartCell::new(Grenade);
            panic!("another");
        });
        assert_eq!(caught.expect_err("it panics").downcast_ref::<&str>(), Some(&"another"));
    }

    #[test]
    fn a_loan_inside_of_a_loan_holds_what_is_outside() {
        let cell = PartCell::new(1);
        let refused = cell.take(OBJECT, "tick", |part| {
            cell.reborrow(OBJECT, part, || {
                cell.take(OBJECT, "hello", |part| {
                    *part += 1;
                    // This borrow fails, because the method `hello` has not lent its `part`.
                    cell.try_share("look", |part| *part).ok_or_else(|| cell.refused(OBJECT, "look"))
                })
            })
        });
        let refused = refused.expect("free").expect("lent").expect("free");
        assert!(matches!(refused, Err(CallError::ReentrantBorrow { held, .. }) if held == "hello"));
    }
}
