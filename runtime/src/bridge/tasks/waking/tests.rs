//! Clones and drops wakers through raw addresses, as a module does.
#![expect(unsafe_code, reason = "converts an address back to the reference that it owns")]

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

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

/// Waits until `turn` has this value. Yields regularly, because the other thread may have no processor.
fn until(turn: &AtomicU32, value: u32) {
    for spins in 0_u32.. {
        if turn.load(Ordering::Acquire) == value {
            return;
        }
        if spins % 256 == 255 { std::thread::yield_now() } else { spin_loop() }
    }
}

#[test]
fn a_wake_at_the_start_of_a_run_is_sent_or_its_cause_is_observed() {
    const ROUNDS: u32 = 20_000;
    let (sender, inbox) = unbounded();
    let lease = Leases::new("m").take(LeaseKind::Task, "a task").expect("it is open");
    let waking = Waking::new(JobId(7), sender, lease);
    let [begun, ended, cause] = [(); 3].map(|()| AtomicU32::new(0));
    let mut lost = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1..=ROUNDS {
                until(&begun, round);
                cause.store(round, Ordering::Relaxed);
                waking.wake();
                ended.store(round, Ordering::Release);
            }
        });
        for round in 1..=ROUNDS {
            // The other thread ignores its wake if this wake was not reset before.
            waking.wake();
            inbox.try_iter().for_each(drop);
            begun.store(round, Ordering::Release);
            (0..round % 64).for_each(|_| spin_loop());
            waking.begin_run();
            let is_observed = cause.load(Ordering::Relaxed) == round;
            until(&ended, round);
            lost += u32::from(!is_observed && inbox.is_empty());
        }
    });
    assert_eq!(lost, 0);
}
