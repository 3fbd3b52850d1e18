//! Deferred code on the game thread: tasks here, timers in [`crate::timer`], and closures that any thread may [`post`].
//!
//! Tasks, timers and closures, together called jobs, end with their object, with the plugin part that the module created for the object, or
//! with the module. A reload suspends all jobs. A rollback resumes the jobs unchanged. A commit drops the jobs of replaced modules, so no
//! task continues in a new generation. Jobs of modules that the reload keeps continue. If the new generation also needs a task, start the
//! task in a red constructor, which runs again in each reload of the module. Jobs that a main function or a red constructor posts or spawns
//! run after the commit of the generation, and never run without a commit. Use jobs for operations that are refused before the commit, for
//! example calling the host or creating objects.
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
//! # fn show(this: This<'_, Sign>, obj: Obj<Sign>) {
//! task::spawn(this, async move {
//!     task::delay(Duration::from_secs(2)).await;
//!     obj.with(|this| this.set_label("awake"))?;
//!     Ok(())
//! });
//! # }
//! ```
//!
//! [`This`] is bound to one call, so the compiler rejects a [`This`] that is held across an `await`. Store the [`Obj`] instead, and
//! enter the object again by [`Obj::with`]. All times are game time: the sum of the durations of the host's ticks.

mod delay;
mod frame;
mod job;

use core::future::Future;
use core::time::Duration;

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::task::{JobId, JobKind};

use crate::{CallError, Class, Obj, This, host};

pub use delay::{Delay, delay, next_tick};
pub(crate) use job::{Site, Work, hand_over, here, site};

/// Lifetime of a job: either that of an object, passed as [`This`] or [`Obj`], or that of the whole module, passed as [`Module`]. With
/// [`Obj::none`], a task has the lifetime of the module, and a timer ends without a call of its closure.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use std::time::Duration;
///
/// /// Logs a reminder every minute, as long as `life` lasts.
/// fn remind<L: task::Life>(life: L) -> task::TaskHandle {
///     timer::every(life, Duration::from_secs(60), |_frame| tracing::info!("save the game"))
/// }
///
/// fn show(this: This<'_, Object>) {
///     remind(this); // until the object is destroyed
///     remind(task::Module); // until the module is unloaded
/// }
/// ```
pub trait Life: sealed::Sealed {
    /// Argument of a job's closure: the object for one call, or [`Module`].
    type Frame<'f>;

    #[doc(hidden)]
    fn object(&self) -> ObjectHandle;

    #[doc(hidden)]
    fn bind(self, code: impl FnMut(Self::Frame<'_>) + 'static) -> Bound;
}

/// Closure that first enters the object of its job, if the job has one, and then runs the author's code.
#[doc(hidden)]
pub type Bound = Box<dyn FnMut() -> Result<(), CallError>>;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Module {}
    impl<C> Sealed for crate::Obj<C> {}
    impl<C> Sealed for crate::This<'_, C> {}
}

/// Lifetime of the whole module. Ends when the module is unloaded or replaced.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use std::time::Duration;
///
/// /// Main of a module: cancels itself after the first tick.
/// fn started() {
///     let timer = timer::after(task::Module, Duration::from_secs(5), |_module| tracing::info!("five seconds"));
///     task::spawn(task::Module, async move {
///         task::next_tick().await;
///         timer.cancel();
///     });
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Module;

impl Life for Module {
    type Frame<'f> = Self;

    fn object(&self) -> ObjectHandle {
        ObjectHandle::NONE
    }

    fn bind(self, mut code: impl FnMut(Self) + 'static) -> Bound {
        Box::new(move || {
            code(self);
            Ok(())
        })
    }
}

impl<C: Class> Life for Obj<C> {
    type Frame<'f> = This<'f, C>;

    fn object(&self) -> ObjectHandle {
        self.handle()
    }

    fn bind(self, mut code: impl FnMut(This<'_, C>) + 'static) -> Bound {
        Box::new(move || self.with(&mut code))
    }
}

impl<C: Class> Life for This<'_, C> {
    type Frame<'f> = This<'f, C>;

    fn object(&self) -> ObjectHandle {
        This::object(self)
    }

    fn bind(self, code: impl FnMut(This<'_, C>) + 'static) -> Bound {
        self.as_obj().bind(code)
    }
}

/// Result of a task: `()`, or a `Result` whose error is logged.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
///
/// fn start(this: This<'_, Object>, target: Obj<Object>) {
///     // Without a result.
///     task::spawn(this, async { task::next_tick().await });
///     // With an error, which is logged.
///     task::spawn(this, async move {
///         task::next_tick().await;
///         target.with(|target| target.destroy())?
///     });
/// }
/// ```
pub trait Outcome: sealed_outcome::Sealed {
    #[doc(hidden)]
    fn into_result(self) -> Result<(), CallError>;
}

mod sealed_outcome {
    pub trait Sealed {}
    impl Sealed for () {}
    impl Sealed for Result<(), crate::CallError> {}
}

impl Outcome for () {
    fn into_result(self) -> Result<(), CallError> {
        Ok(())
    }
}

impl Outcome for Result<(), CallError> {
    fn into_result(self) -> Self {
        self
    }
}

/// Handle of a task or a timer. Dropping the handle has no effect. The handle may be stored in fields and sent to threads.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use std::time::Duration;
///
/// /// Plugin part of an alarm.
/// #[derive(Default)]
/// struct Alarm {
///     pending: Option<task::TaskHandle>,
/// }
///
/// impl Alarm {
///     fn set(&mut self, this: This<'_, Object>, delay: Duration) {
///         let timer = timer::after(this, delay, |this| tracing::info!("{} rings", this.name()));
///         if let Some(earlier) = self.pending.replace(timer) {
///             earlier.cancel();
///         }
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskHandle {
    job: JobId,
}

impl TaskHandle {
    /// Cancels the job. On the game thread, the job ends immediately, or when its current step returns. On any other thread or on a
    /// coroutine's stack, the call takes effect at the next safe point. The job's data is dropped on the game thread. Has no effect on a
    /// finished job. The rollback of a reload does not restart a job that was canceled before the commit. Callable on any thread.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn stop(jobs: &mut Vec<task::TaskHandle>) {
    ///     for job in jobs.drain(..) {
    ///         job.cancel();
    ///     }
    /// }
    /// ```
    pub fn cancel(self) {
        host::job_cancel(self.job);
    }

    /// Returns true if the job has ended or was canceled. Always returns true on threads except the game thread, and without a host.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn remove_finished(jobs: &mut Vec<task::TaskHandle>) {
    ///     jobs.retain(|job| !job.is_finished());
    /// }
    /// ```
    #[must_use]
    pub fn is_finished(self) -> bool {
        !host::job_lives(self.job)
    }
}

/// Runs `future` as a task on the game thread. The first step runs in the next round of tasks. Each later step runs after a call of the
/// waker, at most once per tick. The task ends when the future is ready, when `life` ends, or when the handle cancels the task. If `life`
/// is a class default object, the future is dropped immediately, because this object is not part of the world.
///
/// A panic in the task is logged with its location, and ends the task.
///
/// Callable on the game thread only. If the host refuses the task, the running call ends with the error; [`try_spawn`] returns the error
/// instead.
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
/// fn flicker(this: This<'_, Lamp>) {
///     let lamp = this.as_obj();
///     task::spawn(this, async move {
///         for _ in 0..6 {
///             task::delay(Duration::from_millis(80)).await;
///             lamp.with(|lamp| lamp.set_is_on(!lamp.is_on()))?;
///         }
///         Ok::<(), CallError>(())
///     });
/// }
/// ```
#[track_caller]
pub fn spawn<L: Life, R: Outcome + 'static>(life: L, future: impl Future<Output = R> + 'static) -> TaskHandle {
    try_spawn(life, future).unwrap_or_else(|error| alcedo_rt::fail(error))
}

/// Spawns a task like [`spawn`], but returns an error instead of ending the running call.
///
/// # Errors
/// Fails with `WRONG_THREAD` on threads except the game thread, or with `STALE` for a destroyed object. Fails with `UNAVAILABLE` without a
/// host, or during the module's unload. Also fails in a module outside the Master.
///
/// # Examples
/// ```
/// # use alcedo_plugin_api::prelude::*;
///
/// // In a plugin's tests, no host runs tasks.
/// let error = task::try_spawn(task::Module, async {}).expect_err("no host");
/// assert_eq!(error.kind(), FailureKind::UNAVAILABLE);
/// ```
#[track_caller]
pub fn try_spawn<L: Life, R: Outcome + 'static>(
    life: L,
    future: impl Future<Output = R> + 'static,
) -> Result<TaskHandle, CallError> {
    spawn_from(life.object(), async move { future.await.into_result() }, here())
}

pub(crate) fn spawn_from(
    object: ObjectHandle,
    future: impl Future<Output = Result<(), CallError>> + 'static,
    site: Site,
) -> Result<TaskHandle, CallError> {
    hand_over(Work::Task(Box::pin(future)), JobKind::TASK, object, Duration::ZERO, site)
}

/// Runs `code` on the game thread at the next safe point, after all closures that were posted earlier. If `post` is called on the game
/// thread, `code` runs after the running call has returned. Callable on any thread. If the module ends before this safe point, `code` is
/// dropped and never runs.
///
/// A panic in `code` is logged with its location.
///
/// # Errors
/// Fails with `UNAVAILABLE` without a host, while the module is being unloaded or replaced, and in a module outside the Master. A failed
/// call drops `code`.
///
/// # Examples
/// ```
/// # use alcedo_plugin_api::prelude::*;
///
/// fn load_in_background(path: String) {
///     std::thread::spawn(move || {
///         let bytes = std::fs::read(&path).unwrap_or_default();
///         let posted = task::post(move || tracing::info!("{path} has {} bytes", bytes.len()));
///         if let Err(error) = posted {
///             tracing::warn!("the result is dropped: {error}");
///         }
///     });
/// }
/// ```
#[track_caller]
pub fn post(code: impl FnOnce() + Send + 'static) -> Result<(), CallError> {
    let bound = once(Module, move |_module| code());
    post_bound(bound, ObjectHandle::NONE, here())
}

/// Posts `code` like [`post`], with an object as its argument. If the object is destroyed before `code` runs, if the reference is none, or
/// if the object is a class default object, `code` is dropped and never runs. (Red constructors also run for class default objects.)
///
/// # Errors
/// See [`post`].
///
/// # Examples
/// ```
/// # use alcedo_plugin_api::prelude::*;
/// # #[uclass(package = "Game")]
/// # #[derive(Default)]
/// # pub struct Lamp {
/// #     #[uproperty]
/// #     is_on: bool,
/// # }
/// fn switch_on_later(lamp: Obj<Lamp>) -> Result<(), CallError> {
///     task::post_to(lamp, |lamp| lamp.set_is_on(true))
/// }
///
/// let error = switch_on_later(Obj::none()).expect_err("a test of a plugin has no host");
/// assert_eq!(error.kind(), FailureKind::UNAVAILABLE);
/// ```
#[track_caller]
pub fn post_to<C: Class>(object: Obj<C>, code: impl FnOnce(This<'_, C>) + Send + 'static) -> Result<(), CallError> {
    let bound = once(object, code);
    post_bound(bound, object.handle(), here())
}

/// Returns the game time since the host started: the sum of the durations of its ticks. Returns zero on threads except the game thread, and
/// without a host.
///
/// # Examples
/// ```
/// # use alcedo_plugin_api::prelude::*;
///
/// use std::time::Duration;
///
/// /// Plugin part of a gate that closes after ten seconds of game time.
/// struct Gate {
///     opened: Duration,
/// }
///
/// impl Gate {
///     fn is_open(&self) -> bool {
///         task::game_time().saturating_sub(self.opened) < Duration::from_secs(10)
///     }
/// }
/// assert!(Gate { opened: task::game_time() }.is_open());
/// ```
#[must_use]
pub fn game_time() -> Duration {
    Duration::from_nanos(host::game_time())
}

fn post_bound(bound: Bound, object: ObjectHandle, site: Site) -> Result<(), CallError> {
    hand_over(Work::Closure(bound), JobKind::POSTED, object, Duration::ZERO, site).map(drop)
}

/// Wraps a closure that can run only once. Later calls of the wrapper have no effect.
pub(crate) fn once<L: Life>(life: L, code: impl FnOnce(L::Frame<'_>) + 'static) -> Bound {
    let mut code = Some(code);
    life.bind(move |frame| {
        if let Some(code) = code.take() {
            code(frame);
        }
    })
}
