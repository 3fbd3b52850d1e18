//! Game time, and what is due when. Time is what the host's ticks say, never a clock on the wall: a host that stops
//! ticking stops every timer, and one that runs at double speed runs them so. This file decides; it runs nothing.

use std::collections::BTreeMap;
use std::time::Duration;

/// What waits for its time. What is due at the same time comes in the order it was made.
#[derive(Debug)]
pub(super) struct Schedule<K> {
    now: Duration,
    due: BTreeMap<(Duration, u64), K>,
}

impl<K: Copy> Schedule<K> {
    /// Nothing waits, and no time has gone by.
    pub(super) const fn new() -> Self {
        Self { now: Duration::ZERO, due: BTreeMap::new() }
    }

    /// Game time since the host began.
    pub(super) fn now(&self) -> Duration {
        self.now
    }

    /// So many seconds go by. What is no length of time is none.
    pub(super) fn advance(&mut self, seconds: f32) {
        let step = Duration::try_from_secs_f32(seconds).unwrap_or_default();
        self.now = self.now.saturating_add(step);
    }

    /// From now on `key`, which was made as the `made`-th, is due at `due`.
    pub(super) fn put(&mut self, due: Duration, made: u64, key: K) {
        self.due.insert((due, made), key);
    }

    /// It is not due any more.
    pub(super) fn remove(&mut self, due: Duration, made: u64) {
        self.due.remove(&(due, made));
    }

    /// What is due by now, the longest overdue first. It stays until it is removed.
    pub(super) fn due(&self) -> Vec<K> {
        self.due.range(..=(self.now, u64::MAX)).map(|(_, key)| *key).collect()
    }
}

/// When a timer that was due at `due` and repeats every `period` is due next: the rhythm is kept, and what a long tick
/// left out is not made up for. A period of zero is every tick.
pub(super) fn next_due(due: Duration, period: Duration, now: Duration) -> Duration {
    if period.is_zero() {
        return now;
    }
    let late = now.saturating_sub(due).as_nanos();
    let periods = u64::try_from(late / period.as_nanos()).unwrap_or(u64::MAX).saturating_add(1);
    let step = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX).saturating_mul(periods);
    due.saturating_add(Duration::from_nanos(step))
}

#[cfg(test)]
mod tests {
    use super::{Schedule, next_due};
    use std::time::Duration;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_timer_keeps_its_rhythm_and_makes_nothing_up() {
        for (due, period, now, next) in [
            // (due, period, now) in milliseconds
            (100, 100, 100, 200),
            (100, 100, 199, 200),
            (100, 100, 200, 300),
            (100, 100, 1_050, 1_100),
            (0, 7, 20, 21),
            (100, 0, 130, 130),
            (500, 100, 400, 600),
        ] {
            assert_eq!(next_due(ms(due), ms(period), ms(now)), ms(next), "due {due}, every {period}, at {now}");
        }
        assert_eq!(next_due(ms(1), Duration::MAX, ms(1)), ms(1).saturating_add(Duration::from_nanos(u64::MAX)));
    }

    #[test]
    fn what_is_due_comes_by_time_then_in_the_order_it_was_made() {
        let mut schedule = Schedule::new();
        schedule.put(ms(20), 1, 'a');
        schedule.put(ms(10), 3, 'c');
        schedule.put(ms(10), 2, 'b');
        schedule.put(ms(30), 4, 'd');
        assert_eq!(schedule.due(), Vec::<char>::new());
        schedule.advance(0.02);
        assert_eq!(schedule.due(), ['b', 'c', 'a']);
        schedule.remove(ms(10), 3);
        assert_eq!(schedule.due(), ['b', 'a']);
    }

    #[test]
    fn only_a_length_of_time_lets_time_go_by() {
        let mut schedule = Schedule::<()>::new();
        for seconds in [f32::NAN, f32::INFINITY, -1.0, 0.0] {
            schedule.advance(seconds);
        }
        assert_eq!(schedule.now(), Duration::ZERO);
        schedule.advance(0.5);
        assert_eq!(schedule.now(), ms(500));
    }
}
