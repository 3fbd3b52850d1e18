//! Calls a method on many objects in one boundary crossing.
#![expect(unsafe_code, reason = "calls the batch trampolines of modules")]

use std::mem::MaybeUninit;

use alcedo_abi::call::{Failure, Status};
use alcedo_abi::direct::{Batch, BatchItem, DirectAnswer};
use alcedo_abi::host::Directory;

use super::{FastPaths, MethodFastPath, failed};
use crate::boundary::CallError;

pub(crate) struct BatchOutcome {
    /// Error of the failed call, which ended the batch. `None` if all calls have succeeded.
    pub(crate) failed: Option<CallError>,
    /// Index of the next object to call.
    pub(crate) at: usize,
    pub(crate) ended: usize,
    pub(crate) unmet: usize,
}

impl FastPaths {
    /// Calls a method on the objects from index `at` on, in one boundary crossing, until a call fails. Returns `None` if the calls must
    /// take the slow path.
    ///
    /// # Safety
    /// Each item must contain the memory address of an object whose class is the class of the fast path. Each item must also contain the
    /// address of the plugin part that the object has for the class that declares the target. Each item must have been resolved after the
    /// last safe point, or the slot of its object must be unchanged since the resolution. An equal [`FastPaths::population`] guarantees
    /// that the slot is unchanged. All objects must have been alive when the directory had counted `ends` destroyed objects. `condition`,
    /// if present, must be the offset of a byte in objects of the class.
    pub(in crate::bridge) unsafe fn call_batch(
        &self,
        fast_path: &MethodFastPath,
        items: &[BatchItem],
        at: usize,
        (words, results): (&[u64], Option<&mut [DirectAnswer]>),
        (condition, ends): (Option<usize>, u64),
        clean_up: impl FnOnce(usize),
    ) -> Option<BatchOutcome> {
        let has_room = results.as_ref().is_none_or(|results| results.len() >= items.len());
        if !self.are_open(fast_path.resolved_at) || words.len() != fast_path.count || !has_room {
            return None;
        }
        let opened = self.hot.open(fast_path.frame)?;
        let mut failure = MaybeUninit::<Failure>::uninit();
        let directory: *const Directory = self.columns.head().as_ptr();
        let mut batch = Batch {
            items: items.as_ptr(),
            len: items.len(),
            at,
            words: words.as_ptr(),
            results: results.map_or(std::ptr::null_mut(), |results| results.as_mut_ptr()),
            directory,
            ends,
            condition: condition.unwrap_or(Batch::UNCONDITIONAL),
            ended: 0,
            unmet: 0,
            failure: failure.as_mut_ptr(),
        };
        // SAFETY: as in `call_on`, for each object that was not destroyed since the items were resolved. The caller vouches for the items,
        // and the module checks which objects were destroyed. All borrowed data persists during the call.
        let status = unsafe { (fast_path.on.batch.0)(&mut batch) };
        // Reads the failure before the frame closes, as `close_and_clean_up` does.
        let failed = (status != Status::OK).then(|| *failed(&failure));
        if !self.hot.close(opened) {
            clean_up(opened.borrowed_height());
        }
        let Batch { at, ended, unmet, .. } = batch;
        Some(BatchOutcome { failed, at, ended, unmet })
    }
}
