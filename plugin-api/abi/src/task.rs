//! Deferred work of a module on the game thread: tasks, timers, posted closures. Each task, timer or closure is a [`Job`]: code
//! and data of the module, which the host stores as an opaque address and two functions. The host schedules jobs on the game
//! thread, and never runs a job of an ended generation. The host drops each job exactly once.

use abi_stable::StableAbi;
use abi_stable::std_types::RStr;

use crate::call::{Failure, Status};
use crate::handles::ObjectHandle;

/// Id of a scheduled job. Never reused; zero refers to no job.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct JobId(pub u64);

impl JobId {
    /// No job.
    pub const NONE: Self = Self(0);
}

/// Schedule of a job.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct JobKind(pub u32);

impl JobKind {
    /// A future: runs once after scheduling, and again after each call of its waker, until the future is done.
    pub const TASK: Self = Self(1);
    /// Runs once, after the delay.
    pub const AFTER: Self = Self(2);
    /// Runs repeatedly, at most once per tick.
    pub const EVERY: Self = Self(3);
    /// Runs once, at the next safe point. Threads other than the game thread may schedule this kind only.
    pub const POSTED: Self = Self(4);
}

/// Result of one run of a job.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct JobStep(pub u8);

impl JobStep {
    /// The job must run again, because it is a pending future or a repeating timer.
    pub const PENDING: Self = Self(0);
    /// The job is done.
    pub const DONE: Self = Self(1);
    /// The job failed; see the failure. The host does not run the job again.
    pub const FAILED: Self = Self(2);
}

/// Runs a job once. Game thread only.
///
/// # Safety
/// `data` is the address that the module passed, the data is not dropped, and no other code runs the job during the call. For a
/// task, `waker` is a waker of the host, borrowed until the function returns. For other kinds, `waker` is null.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct JobRun(pub unsafe extern "C" fn(data: *mut (), waker: *const (), failure: &mut Failure) -> JobStep);

/// Drops the data of a job. Game thread only.
///
/// # Safety
/// `data` is the address that the module passed. No other code uses the data during the call, and no code uses it afterwards.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct JobDrop(pub unsafe extern "C" fn(data: *mut (), failure: &mut Failure) -> Status);

/// A job as a module passes it to the host. The strings are copied before the call returns.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Schedule of the job.
    pub kind: JobKind,
    /// Line of the requesting code, or zero.
    pub line: u32,
    /// Object that owns the job: the job ends with this object, or with the object's plugin part. If none, the job ends with its
    /// module.
    pub object: ObjectHandle,
    /// For a timer, game time until the first run, in nanoseconds.
    pub delay: u64,
    /// For [`JobKind::EVERY`], game time from one run to the next, in nanoseconds; zero for a run in every tick.
    pub period: u64,
    /// Address of the job's data, which only the module may dereference. Owned by the host after the job is scheduled.
    pub data: *mut (),
    /// Runs the job.
    pub run: JobRun,
    /// Drops the job.
    pub drop: JobDrop,
    /// Source file of the requesting code, or empty.
    pub file: RStr<'a>,
}
