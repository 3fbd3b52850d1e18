//! Steps for thunks that look at their arguments from elsewhere, as those of plugins do, and call what they like between two looks:
//! nothing is kept, and each look evaluates the argument anew.

use alcedo_base::border::CallError;

use super::{Frame, Use};
use crate::arguments::Argument;
use crate::slices::LentSlices;
use crate::values::ptr::{Ptr, PtrMut};

impl<'a> Frame<'a> {
    /// Steps to the next parameter, of whatever type it is, to evaluate it again at each look: it is not kept where it lies
    /// meanwhile. Its place among the parameters, for [`Frame::look_again`] and [`Frame::change_again`].
    ///
    /// # Errors
    /// [`CallError::Other`] when there is none left, and what goes wrong in evaluating it.
    pub fn step_again(&mut self) -> Result<usize, CallError> {
        self.next(Use::Copy)?;
        self.at += 1;
        Ok(self.at - 1)
    }

    /// Evaluates a parameter that was stepped to, and looks at it where it lies now. It is not changed meanwhile.
    ///
    /// # Errors
    /// [`CallError::Other`] when it was not stepped to; what goes wrong in evaluating it, and what `look` says.
    pub fn look_again<R>(
        &mut self,
        at: usize,
        look: impl FnOnce(Ptr<'_>) -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        let argument = self.again(at)?;
        let _held = self.params.keeper(at).map(LentSlices::hold);
        look(argument.ptr())
    }

    /// The same for an out parameter, to be written where it lies now.
    ///
    /// # Errors
    /// As for [`Frame::look_again`]; [`CallError::Other`] before [`Frame::finish`], and where it is no out parameter.
    pub fn change_again<R>(
        &mut self,
        at: usize,
        change: impl FnOnce(PtrMut<'_>) -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        self.out(at)?;
        let argument = self.again(at)?;
        let _held = self.params.keeper(at).map(LentSlices::hold);
        change(argument.ptr_mut())
    }

    fn again(&mut self, at: usize) -> Result<Argument<'a>, CallError> {
        match self.arguments.get(at).filter(|_| at < self.at) {
            Some(param) => self.evaluate(at, param),
            None => Err(CallError::other(format!(
                "the thunk of {} looks at parameter {at} and has not stepped to it",
                self.function.path
            ))),
        }
    }
}
