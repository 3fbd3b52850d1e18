//! Host interface of tasks, timers and posted closures. A job consists of the address of its data, a function that runs the job, and a
//! function that drops the data. All jobs use the same two functions. This file also implements the waker that the host passes to tasks.
#![expect(unsafe_code, reason = "converts jobs to addresses for the host, and back")]

use core::future::Future;
use core::mem::ManuallyDrop;
use core::panic::Location;
use core::pin::Pin;
use core::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use core::time::Duration;

use alcedo_abi::abi_stable::std_types::RStr;
use alcedo_abi::call::{Failure, FailureKind, Status};
use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::task::{Job, JobDrop, JobKind, JobRun, JobStep};
use alcedo_rt::{CallError, Host, catch_panics};

use super::{Bound, TaskHandle};
use crate::{host, step};

pub(crate) enum Work {
    Task(Pin<Box<dyn Future<Output = Result<(), CallError>>>>),
    Closure(Bound),
    Repeated(Bound),
}

/// Location in the author's source code: file and line.
pub(crate) type Site = (&'static str, u32);

#[track_caller]
pub(crate) fn here() -> Site {
    site(Location::caller())
}

pub(crate) fn site(location: &'static Location<'static>) -> Site {
    (location.file(), location.line())
}

impl Work {
    fn step(&mut self, context: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        match self {
            Self::Task(future) => future.as_mut().poll(context),
            Self::Closure(code) => Poll::Ready(code()),
            Self::Repeated(code) => match code() {
                Ok(()) => Poll::Pending,
                Err(error) => Poll::Ready(Err(error)),
            },
        }
    }
}

/// Passes a job's future or closure to the host. `delay` is the time to the first run, and for a repeated job also the time from one run to
/// the next. It is zero for jobs that are not timers.
///
/// # Errors
/// Returns the reason if the host refuses the job; `work` is then dropped.
pub(crate) fn hand_over(
    work: Work,
    kind: JobKind,
    object: ObjectHandle,
    delay: Duration,
    (file, line): Site,
) -> Result<TaskHandle, CallError> {
    let (data, delay) = (Box::into_raw(Box::new(work)), nanos(delay));
    let job = Job {
        kind,
        line,
        object,
        delay,
        period: if kind == JobKind::EVERY { delay } else { 0 },
        data: data.cast(),
        run: JobRun(run),
        drop: JobDrop(drop_work),
        file: RStr::from_str(file),
    };
    // SAFETY: the two functions below are those of a boxed `Work`. Work that other threads post is `Send`, as `post` and `post_to` require.
    // If the host fails, it has not taken the box, which still belongs to this function.
    let taken = unsafe { host::job_take(&job).inspect_err(|_error| drop(Box::from_raw(data))) };
    taken.map(|job| TaskHandle { job })
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// # Safety
/// See [`JobRun`]; `data` is a boxed [`Work`].
unsafe extern "C" fn run(data: *mut (), waker: *const (), failure: &mut Failure) -> JobStep {
    let mut step = JobStep::PENDING;
    let status = catch_panics(failure, || {
        // SAFETY: the host promises the box that `hand_over` passed, which has not been dropped and is not in use by other code.
        // The host lends its waker for the call.
        let (work, waker) = unsafe { (&mut *data.cast::<Work>(), borrowed(waker)) };
        match step::running(|| work.step(&mut Context::from_waker(&waker))) {
            Poll::Pending => Ok(()),
            // The object was destroyed before the closure could enter it, so the job is complete.
            Poll::Ready(Err(error)) if error.kind() == FailureKind::STALE && !matches!(work, Work::Task(_)) => {
                step = JobStep::DONE;
                Ok(())
            }
            Poll::Ready(outcome) => {
                step = JobStep::DONE;
                outcome
            }
        }
    });
    if status == Status::OK { step } else { JobStep::FAILED }
}

/// # Safety
/// See [`JobDrop`]; `data` is a boxed [`Work`].
unsafe extern "C" fn drop_work(data: *mut (), failure: &mut Failure) -> Status {
    catch_panics(failure, || {
        // SAFETY: `data` is the box that `hand_over` passed, and the host returns its ownership.
        let work = unsafe { Box::from_raw(data.cast::<Work>()) };
        step::ending(|| drop(work));
        Ok(())
    })
}

static TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

// Waker of a task. The data of a waker belongs to the host, so a waker may be cloned on any thread, and may outlive its task. The four
// functions of a waker below are code of the module. Therefore the host counts the holders of wakers, and keeps the module mapped until the
// last holder has dropped its waker.

/// Wraps the host's waker for one step of a task. A null pointer becomes a waker that has no effect.
///
/// # Safety
/// `waker` is null, or one of the host's wakers, valid as long as the returned value is used.
unsafe fn borrowed(waker: *const ()) -> ManuallyDrop<Waker> {
    if waker.is_null() {
        return ManuallyDrop::new(Waker::noop().clone());
    }
    // SAFETY: the functions below fulfill the contract of wakers: the host counts holders from any thread.
    ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(waker, &TABLE)) })
}

// After the module is detached, no host exists, and clones and drops are not counted.

/// Defines functions for the waker table. Each of them calls functions of the host.
macro_rules! counted {
    ($($name:ident: $($call:ident)*;)*) => {$(
        unsafe fn $name(waker: *const ()) {
            // SAFETY: the host only counts holders and schedules the task; no value is accessed.
            // The holder of a waker clones and uses it, and drops it once.
            unsafe {
                if let Some(host) = Host::attached("a waker") {
                    $(host.$call(waker);)*
                }
            }
        }
    )*};
}
counted! {
    count: waker_clone;
    wake: waker_wake waker_drop;
    wake_by_ref: waker_wake;
    drop_waker: waker_drop;
}

unsafe fn clone(waker: *const ()) -> RawWaker {
    // SAFETY: the caller holds the waker.
    unsafe { count(waker) };
    RawWaker::new(waker, &TABLE)
}
