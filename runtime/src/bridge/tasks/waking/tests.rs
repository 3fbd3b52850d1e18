//! Clones and drops wakers through raw addresses, as a module does.
#![expect(unsafe_code, reason = "converts an address back to the reference that it owns")]

use std::sync::Arc;

use super::Waking;
use crate::bridge::tasks::inbox::Message;
use crate::lease::{LeaseKind, Leases};
use alcedo_abi::task::JobId;
use crossbeam_channel::unbounded;

#[test]
fn a_waker_on_another_thread_holds_the_lease_and_wakes_once() {
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
            // SAFETY: `raw` holds a reference that was counted above, and is dropped once.
            let waker = unsafe { Arc::from_raw(std::ptr::with_exposed_provenance::<Waking>(raw)) };
            for _ in 0..1_000 {
                waker.wake();
            }
        });
    });
    assert_eq!((wakes(&inbox), leases.count()), (1, 0));
}

#[test]
fn a_task_that_runs_again_is_woken_again() {
    let (sender, inbox) = unbounded();
    let lease = Leases::new("m").take(LeaseKind::Task, "a task").expect("it is open");
    let waking = Waking::new(JobId(7), sender, lease);
    for run in 0..3 {
        waking.begin_run();
        waking.wake();
        waking.wake();
        assert_eq!(inbox.try_iter().count(), 1, "run {run}");
    }
}
