//! The host's side of a task's waker. A waker is cloned into any thread and may outlive its task, so what it refers to
//! is the host's: a count, the number of the task, and the way into the inbox. The few lines that a waker runs of its
//! module stay mapped as long as the lease does, and that ends with the last holder.
#![expect(unsafe_code, reason = "counts the holders of a waker behind the address that crosses the border")]

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

    /// As it is lent to the module.
    pub(super) fn lend(self: &Arc<Self>) -> *const () {
        Arc::as_ptr(self).cast()
    }

    /// One more holder, as it crosses the border.
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

/// What a waker that crosses the border refers to, as the share of whoever holds it.
///
/// # Safety
/// `waker` came from [`Waking::lend`] or [`Waking::clone_raw`], and somebody holds it. The share is dropped only for a holder that
/// was counted by [`Waking::clone_raw`] and gives that up.
pub(crate) unsafe fn held(waker: *const ()) -> Arc<Waking> {
    // SAFETY: the caller promises that the address is that of an `Arc` which somebody holds, and does not drop it twice.
    unsafe { Arc::from_raw(waker.cast()) }
}

#[cfg(test)]
mod tests {
    use super::{Waking, held};
    use crate::bridge::tasks::inbox::Message;
    use crate::lease::{LeaseKind, Leases};
    use alcedo_abi::task::JobId;
    use crossbeam_channel::unbounded;

    #[test]
    fn a_waker_on_another_thread_keeps_the_lease_and_wakes_once_per_run() {
        let leases = Leases::new("m");
        let (sender, inbox) = unbounded();
        let lease = leases.take(LeaseKind::Task, "a task").expect("it is open");
        let waking = Waking::new(JobId(7), sender, lease);
        let raw = waking.clone_raw().expose_provenance();
        let wakes = |inbox: &crossbeam_channel::Receiver<Message>| {
            inbox.try_iter().filter(|message| matches!(message, Message::Wake(JobId(7)))).count()
        };
        drop(waking);
        assert_eq!(leases.count(), 1, "the task is gone, its waker is not");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: counted above, and dropped once.
                let waker = unsafe { held(std::ptr::with_exposed_provenance(raw)) };
                for _ in 0..1_000 {
                    waker.wake();
                }
            });
        });
        assert_eq!((wakes(&inbox), leases.count()), (1, 0));
    }
}
