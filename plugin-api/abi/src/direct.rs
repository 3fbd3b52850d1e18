//! Calls without a buffer: functions whose parameters and result are plain values, each passed as one word in a register. The
//! description of such a function contains a direct trampoline in addition to the usual one, and the host stores its address
//! when it loads the module.
//!
//! A plain value is a value of a kind that fits a slot ([`PropertyKind::fits_slot`](crate::kinds::PropertyKind::fits_slot)), converted
//! to a word by [`SlotValue`](crate::zcall::SlotValue). The caller has compared the signature; the trampoline checks nothing.

use abi_stable::StableAbi;
use abi_stable::std_types::ROption;

use crate::call::{Failure, Status};
pub use crate::direct_answer::{DirectAnswer, DirectStatus};
use crate::handles::ObjectHandle;
use crate::host::Directory;

/// Trampoline of a function with as many parameters as its description has. Its actual type is
///
/// * `unsafe extern "C" fn(u64, …, *mut Failure) -> DirectAnswer` for a static function: one word per parameter;
/// * `unsafe extern "C" fn(ObjectHandle, *mut u8, *mut (), u64, …, *mut Failure) -> DirectAnswer` for a method: the first arguments are
///   the object, its memory, and the plugin part of the class that declares the function.
///
/// The storage of the failure is uninitialized, and is written exactly if the status is [`DirectStatus::FAILED`].
///
/// # Safety
/// The trampoline is called by its actual type. For a method, the object is a live object of the class, its memory and its part belong
/// to it, and stay valid until the call is over.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DirectTrampoline(pub unsafe extern "C" fn());

/// An object of a batch.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct BatchItem {
    /// Handle of the object.
    pub object: ObjectHandle,
    /// Memory of the object.
    pub memory: *mut u8,
    /// Plugin part of the class that declares the function.
    pub part: *mut (),
}

/// Calls of one method on many objects with the same arguments, in one host call. The trampoline starts at `at` and increments
/// it; it returns when all calls are done or one has failed, and is called again for the remaining objects.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct Batch {
    /// The objects; never read if `len` is zero.
    pub items: *const BatchItem,
    /// Number of objects.
    pub len: usize,
    /// Index of the next object. A failure belongs to the object before it.
    pub at: usize,
    /// Arguments, a word per parameter.
    pub words: *const u64,
    /// Receives a result for each object whose call succeeds; null to discard results. Other entries are unchanged.
    pub results: *mut DirectAnswer,
    /// Directory of objects: objects destroyed since the batch began are skipped.
    pub directory: *const Directory,
    /// Count of destroyed objects at which all objects were alive, or a value that the directory never reaches.
    pub ends: u64,
    /// Offset of a byte in each object: objects whose byte is zero are skipped. [`Batch::UNCONDITIONAL`] for none.
    pub condition: usize,
    /// Number of objects skipped because they were destroyed.
    pub ended: usize,
    /// Number of objects skipped because their condition is false.
    pub unmet: usize,
    /// Uninitialized; written exactly if the trampoline fails.
    pub failure: *mut Failure,
}

impl Batch {
    /// Marks a batch without condition.
    pub const UNCONDITIONAL: usize = usize::MAX;
}

/// Trampoline of a method for batches.
///
/// # Safety
/// The batch borrows the data it points to for the call, and `at` is the index of an item or the length. Each live object is an
/// object of the class, and its memory and nonnull part belong to it; those of an object destroyed since stay readable. The
/// parameters and, if `results` is not null, the result match the method.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct BatchTrampoline(pub unsafe extern "C" fn(batch: &mut Batch) -> Status);

/// Direct trampolines of a function of a class.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DirectMethod {
    /// Trampoline for one call.
    pub call: DirectTrampoline,
    /// Trampoline for many calls; static functions have none, because they are not called on objects.
    pub batch: ROption<BatchTrampoline>,
}

/// Maximum number of parameters of a function with a direct trampoline; host functions have the same limit by their Rust types.
pub const MOST_WORDS: usize = 8;
