//! Queue of owned values that other threads have dropped, and the limits of a flush on the game thread.

use std::time::Duration;

use alcedo_abi::handles::BlackHandle;
use crossbeam_channel::{Receiver, Sender, unbounded};

/// Divisor of the queue length: a flush processes at least 1/`SHARE` of the queue.
const SHARE: usize = 20;

/// Minimum duration of a flush while the queue is not empty.
const SPAN: Duration = Duration::from_millis(1);

/// Sending end of the queue. Can be used on any thread; clones share the queue.
#[derive(Clone, Debug)]
pub(crate) struct Drops(Sender<BlackHandle>);

impl Drops {
    /// Queues a drop. Has no effect after the runtime was dropped, because dropping the runtime has released all values.
    pub(crate) fn leave(&self, black: BlackHandle) {
        let _gone = self.0.send(black);
    }
}

/// Creates an empty queue.
pub(super) fn queue() -> (Drops, Receiver<BlackHandle>) {
    let (sender, receiver) = unbounded();
    (Drops(sender), receiver)
}

/// Checks if a flush may stop after `done` of `queued` drops. Each flush processes a minimum share of the queue, which limits the growth of
/// the queue. The flush also continues until its minimum duration has passed.
pub(super) fn may_stop(done: usize, queued: usize, elapsed: Duration) -> bool {
    done.saturating_mul(SHARE) >= queued && elapsed >= SPAN
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::may_stop;

    #[test]
    fn a_flush_stops_after_its_share_and_its_time() {
        let (early, late) = (Duration::from_micros(999), Duration::from_millis(1));
        for (done, queued, elapsed, stops) in [
            (0, 0, late, true),
            (0, 1, late, false),
            (1, 1, late, true),
            (1, 20, late, true),
            (1, 21, late, false),
            (49, 1000, late, false),
            (50, 1000, late, true),
            (49, 1000, Duration::from_secs(9), false),
            (50, 1000, early, false),
            (1000, 1000, early, false),
            (usize::MAX, usize::MAX, late, true),
        ] {
            assert_eq!(may_stop(done, queued, elapsed), stops, "{done} of {queued} after {elapsed:?}");
        }
    }

    #[test]
    fn slow_flushes_bound_a_queue_to_twenty_times_the_rate() {
        for comes in [1_usize, 7, 1000] {
            let mut left = 0;
            for _tick in 0..1000 {
                left += comes;
                let (queued, mut done) = (left, 0);
                while left > 0 && !may_stop(done, queued, Duration::from_secs(1)) {
                    done += 1;
                    left -= 1;
                }
                assert!(left <= comes * 20, "{left} are left of {comes} a tick");
            }
        }
    }
}
