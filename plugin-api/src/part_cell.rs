//! The memory of a plugin part, with its borrow state checked while running. `borrow_state.rs` decides.
#![expect(unsafe_code, reason = "hands out references that the borrow state says are allowed")]

use core::cell::{Cell, UnsafeCell};
use core::ptr::NonNull;

use alcedo_abi::handles::ObjectHandle;
use alcedo_rt::CallError;

use crate::borrow_state::{BorrowState, Event};

/// A plugin part. Not shared between threads: the game thread uses it, then the finalizer thread drops it.
#[doc(hidden)]
pub struct PartCell<C> {
    state: Cell<BorrowState>,
    /// The method that borrowed last and has not returned.
    holder: Cell<&'static str>,
    /// Where new borrows come from while an exclusive one is lent: the very reference that was lent.
    lent: Cell<Option<NonNull<C>>>,
    part: UnsafeCell<C>,
}

impl<C> PartCell<C> {
    /// A plugin part that is not borrowed.
    pub(crate) fn new(part: C) -> Self {
        Self {
            state: Cell::new(BorrowState::FREE),
            holder: Cell::new(""),
            lent: Cell::new(None),
            part: UnsafeCell::new(part),
        }
    }

    /// Runs a `&self` method.
    ///
    /// # Errors
    /// `REENTRANT_BORROW` while a `&mut self` method runs that has not lent its `self`.
    #[inline]
    pub(crate) fn share<R>(
        &self,
        object: ObjectHandle,
        wanted: &'static str,
        code: impl FnOnce(&C) -> R,
    ) -> Result<R, CallError> {
        let _borrow = self.begin(object, wanted, Event::Share, Event::EndShare)?;
        // SAFETY: the state allows a shared borrow, so no exclusive one is in use until `_borrow` ends; the pointer
        // is the cell's own or derived from the exclusive reference that was lent and rests meanwhile.
        Ok(code(unsafe { self.pointer().as_ref() }))
    }

    /// Runs a `&mut self` method.
    ///
    /// # Errors
    /// `REENTRANT_BORROW` while any method runs that has not lent its `self`.
    #[inline]
    pub(crate) fn take<R>(
        &self,
        object: ObjectHandle,
        wanted: &'static str,
        code: impl FnOnce(&mut C) -> R,
    ) -> Result<R, CallError> {
        let _borrow = self.begin(object, wanted, Event::Take, Event::EndTake)?;
        // SAFETY: the state allows an exclusive borrow, so no other one is in use until `_borrow` ends; the pointer
        // is the cell's own or derived from the exclusive reference that was lent and rests meanwhile.
        Ok(code(unsafe { self.pointer().as_mut() }))
    }

    /// Makes the plugin part free for whatever `code` calls. `part` is the exclusive borrow that rests meanwhile.
    ///
    /// # Errors
    /// When `part` is another object's plugin part, or is lent already.
    pub(crate) fn lend<R>(&self, object: ObjectHandle, part: &mut C, code: impl FnOnce() -> R) -> Result<R, CallError> {
        let part = NonNull::from(part);
        if part != self.pointer() {
            return Err(CallError::other(format!(
                "{object}: `lend` was given another plugin part than the object's own: lend the `self` of the method \
                 that `this` was handed to"
            )));
        }
        let _loan = self.begin(object, self.holder.get(), Event::Lend, Event::EndLend)?;
        self.lent.set(Some(part));
        Ok(code())
    }

    /// Whether it is not borrowed.
    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        self.state.get().is_free()
    }

    /// The method that borrowed last and has not returned.
    #[inline]
    pub(crate) fn holder(&self) -> &'static str {
        self.holder.get()
    }

    #[inline]
    fn pointer(&self) -> NonNull<C> {
        // The cell lies as what is in it does.
        self.lent.get().unwrap_or_else(|| NonNull::from(&self.part).cast())
    }

    #[inline]
    fn begin(
        &self,
        object: ObjectHandle,
        wanted: &'static str,
        begin: Event,
        end: Event,
    ) -> Result<Borrow<'_, C>, CallError> {
        let state = self.state.get().step(begin);
        self.state.set(state.map_err(|_refused| CallError::reentrant(object, self.holder.get(), wanted))?);
        Ok(Borrow { cell: self, end, holder: self.holder.replace(wanted), lent: self.lent.get() })
    }
}

/// One borrow or loan; its end, also by unwinding, puts back what was before.
struct Borrow<'a, C> {
    cell: &'a PartCell<C>,
    end: Event,
    holder: &'static str,
    lent: Option<NonNull<C>>,
}

impl<C> Drop for Borrow<'_, C> {
    #[inline]
    fn drop(&mut self) {
        if let Ok(state) = self.cell.state.get().step(self.end) {
            self.cell.state.set(state);
        }
        self.cell.holder.set(self.holder);
        self.cell.lent.set(self.lent);
    }
}

#[cfg(test)]
mod tests {
    use super::PartCell;
    use alcedo_abi::call::FailureKind;
    use alcedo_abi::handles::ObjectHandle;

    const OBJECT: ObjectHandle = ObjectHandle::new(1, 1);

    #[test]
    fn a_second_borrow_names_who_holds_and_who_wants() {
        let cell = PartCell::new(0);
        let inner = cell.take(OBJECT, "tick", |_part| cell.share(OBJECT, "look", |_part| ()));
        let error = inner.expect("the outer borrow is free").expect_err("the inner is not");
        assert_eq!((error.kind(), error.held(), error.wanted()), (FailureKind::REENTRANT_BORROW, "tick", "look"));
        assert!(cell.is_free());
    }

    #[test]
    fn a_lent_part_is_borrowed_anew_and_given_back_changed() {
        let cell = PartCell::new(1);
        let seen = cell.take(OBJECT, "tick", |part| {
            *part += 1;
            let inner = cell.lend(OBJECT, part, || cell.take(OBJECT, "hello", |part| *part *= 10));
            inner.expect("it is the very plugin part").expect("it is free");
            *part += 1;
            *part
        });
        assert_eq!(seen.expect("free"), 21);
        assert!(cell.is_free());
    }

    #[test]
    fn only_the_very_part_can_be_lent() {
        let cell = PartCell::new(1);
        let mut other = 5;
        let refused = cell.take(OBJECT, "tick", |_part| cell.lend(OBJECT, &mut other, || ())).expect("free");
        assert!(refused.expect_err("another half").to_string().contains("another plugin part"));
    }

    #[test]
    fn a_panic_ends_its_borrows() {
        let cell = PartCell::new(1);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            cell.take(OBJECT, "tick", |part| cell.lend(OBJECT, part, || panic!("inside")))
        }));
        assert!(caught.is_err());
        assert!(cell.is_free());
        assert_eq!(cell.holder(), "");
    }
}
