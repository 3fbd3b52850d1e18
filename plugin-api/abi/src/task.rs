//! Deferred work of a module on the game thread: tasks, timers, posted closures. Each is a [`Job`]: code and data of the
//! module, represented in the host by an opaque address and two functions. The host schedules the job on the game thread; it
//! never runs a job of an ended generation, and drops each exactly once.

use abi_stable::StableAbi;
use abi_stable::std_types::RStr;

use crate::call::{Failure, Status};
use crate::handles::ObjectHandle;

/// A job that the host has taken. Never reused; zero is none.
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
    /// A future: runs once after it was taken, then whenever its waker is called, until it is done.
    pub const TASK: Self = Self(1);
    /// Runs once, at its time.
    pub const AFTER: Self = Self(2);
    /// Runs repeatedly, at most once per tick.
    pub const EVERY: Self = Self(3);
    /// Runs once, at the next safe point. The only kind that other threads may pass.
    pub const POSTED: Self = Self(4);
}

/// Result of a step of a job.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct JobStep(pub u8);

impl JobStep {
    /// The job must run again: a future that is not ready, a repeating timer.
    pub const PENDING: Self = Self(0);
    /// The job is done.
    pub const DONE: Self = Self(1);
    /// The job failed; see the failure. It is not run again.
    pub const FAILED: Self = Self(2);
}

/// Runs a job once. Game thread only.
///
/// # Safety
/// `data` is the address passed by the module, not dropped yet, and no other code runs the job during the call. For a task,
/// `waker` is one of the host's wakers, borrowed for the call; null for other kinds.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct JobRun(pub unsafe extern "C" fn(data: *mut (), waker: *const (), failure: &mut Failure) -> JobStep);

/// Drops the data of a job. Game thread only.
///
/// # Safety
/// `data` is the address passed by the module; no other code uses it, and it is not used afterwards.
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
    /// Object that owns the job: the job ends with that object, or with the object's plugin part. None: it ends with its module.
    pub object: ObjectHandle,
    /// For a timer, nanoseconds of game time until the first run.
    pub delay: u64,
    /// For [`JobKind::EVERY`], nanoseconds of game time from one run to the next; zero means every tick.
    pub period: u64,
    /// Data that only the module may follow. Owned by the host once it has taken the job.
    pub data: *mut (),
    /// Runs the job.
    pub run: JobRun,
    /// Drops the job.
    pub drop: JobDrop,
    /// Source file of the requesting code, or empty.
    pub file: RStr<'a>,
}
