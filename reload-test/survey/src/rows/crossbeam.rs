//! Uses channels, scoped threads, queues, and epoch-based reclamation, which has state per thread.

use crossbeam::channel::bounded;
use crossbeam::epoch::{self, Atomic, Owned};
use crossbeam::queue::SegQueue;
use crossbeam::sync::WaitGroup;
use std::sync::atomic::Ordering;

static SHARED: Atomic<Vec<u32>> = Atomic::null();

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let (sender, receiver) = bounded(2);
    let queue = SegQueue::new();
    let group = WaitGroup::new();
    let sum = crossbeam::scope(|scope| {
        for number in 0..4_u32 {
            let (sender, group, queue) = (sender.clone(), group.clone(), &queue);
            scope.spawn(move |_| {
                let guard = epoch::pin();
                let old = SHARED.swap(Owned::new(vec![number; 100]), Ordering::AcqRel, &guard);
                if !old.is_null() {
                    // SAFETY: the value was swapped out above, so threads that pin from now on cannot reach it.
                    unsafe { guard.defer_destroy(old) };
                }
                queue.push(number);
                drop(guard);
                sender.send(number).expect("the receiver is there");
                drop(group);
            });
        }
        let sum: u32 = receiver.iter().take(4).sum();
        group.wait();
        sum
    });
    if sum.ok() == Some(6) && queue.len() == 4 { "ok".to_owned() } else { "a number was lost".to_owned() }
}

pub(crate) fn end() {}
