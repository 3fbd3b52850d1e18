//! Computes the schedule and the rate of ticks. Times are durations since the start of the caller's loop.

use std::collections::VecDeque;
use std::time::Duration;

/// Interval between ticks: sixty ticks per second.
pub(crate) const FRAME: Duration = Duration::from_nanos(16_666_667);
/// Maximum delay after which missed ticks are still executed. After a longer delay, for example because of a reload or a suspended machine,
/// missed ticks are skipped.
const FORGIVEN: Duration = Duration::from_millis(100);
const SECOND: Duration = Duration::from_secs(1);
/// Maximum sleep after a wait that has ended before the next tick.
const MOMENT: Duration = Duration::from_millis(1);

/// Schedule of the world's ticks.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    next: Duration,
    recent: VecDeque<Duration>,
}

impl Pace {
    /// Returns the time until the next tick. Returns zero if the tick is due.
    pub(crate) fn rest(&self, now: Duration) -> Duration {
        self.next.saturating_sub(now)
    }

    /// Returns the duration of the sleep after a wait that has ended before the next tick. A woken task stays pending until the next tick,
    /// and ends each further wait immediately.
    pub(crate) fn moment(&self, now: Duration) -> Duration {
        self.rest(now).min(MOMENT)
    }

    /// Records a tick that ended at `now` after `elapsed`.
    ///
    /// If a tick takes longer than a frame, a pause of the same length as the tick follows. A world whose ticks are too slow for the
    /// machine therefore slows down, and leaves CPU time for the user's build.
    pub(crate) fn ticked(&mut self, now: Duration, elapsed: Duration) {
        self.next += FRAME;
        if elapsed > FRAME {
            self.next = now + elapsed;
        } else if self.next + FORGIVEN < now {
            self.next = now + FRAME;
        }
        self.recent.push_back(now);
        self.forget(now);
    }

    /// Returns the number of ticks in the second before `now`.
    pub(crate) fn rate(&mut self, now: Duration) -> usize {
        self.forget(now);
        self.recent.len()
    }

    fn forget(&mut self, now: Duration) {
        while self.recent.front().is_some_and(|at| *at + SECOND <= now) {
            self.recent.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{FRAME, MOMENT, Pace};

    /// Runs ticks when they are due. Advances the clock from `from` to `until`, in steps of `step` milliseconds.
    fn ticks(pace: &mut Pace, step: u64, from: u64, until: u64) -> usize {
        let mut made = 0;
        for now in (from..until).step_by(usize::try_from(step).unwrap()).map(Duration::from_millis) {
            if pace.rest(now).is_zero() {
                pace.ticked(now, Duration::ZERO);
                made += 1;
            }
        }
        made
    }

    #[test]
    fn sixty_ticks_run_per_second_at_any_polling_rate() {
        for step in [1, 3, 5, 16] {
            let mut pace = Pace::default();
            let made = ticks(&mut pace, step, 0, 1000);
            assert!((59..=61).contains(&made), "{made} at {step} ms");
            assert_eq!(pace.rate(Duration::from_millis(999)), made);
        }
    }

    #[test]
    fn a_wait_that_ends_early_is_followed_by_a_short_sleep() {
        let mut pace = Pace::default();
        assert_eq!(pace.moment(Duration::ZERO), Duration::ZERO);
        pace.ticked(Duration::ZERO, Duration::ZERO);
        let almost = FRAME - MOMENT / 2;
        assert_eq!([Duration::ZERO, almost, FRAME].map(|now| pace.moment(now)), [MOMENT, MOMENT / 2, Duration::ZERO]);
    }

    #[test]
    fn short_delays_are_caught_up_and_long_ones_are_not() {
        let mut pace = Pace::default();
        pace.ticked(Duration::ZERO, Duration::ZERO);
        pace.ticked(Duration::from_millis(80), Duration::ZERO);
        assert_eq!(pace.rest(Duration::from_millis(80)), Duration::ZERO);
        pace.ticked(Duration::from_secs(5), Duration::ZERO);
        assert_eq!(pace.rest(Duration::from_secs(5)), FRAME);
    }

    #[test]
    fn a_tick_beyond_its_frame_is_followed_by_an_equal_pause() {
        let mut pace = Pace::default();
        pace.ticked(Duration::from_millis(40), Duration::from_millis(40));
        assert_eq!(pace.rest(Duration::from_millis(40)), Duration::from_millis(40));
        pace.ticked(Duration::from_millis(81), Duration::from_millis(1));
        assert_eq!(pace.rest(Duration::from_millis(81)), Duration::from_millis(80) + FRAME - Duration::from_millis(81));
    }

    #[test]
    fn the_rate_falls_when_nothing_ticks() {
        let mut pace = Pace::default();
        ticks(&mut pace, 1, 0, 1000);
        assert!((29..=31).contains(&pace.rate(Duration::from_millis(1500))));
        assert_eq!(pace.rate(Duration::from_secs(9)), 0);
    }
}
