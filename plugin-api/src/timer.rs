//! Closures that the game thread runs at a later time. [`crate::task`] describes when these closures end, and the effect of a reload.
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
use crate::task::{Life, TaskHandle, Work, hand_over, here, once};

/// Runs `code` every `period` of game time, for the first time after one period, and at most once per tick. If the period is zero, `code`
/// runs in every tick. If several runs are due in one long tick, only one is made; later runs follow the original schedule. The timer ends
/// when `life` ends, when the handle cancels the timer, or when `code` fails. A panic is logged with its location. If `life` is a class
/// default object, `code` is dropped immediately, because this object is not part of the world.
///
/// The argument of `code` is the object of `life`, or [`Module`](crate::task::Module).
///
/// Callable on the game thread only. If the host refuses the timer, the running call ends with the error; [`try_every`] returns the
/// error instead.
///
/// # Examples
/// ```
/// # use alcedo_plugin_api::prelude::*;
///
/// # use std::time::Duration;
/// # #[uclass(package = "Game")]
/// # #[derive(Default)]
/// # pub struct Lamp {
/// #     #[uproperty]
/// #     is_on: bool,
/// # }
/// fn blink(this: This<'_, Lamp>) -> task::TaskHandle {
///     timer::every(this, Duration::from_millis(500), |lamp| lamp.set_is_on(!lamp.is_on()))
/// }
/// ```
#[track_caller]
pub fn every<L: Life>(life: L, period: Duration, code: impl FnMut(L::Frame<'_>) + 'static) -> TaskHandle {
    try_every(life, period, code).unwrap_or_else(|error| alcedo_rt::fail(error))
}

/// Starts a timer like [`every`], but returns an error instead of ending the running call.
///
/// # Errors
/// Fails with `WRONG_THREAD` on threads except the game thread, or with `STALE` for a destroyed object. Fails with `UNAVAILABLE` without a
/// host, or during the module's unload. Also fails in a module outside the Master.
///
/// # Examples
/// ```
/// # use alcedo_plugin_api::prelude::*;
///
/// use std::time::Duration;
///
/// // In a plugin's tests, no host runs timers.
/// let error = timer::try_every(task::Module, Duration::from_secs(1), |_module| {}).expect_err("no host");
/// assert_eq!(error.kind(), FailureKind::UNAVAILABLE);
/// ```
#[track_caller]
pub fn try_every<L: Life>(
    life: L,
    period: Duration,
    code: impl FnMut(L::Frame<'_>) + 'static,
) -> Result<TaskHandle, CallError> {
    let object = life.object();
    hand_over(Work::Repeated(life.bind(code)), JobKind::EVERY, object, period, here())
}

/// Runs `code` once, after `delay` of game time, but not before the next round of timers. The timer otherwise follows the rules of
/// [`every`].
///
/// # Examples
/// ```
/// # use alcedo_plugin_api::prelude::*;
///
/// # use std::time::Duration;
/// fn explode_later(bomb: This<'_, Object>) {
///     timer::after(bomb, Duration::from_secs(3), |bomb| {
///         if let Err(error) = bomb.destroy() {
///             tracing::warn!("no explosion: {error}");
///         }
///     });
/// }
/// ```
#[track_caller]
pub fn after<L: Life>(life: L, delay: Duration, code: impl FnOnce(L::Frame<'_>) + 'static) -> TaskHandle {
    try_after(life, delay, code).unwrap_or_else(|error| alcedo_rt::fail(error))
}

/// Starts a timer like [`after`], but returns an error instead of ending the running call.
///
/// # Errors
/// See [`try_every`].
///
/// # Examples
/// ```
/// # use alcedo_plugin_api::prelude::*;
///
/// use std::time::Duration;
///
/// fn ring_later(bell: Obj<Object>) -> bool {
///     match timer::try_after(bell, Duration::from_secs(1), |bell| tracing::info!("{} rings", bell.name())) {
///         Ok(_timer) => true,
///         Err(error) => {
///             eprintln!("no ring: {error}");
///             false
///         }
///     }
/// }
/// assert!(!ring_later(Obj::none()), "a test of a plugin has no host");
/// ```
#[track_caller]
pub fn try_after<L: Life>(
    life: L,
    delay: Duration,
    code: impl FnOnce(L::Frame<'_>) + 'static,
) -> Result<TaskHandle, CallError> {
    let object = life.object();
    hand_over(Work::Closure(once(life, code)), JobKind::AFTER, object, delay, here())
}
