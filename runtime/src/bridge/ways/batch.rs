//! Many objects in one crossing: the short way into a method, with the row of objects it is called on.
#![expect(unsafe_code, reason = "calls the batch shells of modules")]

use std::mem::MaybeUninit;

use alcedo_abi::call::{Failure, Status};
use alcedo_abi::direct::{Batch, BatchItem, DirectAnswer};
use alcedo_abi::host::Directory;

use super::{MethodWay, Ways, failed};
use crate::border::CallError;

/// How a batch went on.
pub(crate) struct Went {
    /// What the first object behind the ones that are done has failed with; none when all are done.
    pub(crate) failed: Option<CallError>,
    /// Where to go on.
    pub(crate) at: usize,
    /// How many had ended.
    pub(crate) ended: usize,
    /// How many did not meet the condition.
    pub(crate) unmet: usize,
}

impl Ways {
    /// Calls a method on these objects from `at` on, in one crossing, until one fails. None where it is to go the long way.
    ///
    /// # Safety
    /// Each item has the memory of an object of the way's class and its part for the class that declares what answers, and was found
    /// so since the last safe point, or while [`Ways::population`] has not changed since. All were there at the count `ends` of the directory.
    /// `condition`, if there is one, is the offset of a byte in objects of the class.
    pub(in crate::bridge) unsafe fn call_batch(
        &self,
        way: &MethodWay,
        items: &[BatchItem],
        at: usize,
        (words, results): (&[u64], Option<&mut [DirectAnswer]>),
        (condition, ends): (Option<usize>, u64),
        settle: impl FnOnce(usize),
    ) -> Option<Went> {
        let has_room = results.as_ref().is_none_or(|results| results.len() >= items.len());
        if !self.are_open(way.looked) || words.len() != way.count || !has_room {
            return None;
        }
        let opened = self.hot.open(way.frame)?;
        let mut failure = MaybeUninit::<Failure>::uninit();
        let directory: *const Directory = self.columns.head();
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
        // SAFETY: as in `call_on`, for each object that has not ended since the items were found, as the caller promises; the module
        // looks that up. All that is lent stays where it is.
        let status = unsafe { (way.batch.0)(&mut batch) };
        // Read first, as in `call`.
        let failed = (status != Status::OK).then(|| *failed(&failure));
        if !self.hot.close(opened) {
            settle(opened.lent());
        }
        let Batch { at, ended, unmet, .. } = batch;
        Some(Went { failed, at, ended, unmet })
    }
}
