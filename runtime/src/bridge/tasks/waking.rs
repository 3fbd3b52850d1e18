//! The host's side of a task's waker. A waker is cloned into any thread and may outlive its task, so what it refers to
//! is the host's: a count, the number of the task, and the way into the inbox. The few lines that a waker runs of its
//! module stay mapped as long as the lease does, and that ends with the last holder.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use alcedo_abi::task::JobId;
use crossbeam_channel::Sender;

use crate::bridge::tasks::inbox::Message;
use crate::lease::Lease;

/// What all wakers of one task share. Any thread.
pub(crate) struct Waking {
    job: JobId,
    /// Whether the inbox holds a wake already: a thousand wakes before the next tick are one.
    woken: AtomicBool,
    inbox: Sender<Message>,
    _lease: Lease,
}

impl Waking {
    /// For a task that keeps `lease` as long as it, or a waker of it, is left.
    pub(super) fn new(job: JobId, inbox: Sender<Message>, lease: Lease) -> Arc<Self> {
        Arc::new(Self { job, woken: AtomicBool::new(false), inbox, _lease: lease })
    }

    /// The task is about to be run: what wakes it from now on counts anew.
    pub(super) fn begin_run(&self) {
        self.woken.store(false, Ordering::Release);
    }

    /// As it is lent to the module: the address of a share that somebody holds.
    pub(super) fn lend(self: &Arc<Self>) -> *const () {
        Arc::as_ptr(self).cast()
    }

    /// One more holder, as it crosses the border: the share itself, which `Arc::from_raw` takes back.
    pub(crate) fn clone_raw(self: &Arc<Self>) -> *const () {
        Arc::into_raw(Arc::clone(self)).cast()
    }

    /// Wakes the task.
    pub(crate) fn wake(&self) {
        if !self.woken.swap(true, Ordering::AcqRel) {
            // A runtime that is gone has no task left to wake.
            let _gone = self.inbox.send(Message::Wake(self.job));
        }
    }
}

#[cfg(test)]
mod tests;
