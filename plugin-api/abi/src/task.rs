//! Jobs that a module schedules on the game thread: tasks, timers and posted closures. A [`Job`] consists of code and data of the module.
//! The host stores a job as an opaque address and two functions, runs it on the game thread, and drops it exactly once. A job never runs
//! after its generation has ended.

use abi_stable::StableAbi;
use abi_stable::std_types::RStr;

use crate::call::{Failure, Status};
use crate::handles::ObjectHandle;

/// Id of a scheduled job. Never reused; zero refers to no job.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct JobId(pub u64);

impl JobId {
    /// Id that refers to no job.
    pub const NONE: Self = Self(0);
}

/// Schedule of a job.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct JobKind(pub u32);

impl JobKind {
    /// A future. The job runs once after it is scheduled, and again after each call of its waker, until the future is ready.
    pub const TASK: Self = Self(1);
    /// A timer that runs once, after the delay.
    pub const AFTER: Self = Self(2);
    /// A timer that runs repeatedly, at most once per tick.
    pub const EVERY: Self = Self(3);
    /// A closure that runs once, at the next safe point. Only jobs of this kind may be scheduled outside the game thread.
    pub const POSTED: Self = Self(4);
}

/// Result of one run of a job.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct JobStep(pub u8);

impl JobStep {
    /// The job is a pending future or a repeating timer, and must run again.
    pub const PENDING: Self = Self(0);
    /// The job is complete.
    pub const DONE: Self = Self(1);
    /// The job failed, and the failure is filled. The host does not run the job again.
    pub const FAILED: Self = Self(2);
}

/// Runs a job once. Called on the game thread only.
///
/// # Safety
/// `data` is the address that the module passed. The data has not been dropped, and no other code runs the job during the call.
/// For a task, `waker` is a waker of the host, borrowed until the function returns. For other kinds, `waker` is null.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct JobRun(pub unsafe extern "C" fn(data: *mut (), waker: *const (), failure: &mut Failure) -> JobStep);

/// Drops the data of a job. Called on the game thread only.
///
/// # Safety
/// `data` is the address that the module passed. No other code uses the data during the call, and no code uses it afterwards.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct JobDrop(pub unsafe extern "C" fn(data: *mut (), failure: &mut Failure) -> Status);

/// Job that a module passes to the host. The host copies the strings before the call returns.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Schedule of the job.
    pub kind: JobKind,
    /// Line of the code that scheduled the job, or zero.
    pub line: u32,
    /// Object that owns the job. The job ends when this object, or the plugin part that the module created for the object, is destroyed.
    /// If `object` is none, the job ends with its module.
    pub object: ObjectHandle,
    /// Game time until the first run of a timer, in nanoseconds.
    pub delay: u64,
    /// For [`JobKind::EVERY`], game time from one run to the next, in nanoseconds. Zero runs the job in every tick.
    pub period: u64,
    /// Address of the job's data. Only the module may dereference this address. After the job is scheduled, the host owns the data.
    pub data: *mut (),
    /// Function that runs the job.
    pub run: JobRun,
    /// Function that drops the job's data.
    pub drop: JobDrop,
    /// Source file of the code that scheduled the job, or empty.
    pub file: RStr<'a>,
}
