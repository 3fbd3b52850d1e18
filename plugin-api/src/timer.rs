//! Closures that the game thread runs when their time has come. What ends them, and what a reload does with them, is
//! said in [`crate::task`].
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

/// Runs `code` every `period` of game time, the first time after one period; a period of zero is every tick. It runs
/// once in a tick at most: the rhythm is kept, and what a long tick left out is not made up for. It ends with `life`, by
/// its handle, or when it fails: a panic is logged with its place. For a class default object, which does not live in
/// the world, it is dropped at once.
///
/// `code` is given the object that it lives with, or [`Module`](crate::task::Module).
///
/// Game thread only. When the host refuses, the running call ends with that error; [`try_every`] returns it.
#[track_caller]
pub fn every<L: Life>(life: L, period: Duration, code: impl FnMut(L::Frame<'_>) + 'static) -> TaskHandle {
    try_every(life, period, code).unwrap_or_else(|error| alcedo_rt::fail(error))
}

/// As [`every`].
///
/// # Errors
/// `WRONG_THREAD` off the game thread, `STALE` when the object is gone, `UNAVAILABLE` when the module is being unloaded.
#[track_caller]
pub fn try_every<L: Life>(
    life: L,
    period: Duration,
    code: impl FnMut(L::Frame<'_>) + 'static,
) -> Result<TaskHandle, CallError> {
    let (object, when) = (life.object(), When { delay: period, period });
    hand_over(Work::Repeated(life.bind(code)), JobKind::EVERY, object, when, here())
}

/// Runs `code` once, when so much game time has gone by; at the earliest with the next round of timers. What else is
/// said of [`every`] holds for it too.
#[track_caller]
pub fn after<L: Life>(life: L, delay: Duration, code: impl FnOnce(L::Frame<'_>) + 'static) -> TaskHandle {
    try_after(life, delay, code).unwrap_or_else(|error| alcedo_rt::fail(error))
}

/// As [`after`].
///
/// # Errors
/// As [`try_every`].
#[track_caller]
pub fn try_after<L: Life>(
    life: L,
    delay: Duration,
    code: impl FnOnce(L::Frame<'_>) + 'static,
) -> Result<TaskHandle, CallError> {
    let (object, when) = (life.object(), When { delay, period: Duration::ZERO });
    hand_over(Work::Closure(once(life, code)), JobKind::AFTER, object, when, here())
}
