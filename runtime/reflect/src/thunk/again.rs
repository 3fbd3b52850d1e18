//! Access to arguments for thunks that may run arbitrary code between two accesses, such as the thunks of plugins. Each access evaluates
//! the argument again.

use alcedo_base::boundary::CallError;

use super::{Frame, Use};
use crate::arguments::Argument;
use crate::slices::BorrowedSlices;
use crate::values::ptr::{Ptr, PtrMut};

impl<'a> Frame<'a> {
    /// Steps to the next parameter. Returns the index of the parameter for [`Frame::read_again`] and [`Frame::change_again`], which
    /// evaluate the parameter again.
    ///
    /// # Errors
    /// Returns [`CallError::Other`] if all parameters were taken. Also returns the error of the evaluation.
    pub fn step_again(&mut self) -> Result<usize, CallError> {
        self.next(Use::Copy)?;
        self.at += 1;
        Ok(self.at - 1)
    }

    /// Evaluates the parameter with index `at`, and passes its value to `read`. The frame must have stepped to the parameter. The value
    /// cannot change during `read`.
    ///
    /// # Errors
    /// Returns [`CallError::Other`] if the frame has not stepped to the parameter. Also returns the error of the evaluation and the error
    /// of `read`.
    pub fn read_again<R>(
        &mut self,
        at: usize,
        read: impl FnOnce(Ptr<'_>) -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        let argument = self.again(at)?;
        let _held = self.params.borrow_counter(at).map(BorrowedSlices::hold);
        read(argument.ptr())
    }

    /// Evaluates an out parameter, and passes a writable pointer to its value to `change`.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::read_again`]. Returns [`CallError::Other`] before [`Frame::finish`], and if the parameter is not an
    /// out parameter. Also returns [`CallError::Other`] if `change` has changed the length of a fixed array, which then has its declared
    /// length again.
    pub fn change_again<R>(
        &mut self,
        at: usize,
        change: impl FnOnce(PtrMut<'_>) -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        self.out(at)?;
        let argument = self.again(at)?;
        let _held = self.params.borrow_counter(at).map(BorrowedSlices::hold);
        let changed = change(argument.ptr_mut());
        let restored = argument.restore_length();
        changed.and_then(|changed| restored.map(|()| changed))
    }

    fn again(&mut self, at: usize) -> Result<Argument<'a>, CallError> {
        match self.arguments.get(at).filter(|_| at < self.at) {
            Some(param) => self.evaluate(at, param),
            None => Err(CallError::other(format!(
                "the thunk of {} accesses parameter {at} before stepping to it",
                self.function.path
            ))),
        }
    }
}
