//! What a module gives the game thread to do later: tasks, timers, posted closures. All three are a [`Job`]: code and
//! data of the module, of which the host has an opaque address and two functions. The host says when, on the game
//! thread; it never runs the job of a generation that is over, and drops each exactly once.

use abi_stable::StableAbi;
use abi_stable::std_types::RStr;

use crate::call::{Failure, Status};
use crate::handles::ObjectHandle;

/// A job that the host has taken. Never used twice; zero is none.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct JobId(pub u64);

impl JobId {
    /// No job.
    pub const NONE: Self = Self(0);
}

/// When a job is run.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct JobKind(pub u32);

impl JobKind {
    /// A future: once after it was taken, then whenever its waker says so, until it is done.
    pub const TASK: Self = Self(1);
    /// Once, when its time has come.
    pub const AFTER: Self = Self(2);
    /// Again and again, once in a tick at most.
    pub const EVERY: Self = Self(3);
    /// Once, at the next safe point. The only kind that other threads may hand over.
    pub const POSTED: Self = Self(4);
}

/// What became of a job that was run.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct JobStep(pub u8);

impl JobStep {
    /// It wants to be run again: a future that is not ready, a timer that repeats.
    pub const PENDING: Self = Self(0);
    /// It has done all it had to do.
    pub const DONE: Self = Self(1);
    /// It failed; the failure says why. It is not run again.
    pub const FAILED: Self = Self(2);
}

/// Runs a job once. Game thread only.
///
/// # Safety
/// `data` is the address the module handed over, not dropped yet, and nobody else runs it meanwhile. For a task,
/// `waker` is one of the host's wakers, lent for the call; null for every other kind.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct JobRun(pub unsafe extern "C" fn(data: *mut (), waker: *const (), failure: &mut Failure) -> JobStep);

/// Drops what a job consists of. Game thread only.
///
/// # Safety
/// `data` is the address the module handed over; it is used by nobody and never again.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct JobDrop(pub unsafe extern "C" fn(data: *mut (), failure: &mut Failure) -> Status);

/// A job as a module hands it over. The texts are copied before the call returns.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Job<'a> {
    /// When it is run.
    pub kind: JobKind,
    /// Line of the place that asked for it, or zero.
    pub line: u32,
    /// The object it lives with: it ends with that object, or with that object's plugin part. None: with its module.
    pub object: ObjectHandle,
    /// For a timer, nanoseconds of game time until it is run first.
    pub delay: u64,
    /// For [`JobKind::EVERY`], nanoseconds of game time from one run to the next; zero is every tick.
    pub period: u64,
    /// What only the module may follow. The host owns it from the moment it has taken the job.
    pub data: *mut (),
    /// How it is run.
    pub run: JobRun,
    /// How it is dropped.
    pub drop: JobDrop,
    /// Source file of the place that asked for it, or empty.
    pub file: RStr<'a>,
}
