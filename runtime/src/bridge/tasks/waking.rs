//! Host side of a task's waker. A waker may be cloned into any thread and outlive its task. So it refers to host data only: a
//! reference count, the number of the task, and the inbox. The lease keeps the module's waker functions mapped, and ends with
//! the last waker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use alcedo_abi::task::JobId;
use crossbeam_channel::Sender;

use crate::bridge::tasks::inbox::Message;
use crate::lease::Lease;

/// State shared by all wakers of one task. Any thread.
pub(crate) struct Waking {
    job: JobId,
    /// Set while the inbox contains a wake, so that repeated wakes before the next tick are merged.
    woken: AtomicBool,
    inbox: Sender<Message>,
    _lease: Lease,
}

impl Waking {
    /// Creates the state of a task, which keeps `lease` while the task or a waker exists.
    pub(super) fn new(job: JobId, inbox: Sender<Message>, lease: Lease) -> Arc<Self> {
        Arc::new(Self { job, woken: AtomicBool::new(false), inbox, _lease: lease })
    }

    /// Resets the flag before the task runs, so that a later wake is sent again.
    pub(super) fn begin_run(&self) {
        self.woken.store(false, Ordering::Release);
    }

    /// Returns the address that is lent to the module. The caller keeps its reference during the loan.
    pub(super) fn as_address(self: &Arc<Self>) -> *const () {
        Arc::as_ptr(self).cast()
    }

    /// Returns a new reference as a raw pointer that can cross the ABI boundary. `Arc::from_raw` converts it back.
    pub(crate) fn clone_raw(self: &Arc<Self>) -> *const () {
        Arc::into_raw(Arc::clone(self)).cast()
    }

    pub(crate) fn wake(&self) {
        if !self.woken.swap(true, Ordering::AcqRel) {
            // A runtime that has ended has no task to wake.
            let _gone = self.inbox.send(Message::Wake(self.job));
        }
    }
}

#[cfg(test)]
mod tests;
