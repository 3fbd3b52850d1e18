//! Direct calls of module functions whose parameters and result are plain values. Each value is passed as one machine word in a register,
//! without a slot buffer. The description of such a function contains a direct trampoline in addition to the trampoline that takes a
//! parameter block. The host stores the address of the direct trampoline when it loads the module.
//!
//! A value is plain if its kind fits a slot ([`PropertyKind::fits_slot`](crate::kinds::PropertyKind::fits_slot)).
//! [`SlotValue`](crate::zcall::SlotValue) converts the value to a word. The trampoline does not check its arguments, since the caller
//! has compared the signatures before the call.

use abi_stable::StableAbi;
use abi_stable::std_types::ROption;

use crate::call::{Failure, Status};
pub use crate::direct_answer::{DirectAnswer, DirectStatus};
use crate::handles::ObjectHandle;
use crate::host::Directory;

/// Trampoline of a function. The description of the function determines the number of parameters. The actual type of the trampoline is
///
/// * `unsafe extern "C" fn(u64, …, *mut Failure) -> DirectAnswer` for a static function: one word per parameter;
/// * `unsafe extern "C" fn(ObjectHandle, *mut u8, *mut (), u64, …, *mut Failure) -> DirectAnswer` for a method: the first arguments are the
///   object, the object's memory, and the plugin part of the class that declares the function.
///
/// The caller passes uninitialized storage for the failure. The trampoline initializes the storage if and only if the status is
/// [`DirectStatus::FAILED`].
///
/// # Safety
/// The caller calls the trampoline through its actual type. For a method, the object is a live object of the class. The memory and the
/// plugin part belong to this object, and remain valid until the trampoline returns.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DirectTrampoline(pub unsafe extern "C" fn());

/// Object on which a batch calls the method.
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

/// Calls of one method on many objects with equal arguments. The host makes all calls by calling one trampoline, which starts at index
/// `at` and increments `at` for each object. The trampoline returns after the last call or the first failed call. After a failed call, the
/// host calls the trampoline again for the remaining objects.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct Batch {
    /// Objects of the batch; never read if `len` is zero.
    pub items: *const BatchItem,
    /// Number of objects.
    pub len: usize,
    /// Index of the next object. After a failed call, the object of this call is at index `at - 1`.
    pub at: usize,
    /// Arguments as machine words, one per parameter.
    pub words: *const u64,
    /// Receives the result of each successful call at the object's index; null to discard results. For a failed or skipped call, the entry
    /// remains unchanged.
    pub results: *mut DirectAnswer,
    /// Directory of objects, with which the trampoline detects and skips objects that were destroyed after the batch began.
    pub directory: *const Directory,
    /// Value of [`Directory::ends`] at a time when all objects of the batch were alive, or a value that `Directory::ends` never reaches. If
    /// `Directory::ends` has a different value now, the trampoline checks each object.
    pub ends: u64,
    /// Offset of a condition byte in each object. The trampoline skips an object whose condition byte is zero. [`Batch::UNCONDITIONAL`] if
    /// the batch has no condition.
    pub condition: usize,
    /// Number of objects that the trampoline skipped because they were destroyed.
    pub ended: usize,
    /// Number of objects that the trampoline skipped because their condition byte is zero.
    pub unmet: usize,
    /// Uninitialized storage. The trampoline writes a failure into this storage if and only if a call fails.
    pub failure: *mut Failure,
}

impl Batch {
    /// Value of [`Batch::condition`] for a batch that calls the method on each live object.
    pub const UNCONDITIONAL: usize = usize::MAX;
}

/// Trampoline that calls a method on the objects of a batch.
///
/// # Safety
/// The batch borrows the data behind its pointers until the function returns, and `at` is at most `len`. Each live object is an instance of
/// the class that declares the method, and its memory and nonnull plugin part belong to the object. If a call of the batch destroys an
/// object, the object's memory and plugin part remain readable. The arguments and, if `results` is not null, the result match the method.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct BatchTrampoline(pub unsafe extern "C" fn(batch: &mut Batch) -> Status);

/// Direct trampolines of a function of a class.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DirectMethod {
    /// Trampoline for one call.
    pub call: DirectTrampoline,
    /// Trampoline for a batch of objects; none for a static function.
    pub batch: ROption<BatchTrampoline>,
}

/// Maximum number of parameters of a function with a direct trampoline. The function types in [`host_direct`](crate::host_direct) have this
/// limit as well.
pub const MOST_WORDS: usize = 8;
