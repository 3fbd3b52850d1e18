//! Host part of a task's waker. A waker may be cloned to any thread, and may outlive its task. Therefore a waker refers only to data of the
//! host: a reference count, the job id, and the inbox. A lease keeps the module's waker functions mapped until the last waker is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use alcedo_abi::task::JobId;
use crossbeam_channel::Sender;

use crate::bridge::tasks::inbox::Message;
use crate::lease::Lease;

/// State that all wakers of one task share. Can be used on any thread.
pub(crate) struct Waking {
    job: JobId,
    /// Set while the inbox contains a wake of this task. Further wakes before the next run of the task are ignored.
    woken: AtomicBool,
    inbox: Sender<Message>,
    _lease: Lease,
}

impl Waking {
    /// Creates the shared waker state of a task. This state owns `lease`, and exists while the task or a waker exists.
    pub(super) fn new(job: JobId, inbox: Sender<Message>, lease: Lease) -> Arc<Self> {
        Arc::new(Self { job, woken: AtomicBool::new(false), inbox, _lease: lease })
    }

    /// Resets the flag before the task runs, so that the next wake is sent again. The run observes all writes before an ignored wake. With
    /// a plain store, the run could read earlier values, and the wake would be lost.
    pub(super) fn begin_run(&self) {
        let _woken = self.woken.swap(false, Ordering::AcqRel);
    }

    /// Returns the address that is passed to the module. The caller keeps its reference while the module uses the address.
    pub(super) fn as_address(self: &Arc<Self>) -> *const () {
        Arc::as_ptr(self).cast()
    }

    /// Returns a new reference as a raw pointer, which can cross the ABI boundary. `Arc::from_raw` restores the reference.
    pub(crate) fn clone_raw(self: &Arc<Self>) -> *const () {
        Arc::into_raw(Arc::clone(self)).cast()
    }

    pub(crate) fn wake(&self) {
        if !self.woken.swap(true, Ordering::AcqRel) {
            // The send fails only if the runtime was dropped, and then the task does not exist.
            let _gone = self.inbox.send(Message::Wake(self.job));
        }
    }
}

#[cfg(test)]
mod tests;
