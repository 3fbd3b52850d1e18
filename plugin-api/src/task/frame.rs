//! The way from an [`Obj`] that a task has kept to the object itself: for one step of the task, as a method has it for
//! one call.
#![expect(unsafe_code, reason = "makes frame-bound values for the running step")]

use core::cell::Cell;

use alcedo_abi::call::FailureKind;
use alcedo_rt::CallError;

use crate::class::{Class, Part};
use crate::part_cell::PartCell;
use crate::{Obj, This, host};

thread_local! {
    /// How many steps of jobs are on this thread's stack, unless what a job held is being dropped. No destructor.
    static STEPS: Cell<u32> = const { Cell::new(0) };
}

/// Runs one step of a job: objects can be entered meanwhile.
pub(super) fn step<R>(code: impl FnOnce() -> R) -> R {
    let _restore = Restore(STEPS.replace(STEPS.get() + 1));
    code()
}

/// Runs a drop: like every other drop of plugin code, it does not reach the engine.
pub(super) fn ending<R>(code: impl FnOnce() -> R) -> R {
    let _restore = Restore(STEPS.replace(0));
    code()
}

struct Restore(u32);

impl Drop for Restore {
    fn drop(&mut self) {
        STEPS.set(self.0);
    }
}

impl<C: Class> Obj<C> {
    /// The object, while `code` runs. For tasks, timers and posted closures; a method that was given a `this` says
    /// `this.get(obj)`.
    ///
    /// # Errors
    /// `STALE` when the object is gone; `WRONG_CLASS` when the handle came from an unchecked place; another one where no
    /// task, timer or posted closure of this module is running on this thread.
    pub fn with<R>(self, code: impl FnOnce(This<'_, C>) -> R) -> Result<R, CallError> {
        if STEPS.get() == 0 {
            return Err(CallError::new(
                FailureKind::OTHER,
                "`Obj::with` is for code that a task, a timer or a posted closure is running: in a method say \
                 `this.get(obj)`; a destructor cannot reach the engine",
            ));
        }
        let memory = host::object_memory(self.handle(), C::id())?;
        // SAFETY: the host found the object alive and of that class. A step of a job runs in a red frame of the
        // host's, and the memory is kept until the safe point, which lies after it.
        Ok(code(unsafe { This::new(self.handle(), memory) }))
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
            let cell = host::part(self.handle(), C::id())?;
            // SAFETY: the host gives back what this module's red constructor made for this object and class, and keeps
            // it for the frame.
            let cell = unsafe { cell.0.cast::<PartCell<C>>().as_ref() };
            let cell = cell.ok_or_else(|| {
                CallError::new(
                    FailureKind::UNAVAILABLE,
                    format!("the plugin part of {} for {}", self.handle(), C::PATH),
                )
            })?;
            cell.take(self.handle(), "with_part", |part| code(part, this))
        })?
    }
}
