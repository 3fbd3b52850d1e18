//! What was dropped on foreign threads, on its way to the game thread; and how much of it the game thread works off at a
//! time.

use std::time::Duration;

use alcedo_abi::handles::BlackHandle;
use crossbeam_channel::{Receiver, Sender, unbounded};

/// What share of the queue has to be done before a flush may stop: one in so many.
const SHARE: usize = 20;

/// How long a flush goes on at the least, as long as there is something to do.
const SPAN: Duration = Duration::from_millis(1);

/// Where foreign threads leave what they have dropped. Any thread; a clone leads to the same queue.
#[derive(Clone, Debug)]
pub(crate) struct Drops(Sender<BlackHandle>);

impl Drops {
    /// Queues one. Once the runtime is gone the queue has no reader, and nothing is left to release.
    pub(crate) fn leave(&self, black: BlackHandle) {
        let _gone = self.0.send(black);
    }
}

/// An empty queue: the way in, and the reader's end.
pub(super) fn queue() -> (Drops, Receiver<BlackHandle>) {
    let (sender, receiver) = unbounded();
    (Drops(sender), receiver)
}

/// Whether a flush that has done so many of a queue that was so long may stop. It has to keep up with the threads that
/// drop, so it does its share however long that takes; and it goes on while the tick has time left.
pub(super) fn may_stop(done: usize, queued: usize, elapsed: Duration) -> bool {
    done.saturating_mul(SHARE) >= queued && elapsed >= SPAN
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::may_stop;

    #[test]
    fn a_flush_stops_when_its_share_is_done_and_its_time_is_over() {
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
    fn a_queue_grows_no_longer_than_twenty_times_what_comes_in_a_tick_however_slow_a_flush_is() {
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
