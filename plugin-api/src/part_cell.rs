//! Memory of a plugin part. A borrow state, whose rules are in `alcedo_abi::borrows`, is checked at run time.
#![expect(unsafe_code, reason = "returns references that the borrow state allows")]

use core::cell::{Cell, UnsafeCell};
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use alcedo_abi::borrows::{Borrows, Event};
use alcedo_abi::handles::ObjectHandle;
use alcedo_rt::CallError;

/// State of a borrow of a plugin part, and the name of the borrowing method. Each method has a static `Holder`, which it uses if the part
/// is free, so that the borrow writes only one word of the cell. If the part is already borrowed, the method creates its `Holder` on the
/// stack.
#[derive(Debug)]
struct Holder {
    state: Borrows,
    name: &'static str,
    /// Set while an exclusive borrow is lent. New borrows derive from this pointer, which itself derives from the lent reference.
    borrowed: Option<NonNull<()>>,
}

/// Static holder of a `&self` method, used if the part is free.
#[derive(Debug)]
pub(crate) struct Sharing(Holder);

impl Sharing {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self(Holder::alone(name, Event::Share))
    }
}

/// Static holder of a `&mut self` method, used if the part is free.
#[derive(Debug)]
pub(crate) struct Taking(Holder);

impl Taking {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self(Holder::alone(name, Event::Take))
    }
}

/// Static holders of a method, for `&self` and for `&mut self`.
#[derive(Debug)]
pub struct Holders {
    pub(crate) sharing: Sharing,
    pub(crate) taking: Taking,
}

impl Holders {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { sharing: Sharing::new(name), taking: Taking::new(name) }
    }
}

/// Stack memory for the holder of a borrow that begins while other borrows are active.
pub struct Space(MaybeUninit<Holder>);

impl Space {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self(MaybeUninit::uninit())
    }
}

impl Holder {
    const fn alone(name: &'static str, event: Event) -> Self {
        match Borrows::FREE.step(event) {
            Some(state) => Self { state, name, borrowed: None },
            None => panic!("a free part can be borrowed"),
        }
    }
}

/// Holder address of a free part: dangling and not null. With a null pointer, a box of a part whose fields are all zero would be a zeroed
/// allocation. The optimizer of Rust 1.95 turns a zeroed allocation into a separate call. The optimizer loses this call when it inlines
/// across the codegen units of a larger library, and the compiler crashes.
const FREE: *const Holder = NonNull::dangling().as_ptr();

/// Active borrows of a plugin part. The type is not generic, so that builds without optimization compile its code only once, in this
/// crate. Optimized builds always inline the code.
struct State {
    /// Holder of the most recent active borrow, or [`FREE`]. The holder is stored in the module's image, or in the stack frame of the call
    /// that sets and restores this pointer.
    holder: Cell<*const Holder>,
}

impl State {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_free(&self) -> bool {
        self.holder.get() == FREE
    }

    #[cfg_attr(not(debug_assertions), inline)]
    fn holder(&self) -> &'static str {
        self.last().map_or("", |holder| holder.name)
    }

    #[cfg_attr(not(debug_assertions), inline)]
    fn last(&self) -> Option<&Holder> {
        // SAFETY: the holder is in the image, or in a call on the stack that restores the previous holder when it returns or unwinds.
        (!self.is_free()).then(|| unsafe { &*self.holder.get() })
    }

    /// Begins a borrow of the part's content at `own`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn begin<'a>(
        &'a self,
        own: *mut (),
        object: ObjectHandle,
        requested: &'static Holder,
        event: Event,
        space: &'a mut Space,
    ) -> Result<(*mut (), Hold<'a>), CallError> {
        if self.is_free() {
            return Ok((own, self.hold(requested)));
        }
        let here: &'a Holder = space.0.write(self.after(object, requested.name, event)?);
        Ok((here.borrowed.map_or(own, NonNull::as_ptr), self.hold(here)))
    }

    /// Creates the holder of a borrow that begins while other borrows are active.
    #[cold]
    fn after(&self, object: ObjectHandle, name: &'static str, event: Event) -> Result<Holder, CallError> {
        let (state, borrowed) = self.last().map_or((Borrows::FREE, None), |last| (last.state, last.borrowed));
        let state = state.step(event).ok_or_else(|| CallError::reentrant(object, self.holder(), name))?;
        Ok(Holder { state, name, borrowed })
    }

    /// Records `holder` as the most recent borrow. `holder` must not move until the returned value is dropped.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn hold(&self, holder: *const Holder) -> Hold<'_> {
        Hold { cell: &self.holder, before: self.holder.replace(holder) }
    }
}

/// Plugin part with its borrow state. Never shared between threads: only the game thread uses the part, and the finalizer thread drops the
/// part afterwards. The cell is only one word larger than the part, so that iterating over many objects is cheap. The state is at the start
/// of the cell, so that code can borrow a part without its class.
#[doc(hidden)]
#[repr(C)]
pub struct PartCell<C> {
    state: State,
    part: UnsafeCell<C>,
}

/// Checks that the part in the cell at `part` can be borrowed shared.
///
/// # Errors
/// See [`PartCell::shared`].
///
/// # Safety
/// `part` points to a live `PartCell<C>` of any `C`.
pub(crate) unsafe fn check_shared(part: *mut (), requested: &'static Sharing) -> Result<(), CallError> {
    // SAFETY: the caller promises a cell, which has its state at its start.
    let state = unsafe { &*part.cast::<State>() };
    state.begin(part, ObjectHandle::NONE, &requested.0, Event::Share, &mut Space::new()).map(drop)
}

impl<C> PartCell<C> {
    pub(crate) fn new(part: C) -> Self {
        Self { state: State { holder: Cell::new(FREE) }, part: UnsafeCell::new(part) }
    }

    /// Runs `code` with an exclusive borrow of the part, like the borrow of a `&mut self` method.
    ///
    /// # Errors
    /// Fails with `REENTRANT_BORROW` while a method that has not lent its `self` borrows the part.
    #[inline]
    pub(crate) fn take<R>(
        &self,
        object: ObjectHandle,
        requested: &'static Taking,
        code: impl FnOnce(&mut C) -> R,
    ) -> Result<R, CallError> {
        Ok(code(self.taken(object, requested, &mut Space::new())?.part()))
    }

    /// Begins the borrow of a `&self` method. The function has no closure parameter, so its compiled code depends only on the class, and
    /// all methods of the class share this code.
    ///
    /// # Errors
    /// Fails with `REENTRANT_BORROW` while a `&mut self` method that has not lent its `self` borrows the part.
    #[inline(always)]
    pub(crate) fn shared<'a>(
        &'a self,
        object: ObjectHandle,
        requested: &'static Sharing,
        space: &'a mut Space,
    ) -> Result<Shared<'a, C>, CallError> {
        match self.state.begin(self.own(), object, &requested.0, Event::Share, space) {
            Ok((part, _hold)) => Ok(Shared { part: part.cast(), _hold }),
            Err(error) => Err(error),
        }
    }

    /// Begins the borrow of a `&mut self` method.
    ///
    /// # Errors
    /// See [`Self::take`].
    #[inline(always)]
    pub(crate) fn taken<'a>(
        &'a self,
        object: ObjectHandle,
        requested: &'static Taking,
        space: &'a mut Space,
    ) -> Result<Taken<'a, C>, CallError> {
        match self.state.begin(self.own(), object, &requested.0, Event::Take, space) {
            Ok((part, _hold)) => Ok(Taken { part: part.cast(), _hold }),
            Err(error) => Err(error),
        }
    }

    /// Allows calls in `code` to borrow the plugin part again. `part` is the caller's exclusive borrow and remains unused during `code`.
    ///
    /// # Errors
    /// Fails if `part` belongs to a different object, or if `part` is already lent.
    pub(crate) fn reborrow<R>(
        &self,
        object: ObjectHandle,
        part: &mut C,
        code: impl FnOnce() -> R,
    ) -> Result<R, CallError> {
        let part = NonNull::from(part).cast();
        if part.as_ptr() != self.own() {
            return Err(CallError::other(format!(
                "{object}: `lend` was called with another plugin part: pass the `self` of the method that received `this`"
            )));
        }
        let name = self.holder();
        let holder = Holder { borrowed: Some(part), ..self.state.after(object, name, Event::Reborrow)? };
        let _loan = self.state.hold(&raw const holder);
        Ok(code())
    }

    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        self.state.is_free()
    }

    /// Returns the name of the most recent method that borrows the part and has not returned; empty for a free part.
    #[inline]
    pub(crate) fn holder(&self) -> &'static str {
        self.state.holder()
    }

    /// Returns a pointer to the content, regardless of active borrows.
    #[inline(always)]
    fn own(&self) -> *mut () {
        self.part.get().cast()
    }
}

/// Active borrow or loan. Dropping the value restores the previous holder, even during unwinding.
struct Hold<'a> {
    cell: &'a Cell<*const Holder>,
    before: *const Holder,
}

impl Drop for Hold<'_> {
    #[inline]
    fn drop(&mut self) {
        self.cell.set(self.before);
    }
}

/// Borrow of a `&self` method.
pub struct Shared<'a, C> {
    part: *mut C,
    _hold: Hold<'a>,
}

/// Borrow of a `&mut self` method.
pub struct Taken<'a, C> {
    part: *mut C,
    _hold: Hold<'a>,
}

impl<C> Shared<'_, C> {
    #[inline(always)]
    pub(crate) fn part(&self) -> &C {
        // SAFETY: the state allows a shared borrow, so no exclusive borrow is in use until this value is dropped.
        // The pointer is the cell's own or derived from the lent exclusive reference, which is unused until then.
        unsafe { &*self.part }
    }
}

impl<C> Taken<'_, C> {
    #[inline(always)]
    pub(crate) fn part(&mut self) -> &mut C {
        // SAFETY: the state allows an exclusive borrow, so no other borrow is in use until this value is dropped.
        // The pointer is the cell's own or derived from the lent exclusive reference, which is unused until then.
        unsafe { &mut *self.part }
    }
}

#[cfg(test)]
mod tests {
    use super::{PartCell, Sharing, Space, Taking};
    use alcedo_abi::call::FailureKind;
    use alcedo_abi::handles::ObjectHandle;
    use alcedo_rt::CallError;

    impl<C> PartCell<C> {
        fn share<R>(
            &self,
            object: ObjectHandle,
            requested: &'static Sharing,
            code: impl FnOnce(&C) -> R,
        ) -> Result<R, CallError> {
            Ok(code(self.shared(object, requested, &mut Space::new())?.part()))
        }
    }

    const OBJECT: ObjectHandle = ObjectHandle::new(1, 1);
    const TICK: &Taking = &Taking::new("tick");
    const READ: &Sharing = &Sharing::new("look");
    const HELLO: &Taking = &Taking::new("hello");

    #[test]
    fn a_second_borrow_names_the_holder_and_the_requester() {
        let cell = PartCell::new(0);
        let inner = cell.take(OBJECT, TICK, |_part| cell.share(OBJECT, READ, |_part| ()));
        let error = inner.expect("the outer borrow is free").expect_err("the inner is not");
        assert_eq!((error.kind(), error.held(), error.expected()), (FailureKind::REENTRANT_BORROW, "tick", "look"));
        assert!(cell.is_free());
    }

    #[test]
    fn a_reborrowed_part_is_borrowed_again_and_returned_changed() {
        let cell = PartCell::new(1);
        let value = cell.take(OBJECT, TICK, |part| {
            *part += 1;
            let inner = cell.reborrow(OBJECT, part, || cell.take(OBJECT, HELLO, |part| *part *= 10));
            inner.expect("it is the very plugin part").expect("it is free");
            *part += 1;
            *part
        });
        assert_eq!(value.expect("free"), 21);
        assert!(cell.is_free());
    }

    #[test]
    fn borrows_of_a_reborrowed_part_derive_from_the_first_reference() {
        let cell = PartCell::new(vec![1]);
        let read =
            |expected: usize| cell.share(OBJECT, READ, |part| assert_eq!(part.len(), expected)).expect("it is lent");
        let done = cell.take(OBJECT, TICK, |part| {
            part.push(2);
            let borrowed = cell.reborrow(OBJECT, part, || {
                read(2);
                // While nested shared borrows are active, no exclusive borrow can begin.
                let refused = cell.share(OBJECT, READ, |outer| {
                    read(2);
                    let refused = cell.take(OBJECT, HELLO, |_part| ()).expect_err("it is shared");
                    assert_eq!((refused.held(), outer.len()), ("look", 2));
                    refused
                });
                assert_eq!(refused.expect("it is lent").expected(), "hello");
                cell.take(OBJECT, HELLO, |part| {
                    part.push(3);
                    assert!(cell.share(OBJECT, READ, |_part| ()).is_err(), "it is taken again");
                    cell.reborrow(OBJECT, part, || read(3)).expect("the very part");
                    assert_eq!(cell.holder(), "hello");
                    part.push(4);
                })
                .expect("it is lent");
                assert_eq!(cell.holder(), "tick");
                read(4);
            });
            borrowed.expect("the very part");
            part.push(5);
            part.len()
        });
        assert_eq!(done.expect("free"), 5);
        assert!(cell.is_free());
        read(5);
    }

    #[test]
    fn a_part_is_one_word_longer_than_what_is_in_it() {
        assert_eq!(size_of::<PartCell<[u64; 3]>>(), size_of::<[u64; 4]>());
        assert_eq!(size_of::<PartCell<()>>(), size_of::<usize>());
    }

    #[test]
    fn a_free_part_of_zeros_is_not_all_zeros() {
        assert!(!PartCell::new(0_u64).state.holder.get().is_null());
    }

    #[test]
    fn only_the_part_of_the_object_can_be_reborrowed() {
        let cell = PartCell::new(1);
        let mut other = 5;
        let refused = cell.take(OBJECT, TICK, |_part| cell.reborrow(OBJECT, &mut other, || ())).expect("free");
        assert!(refused.expect_err("another half").to_string().contains("another plugin part"));
    }

    #[test]
    fn a_panic_ends_its_borrows() {
        let cell = PartCell::new(1);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            cell.take(OBJECT, TICK, |part| cell.reborrow(OBJECT, part, || panic!("inside")))
        }));
        assert!(caught.is_err());
        assert!(cell.is_free());
        assert_eq!(cell.holder(), "");
    }
}
