//! What the host gets of a task, a timer or a posted closure: one address, and the two functions that run and drop what
//! is there. There is one pair of functions for all. And what a task gets of the host: a waker.
#![expect(unsafe_code, reason = "makes addresses of jobs for the host, and jobs of addresses again")]

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
use alcedo_rt::{CallError, Host, trap};

use super::{Bound, TaskHandle};
use crate::{host, step};

/// What a job consists of.
pub(crate) enum Work {
    /// A future.
    Task(Pin<Box<dyn Future<Output = Result<(), CallError>>>>),
    /// A closure that is run once.
    Closure(Bound),
    /// A closure that is run again and again.
    Repeated(Bound),
}

/// A place in the author's sources: file and line.
pub(crate) type Site = (&'static str, u32);

/// The place that called.
#[track_caller]
pub(crate) fn here() -> Site {
    site(Location::caller())
}

/// A place in the author's sources.
pub(crate) fn site(place: &'static Location<'static>) -> Site {
    (place.file(), place.line())
}

/// When a timer is run; nothing to say for all else.
#[derive(Clone, Copy, Default)]
pub(crate) struct When {
    /// From now to its first run.
    pub(crate) delay: Duration,
    /// From one run to the next.
    pub(crate) period: Duration,
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

/// Gives work to the host.
///
/// # Errors
/// Why the host does not take it; it is dropped here then.
pub(crate) fn hand_over(
    work: Work,
    kind: JobKind,
    object: ObjectHandle,
    when: When,
    (file, line): Site,
) -> Result<TaskHandle, CallError> {
    let data = Box::into_raw(Box::new(work));
    let job = Job {
        kind,
        line,
        object,
        delay: nanos(when.delay),
        period: nanos(when.period),
        data: data.cast(),
        run: JobRun(run),
        drop: JobDrop(drop_work),
        file: RStr::from_str(file),
    };
    // SAFETY: the two functions below are those of a boxed `Work`, and what is posted from other threads is `Send`, which
    // `post` and `post_to` demand of it.
    // The host did not take it where it fails, so the box is still this function's.
    let taken = unsafe { host::job_take(&job).map_err(|error| (error, Box::from_raw(data))) };
    match taken {
        Ok(job) => Ok(TaskHandle { job }),
        Err((error, work)) => {
            drop(work);
            Err(error)
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// # Safety
/// As [`JobRun`] says, of a boxed [`Work`].
unsafe extern "C" fn run(data: *mut (), waker: *const (), failure: &mut Failure) -> JobStep {
    let mut step = JobStep::PENDING;
    let status = trap(failure, || {
        // SAFETY: the host promises the box that `hand_over` gave away, not dropped yet and run by nobody else, and lends its
        // waker for the call.
        let (work, waker) = unsafe { (&mut *data.cast::<Work>(), lent(waker)) };
        match step::running(|| work.step(&mut Context::from_waker(&waker))) {
            Poll::Pending => Ok(()),
            // The object went while the closure was on its way to it: it has nothing left to do.
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
/// As [`JobDrop`] says, of a boxed [`Work`].
unsafe extern "C" fn drop_work(data: *mut (), failure: &mut Failure) -> Status {
    trap(failure, || {
        // SAFETY: the box that `hand_over` gave away, which the host gives back for good.
        let work = unsafe { Box::from_raw(data.cast::<Work>()) };
        step::ending(|| drop(work));
        Ok(())
    })
}

static TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

// The waker of a task. What it refers to is the host's, so that it may be cloned into any thread and outlive its task; of the
// module it needs only the four functions below, which is why the host counts its holders.

/// The waker that the host lends for one step; none for what has no waker.
///
/// # Safety
/// `waker` is null, or one of the host's wakers, lent for as long as what this returns is used.
unsafe fn lent(waker: *const ()) -> ManuallyDrop<Waker> {
    if waker.is_null() {
        return ManuallyDrop::new(Waker::noop().clone());
    }
    // SAFETY: the functions below keep the waker's contract: the host counts holders from any thread.
    ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(waker, &TABLE)) })
}

// Without a host, after the detachment, nothing is counted any more: a clone is not, and so its drop is not either.

/// The functions of the table, each by the host's own.
macro_rules! counted {
    ($($name:ident: $($call:ident)*;)*) => {$(
        unsafe fn $name(waker: *const ()) {
            // SAFETY: holders are counted, and the task is run later: no value is looked at. A waker is cloned and used by who holds it,
            // and dropped once.
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
