//! What the host gets of a task, a timer or a posted closure: one address, and the two functions that run and drop what
//! is there. There is one pair of functions for all.
#![expect(unsafe_code, reason = "makes addresses of jobs for the host, and jobs of addresses again")]

use core::future::Future;
use core::panic::Location;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use alcedo_abi::abi_stable::std_types::RStr;
use alcedo_abi::call::{Failure, FailureKind, Status};
use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::task::{Job, JobDrop, JobKind, JobRun, JobStep};
use alcedo_rt::{CallError, trap};

use super::{Bound, TaskHandle, frame, waker};
use crate::host;

/// What a job consists of.
pub(crate) enum Work {
    /// A future.
    Task(Pin<Box<dyn Future<Output = Result<(), CallError>>>>),
    /// A closure that is run once.
    Closure(Bound),
    /// A closure that is run again and again.
    Repeated(Bound),
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
    place: &'static Location<'static>,
) -> Result<TaskHandle, CallError> {
    let data = Box::into_raw(Box::new(work));
    let job = Job {
        kind,
        line: place.line(),
        object,
        delay: nanos(when.delay),
        period: nanos(when.period),
        data: data.cast(),
        run: JobRun(run),
        drop: JobDrop(drop_work),
        file: RStr::from_str(place.file()),
    };
    // SAFETY: the two functions below are those of a boxed `Work`, and what is posted from other threads is `Send`, which
    // `post` and `post_to` demand of it.
    let taken = unsafe { host::job_take(&job) };
    match taken {
        Ok(job) => Ok(TaskHandle { job }),
        Err(error) => {
            // SAFETY: the host did not take it, so the box is still this function's.
            drop(unsafe { Box::from_raw(data) });
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
        // SAFETY: the box that `hand_over` gave away, not dropped yet, and nobody else runs it.
        let work = unsafe { &mut *data.cast::<Work>() };
        // SAFETY: the host lends its waker for the call.
        let waker = unsafe { waker::lent(waker) };
        match frame::step(|| work.step(&mut Context::from_waker(&waker))) {
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
        frame::ending(|| drop(work));
        Ok(())
    })
}
