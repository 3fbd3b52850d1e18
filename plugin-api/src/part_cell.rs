//! The memory of a plugin part, with its borrow state checked while running. `alcedo_abi::borrows` decides.
#![expect(unsafe_code, reason = "hands out references that the borrow state says are allowed")]

use core::cell::{Cell, UnsafeCell};
use core::ptr::NonNull;

use alcedo_abi::borrows::{Borrows, Event};
use alcedo_abi::handles::ObjectHandle;
use alcedo_rt::CallError;

/// How a plugin part is borrowed, and by whom. Each method has one that stands in its image, for a borrow of a part that is free, so
/// that such a borrow is a word in the cell; other borrows have one on the stack.
#[derive(Debug)]
struct Holder {
    state: Borrows,
    /// The method.
    name: &'static str,
    /// Where new borrows come from while an exclusive one is lent: the very reference that was lent.
    lent: Option<NonNull<()>>,
}

/// The holder that a `&self` method is where nobody else borrows.
#[derive(Debug)]
pub(crate) struct Sharing(Holder);

impl Sharing {
    /// That of the method of this name.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self(Holder::alone(name, Event::Share))
    }
}

/// The holder that a `&mut self` method is where nobody else borrows.
#[derive(Debug)]
pub(crate) struct Taking(Holder);

impl Taking {
    /// That of the method of this name.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self(Holder::alone(name, Event::Take))
    }
}

impl Holder {
    const fn alone(name: &'static str, event: Event) -> Self {
        match Borrows::FREE.step(event) {
            Some(state) => Self { state, name, lent: None },
            None => panic!("a free part can be borrowed"),
        }
    }
}

/// The holder of a part that nobody borrows: an address where nothing is. It is not null, or the box of a part whose fields are all zero
/// would be a zeroed allocation as a whole: the optimizer of Rust 1.95 makes a call of its own of that, which it loses where it inlines over
/// the units of a larger library, and then the compiler crashes.
const FREE: *const Holder = NonNull::dangling().as_ptr();

/// A plugin part. Not shared between threads: the game thread uses it, then the finalizer thread drops it. It is one word longer
/// than what is in it, since a frame goes through as many of them as there are objects.
#[doc(hidden)]
pub struct PartCell<C> {
    /// The borrow that began last and has not ended, or [`FREE`]. It lies in the image, or in the frame of the call that has put it here and
    /// takes it away.
    holder: Cell<*const Holder>,
    part: UnsafeCell<C>,
}

impl<C> PartCell<C> {
    /// A plugin part that is not borrowed.
    pub(crate) fn new(part: C) -> Self {
        Self { holder: Cell::new(FREE), part: UnsafeCell::new(part) }
    }

    /// Runs a `&self` method.
    ///
    /// # Errors
    /// `REENTRANT_BORROW` while a `&mut self` method runs that has not lent its `self`.
    #[inline]
    pub(crate) fn share<R>(
        &self,
        object: ObjectHandle,
        wanted: &'static Sharing,
        code: impl FnOnce(&C) -> R,
    ) -> Result<R, CallError> {
        // SAFETY: the state allows a shared borrow, so no exclusive one is in use until the code has run; the pointer
        // is the cell's own or derived from the exclusive reference that was lent and rests meanwhile.
        self.borrow(object, &wanted.0, Event::Share, |part| code(unsafe { part.as_ref() }))
    }

    /// Runs a `&mut self` method.
    ///
    /// # Errors
    /// `REENTRANT_BORROW` while any method runs that has not lent its `self`.
    #[inline]
    pub(crate) fn take<R>(
        &self,
        object: ObjectHandle,
        wanted: &'static Taking,
        code: impl FnOnce(&mut C) -> R,
    ) -> Result<R, CallError> {
        // SAFETY: the state allows an exclusive borrow, so no other one is in use until the code has run; the pointer
        // is the cell's own or derived from the exclusive reference that was lent and rests meanwhile.
        self.borrow(object, &wanted.0, Event::Take, |mut part| code(unsafe { part.as_mut() }))
    }

    /// Makes the plugin part free for whatever `code` calls. `part` is the exclusive borrow that rests meanwhile.
    ///
    /// # Errors
    /// When `part` is another object's plugin part, or is lent already.
    pub(crate) fn lend<R>(&self, object: ObjectHandle, part: &mut C, code: impl FnOnce() -> R) -> Result<R, CallError> {
        let part = NonNull::from(part);
        if part != self.own() {
            return Err(CallError::other(format!(
                "{object}: `lend` was given another plugin part than the object's own: lend the `self` of the method \
                 that `this` was handed to"
            )));
        }
        let name = self.holder();
        let holder = Holder { lent: Some(part.cast()), ..self.after(object, name, Event::Lend)? };
        let _loan = self.hold(&raw const holder);
        Ok(code())
    }

    /// Whether it is not borrowed.
    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        self.holder.get() == FREE
    }

    /// The method that borrowed last and has not returned.
    #[inline]
    pub(crate) fn holder(&self) -> &'static str {
        self.last().map_or("", |holder| holder.name)
    }

    /// The borrow that began last and has not ended.
    #[inline]
    fn last(&self) -> Option<&Holder> {
        // SAFETY: it lies in the image, or in a call on the stack that puts back what was before, by returning or by unwinding.
        (!self.is_free()).then(|| unsafe { &*self.holder.get() })
    }

    /// What is in it, whoever borrows it.
    #[inline]
    fn own(&self) -> NonNull<C> {
        // The cell lies as what is in it does.
        NonNull::from(&self.part).cast()
    }

    /// Runs `code` with the plugin part in a borrow of its own.
    #[inline(always)]
    fn borrow<R>(
        &self,
        object: ObjectHandle,
        wanted: &'static Holder,
        event: Event,
        code: impl FnOnce(NonNull<C>) -> R,
    ) -> Result<R, CallError> {
        let here;
        let (part, holder) = if self.is_free() {
            (self.own(), &raw const *wanted)
        } else {
            here = self.after(object, wanted.name, event)?;
            (here.lent.map_or(self.own(), NonNull::cast), &raw const here)
        };
        let _borrow = self.hold(holder);
        Ok(code(part))
    }

    /// What one who begins beside others is.
    #[cold]
    fn after(&self, object: ObjectHandle, name: &'static str, event: Event) -> Result<Holder, CallError> {
        let (state, lent) = self.last().map_or((Borrows::FREE, None), |last| (last.state, last.lent));
        let state = state.step(event).ok_or_else(|| CallError::reentrant(object, self.holder(), name))?;
        Ok(Holder { state, name, lent })
    }

    /// The borrow that has begun is that of `holder`, which stays where it is until the end of what is given back.
    #[inline]
    fn hold(&self, holder: *const Holder) -> Borrow<'_, C> {
        Borrow { cell: self, before: self.holder.replace(holder) }
    }
}

/// One borrow or loan; its end, also by unwinding, puts back what was before.
struct Borrow<'a, C> {
    cell: &'a PartCell<C>,
    before: *const Holder,
}

impl<C> Drop for Borrow<'_, C> {
    #[inline]
    fn drop(&mut self) {
        self.cell.holder.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::{PartCell, Sharing, Taking};
    use alcedo_abi::call::FailureKind;
    use alcedo_abi::handles::ObjectHandle;

    const OBJECT: ObjectHandle = ObjectHandle::new(1, 1);
    const TICK: &Taking = &Taking::new("tick");
    const LOOK: &Sharing = &Sharing::new("look");
    const HELLO: &Taking = &Taking::new("hello");

    #[test]
    fn a_second_borrow_names_who_holds_and_who_wants() {
        let cell = PartCell::new(0);
        let inner = cell.take(OBJECT, TICK, |_part| cell.share(OBJECT, LOOK, |_part| ()));
        let error = inner.expect("the outer borrow is free").expect_err("the inner is not");
        assert_eq!((error.kind(), error.held(), error.wanted()), (FailureKind::REENTRANT_BORROW, "tick", "look"));
        assert!(cell.is_free());
    }

    #[test]
    fn a_lent_part_is_borrowed_anew_and_given_back_changed() {
        let cell = PartCell::new(1);
        let seen = cell.take(OBJECT, TICK, |part| {
            *part += 1;
            let inner = cell.lend(OBJECT, part, || cell.take(OBJECT, HELLO, |part| *part *= 10));
            inner.expect("it is the very plugin part").expect("it is free");
            *part += 1;
            *part
        });
        assert_eq!(seen.expect("free"), 21);
        assert!(cell.is_free());
    }

    #[test]
    fn borrows_of_a_lent_part_go_on_from_the_reference_that_was_lent() {
        let cell = PartCell::new(vec![1]);
        let look = |wanted: usize| cell.share(OBJECT, LOOK, |part| assert_eq!(part.len(), wanted)).expect("it is lent");
        let done = cell.take(OBJECT, TICK, |part| {
            part.push(2);
            let lent = cell.lend(OBJECT, part, || {
                look(2);
                // Shared borrows inside each other, and none that would exclude them.
                let refused = cell.share(OBJECT, LOOK, |outer| {
                    look(2);
                    let refused = cell.take(OBJECT, HELLO, |_part| ()).expect_err("it is shared");
                    assert_eq!((refused.held(), outer.len()), ("look", 2));
                    refused
                });
                assert_eq!(refused.expect("it is lent").wanted(), "hello");
                cell.take(OBJECT, HELLO, |part| {
                    part.push(3);
                    assert!(cell.share(OBJECT, LOOK, |_part| ()).is_err(), "it is taken again");
                    cell.lend(OBJECT, part, || look(3)).expect("the very part");
                    assert_eq!(cell.holder(), "hello");
                    part.push(4);
                })
                .expect("it is lent");
                assert_eq!(cell.holder(), "tick");
                look(4);
            });
            lent.expect("the very part");
            part.push(5);
            part.len()
        });
        assert_eq!(done.expect("free"), 5);
        assert!(cell.is_free());
        look(5);
    }

    #[test]
    fn a_part_is_one_word_longer_than_what_is_in_it() {
        assert_eq!(size_of::<PartCell<[u64; 3]>>(), size_of::<[u64; 4]>());
        assert_eq!(size_of::<PartCell<()>>(), size_of::<usize>());
    }

    #[test]
    fn a_free_part_of_zeros_is_not_all_zeros() {
        assert!(!PartCell::new(0_u64).holder.get().is_null());
    }

    #[test]
    fn only_the_very_part_can_be_lent() {
        let cell = PartCell::new(1);
        let mut other = 5;
        let refused = cell.take(OBJECT, TICK, |_part| cell.lend(OBJECT, &mut other, || ())).expect("free");
        assert!(refused.expect_err("another half").to_string().contains("another plugin part"));
    }

    #[test]
    fn a_panic_ends_its_borrows() {
        let cell = PartCell::new(1);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            cell.take(OBJECT, TICK, |part| cell.lend(OBJECT, part, || panic!("inside")))
        }));
        assert!(caught.is_err());
        assert!(cell.is_free());
        assert_eq!(cell.holder(), "");
    }
}
