//! What a direct call uses in a red frame without a share of its own, since the end of a host is put off until the outermost red frame has
//! closed: a handle to the host, and the body of a registered function. A share would be two writes to a count in each call, each of
//! which waits for the one before.
#![expect(unsafe_code, reason = "uses what a red frame keeps without counting a share")]

use std::cell::UnsafeCell;
use std::mem::ManuallyDrop;
use std::rc::Rc;

use super::{Runtime, WeakRuntime};

/// A handle to the host that is not counted; none where no handle is left. Clones of it are counted.
///
/// # Safety
/// A red frame of that host is open as long as it is used.
#[inline]
pub(super) unsafe fn runtime_in_a_frame(weak: &WeakRuntime) -> Option<ManuallyDrop<Runtime>> {
    // SAFETY: there is a handle now, so the pointer is that of a living value. The last handle goes when no red frame is open: until then
    // `Runtime::end` keeps another. What is made here is never dropped, so it takes from the count as little as it adds to it.
    weak.is_there().then(|| ManuallyDrop::new(Runtime { inner: unsafe { Rc::from_raw(weak.inner.as_ptr()) } }))
}

/// The body of a registered function, until the host ends.
pub(super) struct KeptBody<B>(UnsafeCell<Option<Rc<B>>>);

impl<B> KeptBody<B> {
    /// This body.
    pub(super) fn new(body: B) -> Self {
        Self(UnsafeCell::new(Some(Rc::new(body))))
    }

    /// A share of it.
    pub(super) fn share(&self) -> Option<Rc<B>> {
        // SAFETY: the cell is of one thread, and no other code runs while this reference is there: a share is a count.
        unsafe { (*self.0.get()).clone() }
    }

    /// Takes it out.
    pub(super) fn take(&self) -> Option<Rc<B>> {
        // SAFETY: as in `share`; nothing is dropped here. Whoever looks at the body by `look` has promised that this is not called.
        unsafe { (*self.0.get()).take() }
    }

    /// The body where it stands.
    ///
    /// # Safety
    /// It is not taken out as long as this is used.
    #[inline]
    pub(super) unsafe fn look(&self) -> Option<&B> {
        // SAFETY: as in `share`; what is given out lies behind the `Rc`, which stays, as the caller promises.
        unsafe { (*self.0.get()).as_deref() }
    }
}

#[cfg(test)]
mod tests {
    use super::runtime_in_a_frame;
    use crate::Runtime;

    #[test]
    fn a_handle_that_is_not_counted_leaves_the_count_as_it_was_and_its_clones_do_not() {
        let runtime = Runtime::builder().build().expect("a runtime");
        let weak = runtime.downgrade();
        let handles = || weak.inner.strong_count();
        // SAFETY: nobody drops the handle meanwhile.
        let seen = unsafe { runtime_in_a_frame(&weak) }.expect("there is a handle");
        assert_eq!(handles(), 1);
        let clone = Runtime::clone(&seen);
        assert_eq!(handles(), 2);
        drop(clone);
        assert_eq!(handles(), 1);
        drop(runtime);
        // SAFETY: nothing is there, so nothing is used.
        assert!(unsafe { runtime_in_a_frame(&weak) }.is_none());
    }
}
