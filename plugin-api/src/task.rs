//! Code that the game thread runs later: tasks here, timers in [`crate::timer`], and closures that any thread may
//! [`post`].
//!
//! All of it ends by itself: with the object it was asked for, with the plugin part of that object, or with the module.
//! A reload sets it aside; when the reload is rolled back it goes on as if nothing had been, and when it is committed it
//! is dropped: no task goes on in a new generation. What shall run there too is asked for in a red constructor, which
//! runs again in each reload.
//!
//! What a main or a red constructor posts or spawns runs after the commit of its generation, or never. So this is also
//! the way to do what is refused before: to call the host, to make objects.
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
//! [`This`] is bound to one call and cannot be held over an `await`, which the compiler sees to: keep the [`Obj`] and
//! enter it anew with [`Obj::with`]. Time is the game's: the sum of what the host's ticks stood for.

mod delay;
mod frame;
mod job;

use core::future::Future;
use core::time::Duration;

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::task::{JobId, JobKind};

use crate::{CallError, Class, Obj, This, host};

pub use delay::{Delay, delay, next_tick};
pub(crate) use job::{Site, When, Work, hand_over, here, site};

/// What a job lives with: an object, as [`This`] or [`Obj`], or the whole [`Module`].
pub trait Life: sealed::Sealed {
    /// What a closure is given when it is run: the object for one call, or [`Module`].
    type Frame<'f>;

    #[doc(hidden)]
    fn object(&self) -> ObjectHandle;

    #[doc(hidden)]
    fn bind(self, code: impl FnMut(Self::Frame<'_>) + 'static) -> Bound;
}

/// A closure with the way into its object.
#[doc(hidden)]
pub type Bound = Box<dyn FnMut() -> Result<(), CallError>>;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Module {}
    impl<C> Sealed for crate::Obj<C> {}
    impl<C> Sealed for crate::This<'_, C> {}
}

/// The life of the whole module: until it is unloaded or replaced.
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

/// What a task may end with: nothing, or an error, which is logged.
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

/// A task or a timer that was asked for. To drop it changes nothing. It may be kept in fields and sent to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskHandle {
    job: JobId,
}

impl TaskHandle {
    /// Ends it: at once, or when it returns if it is running; on another thread or on the stack of a coroutine, at the next safe
    /// point. Its data is dropped on the game thread. Without effect on one that has ended. Any thread.
    pub fn cancel(self) {
        host::job_cancel(self.job);
    }

    /// Whether it has ended or was cancelled. Game thread only: elsewhere, and without a host, it says so of every one.
    #[must_use]
    pub fn is_finished(self) -> bool {
        !host::job_lives(self.job)
    }
}

/// Runs `future` on the game thread: its first step in the next round of tasks, each later one after its waker said so,
/// once in a tick at most. It ends when it is done, with `life`, or by its handle. For a class default object, which does
/// not live in the world, it is dropped at once.
///
/// A panic in it is logged with its place, and ends it.
///
/// Game thread only. When the host refuses, the running call ends with that error; [`try_spawn`] returns it.
#[track_caller]
pub fn spawn<L: Life, R: Outcome + 'static>(life: L, future: impl Future<Output = R> + 'static) -> TaskHandle {
    try_spawn(life, future).unwrap_or_else(|error| alcedo_rt::fail(error))
}

/// As [`spawn`].
///
/// # Errors
/// `WRONG_THREAD` off the game thread, `STALE` when the object is gone, `UNAVAILABLE` when the module is being unloaded.
#[track_caller]
pub fn try_spawn<L: Life, R: Outcome + 'static>(
    life: L,
    future: impl Future<Output = R> + 'static,
) -> Result<TaskHandle, CallError> {
    spawn_from(life.object(), async move { future.await.into_result() }, here())
}

/// As [`try_spawn`], of a task that was written at `site`.
pub(crate) fn spawn_from(
    object: ObjectHandle,
    future: impl Future<Output = Result<(), CallError>> + 'static,
    site: Site,
) -> Result<TaskHandle, CallError> {
    hand_over(Work::Task(Box::pin(future)), JobKind::TASK, object, When::default(), site)
}

/// Runs `code` on the game thread at the next safe point, behind what was posted before it. Any thread; it lives with
/// the module. On the game thread it is also the way to do something after the running call has returned.
///
/// A panic in it is logged with its place.
///
/// # Errors
/// `UNAVAILABLE` when there is no host, or the module is being unloaded or replaced; `code` is dropped then, here.
#[track_caller]
pub fn post(code: impl FnOnce() + Send + 'static) -> Result<(), CallError> {
    let bound = once(Module, move |_module| code());
    post_bound(bound, ObjectHandle::NONE, here())
}

/// As [`post`], for an object: `code` is given it, and is dropped unrun when the object is gone by then.
///
/// # Errors
/// As [`post`].
#[track_caller]
pub fn post_to<C: Class>(object: Obj<C>, code: impl FnOnce(This<'_, C>) + Send + 'static) -> Result<(), CallError> {
    let bound = once(object, code);
    post_bound(bound, object.handle(), here())
}

/// Game time since the host began: the sum of what its ticks stood for. Zero off the game thread and without a host.
#[must_use]
pub fn game_time() -> Duration {
    Duration::from_nanos(host::game_time())
}

fn post_bound(bound: Bound, object: ObjectHandle, site: Site) -> Result<(), CallError> {
    hand_over(Work::Closure(bound), JobKind::POSTED, object, When::default(), site).map(drop)
}

/// A closure that is run once at most, in the form of one that could be run again.
pub(crate) fn once<L: Life>(life: L, code: impl FnOnce(L::Frame<'_>) + 'static) -> Bound {
    let mut code = Some(code);
    life.bind(move |frame| {
        if let Some(code) = code.take() {
            code(frame);
        }
    })
}
