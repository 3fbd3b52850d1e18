//! Access without reference counting to the host and to the body of a registered function, for direct calls in a red frame. A host ends
//! only after the outermost red frame has closed. A direct call therefore needs no counted reference. Counting would cost two dependent
//! writes.
#![expect(unsafe_code, reason = "uses values that a red frame keeps alive, without counting a reference")]

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::rc::Rc;

use super::{Runtime, WeakRuntime};
use crate::boundary::CallError;

/// Returns an uncounted handle of the host. Returns `None` if no counted handle remains. Clones of the result are counted.
///
/// # Safety
/// A red frame of the host must stay open while the result is used.
#[inline]
pub(super) unsafe fn runtime_in_a_frame(weak: &WeakRuntime) -> Option<ManuallyDrop<Runtime>> {
    // SAFETY: a handle exists now, so the pointer is valid. The last handle is not dropped while a red frame is open, because
    // `Runtime::end` then keeps another handle. The result is never dropped, so the count stays correct.
    weak.is_there().then(|| ManuallyDrop::new(Runtime { inner: unsafe { Rc::from_raw(weak.inner.as_ptr()) } }))
}

/// Code that the host has registered, such as the body of a function. Empty after the host has ended.
pub(super) struct KeptBody<B: ?Sized>(Cell<Option<Rc<B>>>);

impl<B: ?Sized> KeptBody<B> {
    pub(super) fn new(body: Rc<B>) -> Self {
        Self(Cell::new(Some(body)))
    }

    /// Returns the code. Returns the error [`ended`] if the host has ended.
    pub(super) fn share(&self) -> Result<Rc<B>, CallError> {
        let body = self.0.take();
        self.0.set(body.clone());
        body.ok_or_else(ended)
    }

    pub(super) fn take(&self) -> Option<Rc<B>> {
        self.0.take()
    }

    /// Borrows the body without counting a reference.
    ///
    /// # Safety
    /// The body must not be removed from this cell while the result is used.
    #[inline]
    pub(super) unsafe fn borrow(&self) -> Option<&B> {
        // SAFETY: the cell belongs to one thread, and no other code runs while the reference to its contents exists. The result points to
        // the allocation of the `Rc`. The caller promises that the body is not taken out. `share` moves the `Rc` out of the cell and back,
        // but does not move the body.
        unsafe { (*self.0.as_ptr()).as_deref() }
    }
}

/// Returns the error of a call of a host function after the host has ended.
#[cold]
pub(super) fn ended() -> CallError {
    CallError::Unavailable { what: "the runtime".into() }
}

#[cfg(test)]
mod tests {
    use super::runtime_in_a_frame;
    use crate::Runtime;

    #[test]
    fn uncounted_handles_leave_the_count_and_their_clones_add_to_it() {
        let runtime = Runtime::builder().build().expect("a runtime");
        let weak = runtime.downgrade();
        let handles = || weak.inner.strong_count();
        // SAFETY: no code drops the handle while `seen` is used.
        let seen = unsafe { runtime_in_a_frame(&weak) }.expect("there is a handle");
        assert_eq!(handles(), 1);
        let clone = Runtime::clone(&seen);
        assert_eq!(handles(), 2);
        drop(clone);
        assert_eq!(handles(), 1);
        drop(runtime);
        // SAFETY: no handle exists, so the result is `None` and is not used.
        assert!(unsafe { runtime_in_a_frame(&weak) }.is_none());
    }
}
