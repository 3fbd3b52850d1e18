//! What a module asks the game thread to do later: tasks, timers, posted closures. All three are an [`Errand`]: code and
//! data of the module, of which the host knows an opaque address and two functions. The host says when, on the game
//! thread; it never runs the errand of a generation that is over, and drops each exactly once.

use abi_stable::StableAbi;
use abi_stable::std_types::RStr;

use crate::call::{Failure, Status};
use crate::handles::ObjectHandle;

/// An errand that the host has taken. Never used twice; zero is none.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct ErrandId(pub u64);

impl ErrandId {
    /// No errand.
    pub const NONE: Self = Self(0);
}

/// When an errand is run.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ErrandKind(pub u32);

impl ErrandKind {
    /// A future: once after it was taken, then whenever its waker says so, until it is done.
    pub const TASK: Self = Self(1);
    /// Once, when its time has come.
    pub const AFTER: Self = Self(2);
    /// Again and again, once in a tick at most.
    pub const EVERY: Self = Self(3);
    /// Once, at the next safe point. The only kind that other threads may hand over.
    pub const POSTED: Self = Self(4);
}

/// What became of an errand that was run.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct ErrandStep(pub u8);

impl ErrandStep {
    /// It wants to be run again: a future that is not ready, a timer that repeats.
    pub const PENDING: Self = Self(0);
    /// It has done all it had to do.
    pub const DONE: Self = Self(1);
    /// It failed; the failure says why. It is not run again.
    pub const FAILED: Self = Self(2);
}

/// Runs an errand once. Game thread only.
///
/// # Safety
/// `data` is the address the module handed over, not dropped yet, and nobody else runs it meanwhile. For a task,
/// `waker` is one of the host's wakers, lent for the call; null for every other kind.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ErrandRun(pub unsafe extern "C" fn(data: *mut (), waker: *const (), failure: &mut Failure) -> ErrandStep);

/// Drops what an errand consists of. Game thread only.
///
/// # Safety
/// `data` is the address the module handed over; it is used by nobody and never again.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ErrandDrop(pub unsafe extern "C" fn(data: *mut (), failure: &mut Failure) -> Status);

/// An errand as a module hands it over. The texts are copied before the call returns.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Errand<'a> {
    /// When it is run.
    pub kind: ErrandKind,
    /// Line of the place that asked for it, or zero.
    pub line: u32,
    /// The object it lives with: it ends with that object, or with that object's plugin half. None: with its module.
    pub object: ObjectHandle,
    /// For a timer, nanoseconds of game time until it is run first.
    pub delay: u64,
    /// For [`ErrandKind::EVERY`], nanoseconds of game time from one run to the next; zero is every tick.
    pub period: u64,
    /// What only the module may follow. The host owns it from the moment it has taken the errand.
    pub data: *mut (),
    /// How it is run.
    pub run: ErrandRun,
    /// How it is dropped.
    pub drop: ErrandDrop,
    /// Source file of the place that asked for it, or empty.
    pub file: RStr<'a>,
}
