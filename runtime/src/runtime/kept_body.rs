//! Code that the host has registered, such as the body of a function. The shutdown of the host takes the code out of its cell.

use std::cell::Cell;
use std::rc::Rc;

use crate::boundary::CallError;

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

    /// Returns the address of the cell's content. `share` moves the `Rc` out of the cell and back, but does not move the body.
    #[inline]
    pub(super) fn as_ptr(&self) -> *const Option<Rc<B>> {
        self.0.as_ptr()
    }
}

/// Returns the error of a call of a host function after the host has ended.
#[cold]
pub(super) fn ended() -> CallError {
    CallError::Unavailable { what: "the runtime".into() }
}
