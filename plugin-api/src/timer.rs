//! Closures that the game thread runs at a later time. See [`crate::task`] for their end and their behavior in a reload.
//!
//! ```no_run
//! # use alcedo_plugin_api::prelude::*;
//! # use core::time::Duration;
//! # #[uclass(package = "Game")]
//! # #[derive(Default)]
//! # pub struct Sign {
//! #     #[uproperty]
//! #     label: String,
//! # }
//! # fn show(this: This<'_, Sign>) {
//! timer::every(this, Duration::from_millis(500), |this| this.set_label("tick"));
//! # }
//! ```

use core::time::Duration;

use alcedo_abi::task::JobKind;

use crate::CallError;
use crate::task::{Life, TaskHandle, When, Work, hand_over, here, once};

/// Runs `code` every `period` of game time, the first time after one period; a period of zero means every tick. Runs at most
/// once per tick: the rhythm is kept, and runs missed during a long tick are skipped. The timer ends with `life`, by its
/// handle, or when `code` fails: a panic is logged with its location. For a class default object, which is not part of the
/// world, `code` is dropped immediately.
///
/// The argument of `code` is the object of `life`, or [`Module`](crate::task::Module).
///
/// Game thread only. If the host refuses, the running call ends with that error; [`try_every`] returns the error instead.
#[track_caller]
pub fn every<L: Life>(life: L, period: Duration, code: impl FnMut(L::Frame<'_>) + 'static) -> TaskHandle {
    try_every(life, period, code).unwrap_or_else(|error| alcedo_rt::fail(error))
}

/// Starts a timer like [`every`], but returns errors.
///
/// # Errors
/// `WRONG_THREAD` off the game thread, `STALE` for a destroyed object, `UNAVAILABLE` while the module is being unloaded.
#[track_caller]
pub fn try_every<L: Life>(
    life: L,
    period: Duration,
    code: impl FnMut(L::Frame<'_>) + 'static,
) -> Result<TaskHandle, CallError> {
    let (object, when) = (life.object(), When { delay: period, period });
    hand_over(Work::Repeated(life.bind(code)), JobKind::EVERY, object, when, here())
}

/// Runs `code` once after `delay` of game time; at the earliest in the next round of timers. Otherwise like [`every`].
#[track_caller]
pub fn after<L: Life>(life: L, delay: Duration, code: impl FnOnce(L::Frame<'_>) + 'static) -> TaskHandle {
    try_after(life, delay, code).unwrap_or_else(|error| alcedo_rt::fail(error))
}

/// Starts a timer like [`after`], but returns errors.
///
/// # Errors
/// See [`try_every`].
#[track_caller]
pub fn try_after<L: Life>(
    life: L,
    delay: Duration,
    code: impl FnOnce(L::Frame<'_>) + 'static,
) -> Result<TaskHandle, CallError> {
    let (object, when) = (life.object(), When { delay, period: Duration::ZERO });
    hand_over(Work::Closure(once(life, code)), JobKind::AFTER, object, when, here())
}
