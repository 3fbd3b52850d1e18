//! Calls without a buffer: functions whose parameters and result are plain values, each as one word in a register. A module offers
//! such a shell beside the usual one, in the description of the function, and the host takes its address when it loads the module.
//!
//! A plain value is one of a kind that fits a slot ([`PropertyKind::fits_slot`](crate::kinds::PropertyKind::fits_slot)), and its word
//! is what [`SlotValue`](crate::zcall::SlotValue) makes of it. Whoever calls has compared the signature; nothing is looked at here.

use abi_stable::StableAbi;
use abi_stable::std_types::ROption;

use crate::call::{Failure, Status};
pub use crate::direct_answer::{DirectAnswer, DirectStatus};
use crate::handles::ObjectHandle;
use crate::host::Directory;

/// The shell of a function with so many parameters as its description has. Its true type is
///
/// * `unsafe extern "C" fn(u64, …, *mut Failure) -> DirectAnswer` for a static function: one word for each parameter;
/// * `unsafe extern "C" fn(ObjectHandle, *mut u8, *mut (), u64, …, *mut Failure) -> DirectAnswer` for a method: the object, its memory
///   and the plugin part of the class that declares the function come first.
///
/// The place of the failure is not initialized, and is written exactly when the status is [`DirectStatus::FAILED`].
///
/// # Safety
/// It is called by its true type. For a method the object is a living one of the class, its memory and its part belong to it, and
/// stay valid until the call is over.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DirectShell(pub unsafe extern "C" fn());

/// One object of a batch.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct BatchItem {
    /// The object.
    pub object: ObjectHandle,
    /// Its memory.
    pub memory: *mut u8,
    /// Its plugin part of the class that declares the function.
    pub part: *mut (),
}

/// Calls of one method on many objects with the same arguments, in one crossing. The shell begins at `at` and counts it up; it comes
/// back when all are done, or when one has failed, and is called again for those behind it.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct Batch {
    /// The objects; never read when there are none.
    pub items: *const BatchItem,
    /// How many there are.
    pub len: usize,
    /// The next one. When the shell reports a failure, it is that of the one before.
    pub at: usize,
    /// One word for each parameter.
    pub words: *const u64,
    /// Receives an answer for each object that is called and does not fail, or null where nobody wants the results. The others stay.
    pub results: *mut DirectAnswer,
    /// Where the objects are: one that has ended since the batch began is passed over.
    pub directory: *const Directory,
    /// The count of ends in the directory at which all of the objects were there, or one that it never has.
    pub ends: u64,
    /// Offset of a byte in each object: one where it is zero is passed over when its turn comes. [`Batch::UNCONDITIONAL`] for none.
    pub condition: usize,
    /// Objects that were passed over because they have ended.
    pub ended: usize,
    /// Objects that were passed over because their condition is not met.
    pub unmet: usize,
    /// Not initialized; written exactly when the shell says that it has failed.
    pub failure: *mut Failure,
}

impl Batch {
    /// No condition.
    pub const UNCONDITIONAL: usize = usize::MAX;
}

/// The batch shell of a method.
///
/// # Safety
/// The batch lends what it points to for the call, and begins at one of the items or behind them. Each object that lives is one of the
/// class, and its memory and part, which are there, belong to it; those of one that has ended since stay readable. The parameters are
/// those of the method, and so is the result where it is wanted.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct BatchShell(pub unsafe extern "C" fn(batch: &mut Batch) -> Status);

/// The direct shells of a function of a class.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DirectMethod {
    /// For one call.
    pub call: DirectShell,
    /// For many; a static function has none, since it is called on no object.
    pub batch: ROption<BatchShell>,
}

/// Most parameters of a function that has a direct shell: as many as a function of the host's can have by its Rust types.
pub const MOST_WORDS: usize = 8;
