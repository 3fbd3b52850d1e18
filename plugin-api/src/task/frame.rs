//! The way from an [`Obj`] that a task has kept to the object itself: for one step of the task, as a method has it for
//! one call.

use alcedo_abi::call::FailureKind;
use alcedo_rt::CallError;

use crate::class::{Class, Part};
use crate::part_cell::Taking;
use crate::step::Step;
use crate::{Obj, This};

/// What borrows a plugin part for a step of a task.
const WITH_PART: &Taking = &Taking::new("with_part");

impl<C: Class> Obj<C> {
    /// The object, while `code` runs. For tasks, timers and posted closures; a method that was given a `this` says
    /// `this.get(obj)`.
    ///
    /// # Errors
    /// `STALE` when the object is gone; `WRONG_CLASS` when the handle came from an unchecked place; `WRONG_STACK` on the stack of a
    /// coroutine, which could suspend `code` and outlive the step; another one where no
    /// task, timer or posted closure of this module is running on this thread.
    pub fn with<R>(self, code: impl FnOnce(This<'_, C>) -> R) -> Result<R, CallError> {
        let step = Step::running().ok_or_else(|| {
            CallError::new(
                FailureKind::OTHER,
                "`Obj::with` is for code that a task, a timer or a posted closure is running: in a method say \
                 `this.get(obj)`; a destructor cannot reach the engine",
            )
        })?;
        self.with_in(step, code)
    }
}

impl<C: Part> Obj<C> {
    /// The object and the plugin part that this module made for it, while `code` runs: as a `&mut self` method has them.
    ///
    /// # Errors
    /// As [`Obj::with`]; `UNAVAILABLE` when this module made no plugin part of `C` for it; `REENTRANT_BORROW` when a
    /// method has it.
    pub fn with_part<R>(self, code: impl FnOnce(&mut C, This<'_, C>) -> R) -> Result<R, CallError> {
        self.with(|this| {
            let cell = this.part()?.ok_or_else(|| {
                CallError::new(
                    FailureKind::UNAVAILABLE,
                    format!("the plugin part of {} for {}", self.handle(), C::PATH),
                )
            })?;
            cell.take(self.handle(), WITH_PART, |part| code(part, this))
        })?
    }
}
