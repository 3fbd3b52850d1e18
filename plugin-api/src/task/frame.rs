//! Access to an object whose [`Obj`] a task has stored. The access lasts for one step of the task.

use alcedo_abi::call::FailureKind;
use alcedo_rt::CallError;

use crate::class::{Class, Part};
use crate::part_cell::Taking;
use crate::step::Step;
use crate::{Obj, This};

/// Static holder for the borrow by [`Obj::with_part`], used if the plugin part is free.
const WITH_PART: &Taking = &Taking::new("with_part");

impl<C: Class> Obj<C> {
    /// Runs `code` with the object. For use in tasks, timers and posted closures. A method that receives `this` uses `this.get(obj)`
    /// instead.
    ///
    /// # Errors
    /// Fails with `STALE` for a destroyed object, or with `WRONG_CLASS` if an unchecked handle refers to an object whose class is neither
    /// `C` nor a subclass. Fails with `WRONG_STACK` on a coroutine's stack, because a coroutine could suspend `code` beyond the current
    /// step of the task. Also fails if no task, timer or posted closure of this module is running on this thread.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// // Outside of tasks, timers and posted closures, code uses `this.get(obj)`.
    /// let error = Obj::<Object>::none().with(|this| this.name()).expect_err("no task is running");
    /// assert_eq!(error.kind(), FailureKind::OTHER);
    ///
    /// fn greet_later(this: This<'_, Object>, guest: Obj<Object>) {
    ///     task::spawn(this, async move {
    ///         task::next_tick().await;
    ///         let name = guest.with(|guest| guest.name())?;
    ///         tracing::info!("Hello, {name}!");
    ///         Ok::<(), CallError>(())
    ///     });
    /// }
    /// ```
    pub fn with<R>(self, code: impl FnOnce(This<'_, C>) -> R) -> Result<R, CallError> {
        let step = Step::running().ok_or_else(|| {
            CallError::other(
                "`Obj::with` can be used only in a task, a timer or a posted closure: in a method, call \
                 `this.get(obj)`; a destructor cannot access objects",
            )
        })?;
        self.with_in(step, code)
    }
}

impl<C: Part> Obj<C> {
    /// Runs `code` with the object and the plugin part that this module has created for the object. The part is borrowed as in a `&mut
    /// self` method.
    ///
    /// # Errors
    /// See [`Obj::with`]. Also fails with `UNAVAILABLE` if this module created no plugin part of `C` for the object, or with
    /// `REENTRANT_BORROW` if a method has borrowed the plugin part.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// #[uclass(package = "Game")]
    /// #[derive(Default)]
    /// pub struct Miner {
    ///     ore: u32,
    /// }
    ///
    /// fn mine(this: This<'_, Miner>) {
    ///     let miner = this.as_obj();
    ///     task::spawn(this, async move {
    ///         for _ in 0..100 {
    ///             task::next_tick().await;
    ///             miner.with_part(|part, _this| part.ore += 1)?;
    ///         }
    ///         Ok::<(), CallError>(())
    ///     });
    /// }
    /// ```
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
