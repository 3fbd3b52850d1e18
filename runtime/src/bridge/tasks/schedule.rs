//! Game time and due times. Only ticks of the host advance the game time, so no timer runs in a host that runs no ticks. If the ticks
//! advance the game time at double speed, the timers run at double speed. This file only computes due times, and runs no job.

use std::collections::BTreeMap;
use std::time::Duration;

/// Scheduled items. Items with equal due times are ordered by creation.
#[derive(Debug, Default)]
pub(super) struct Schedule<K> {
    now: Duration,
    due: BTreeMap<(Duration, u64), K>,
}

impl<K: Copy> Schedule<K> {
    /// Returns the game time since the creation of the host.
    pub(super) fn now(&self) -> Duration {
        self.now
    }

    /// Advances the game time. Invalid durations count as zero.
    pub(super) fn advance(&mut self, seconds: f32) {
        let step = Duration::try_from_secs_f32(seconds).unwrap_or_default();
        self.now = self.now.saturating_add(step);
    }

    /// Schedules `key` at the time `due`. Items with equal due times are ordered by `made`.
    pub(super) fn put(&mut self, due: Duration, made: u64, key: K) {
        self.due.insert((due, made), key);
    }

    pub(super) fn remove(&mut self, due: Duration, made: u64) {
        self.due.remove(&(due, made));
    }

    /// Returns the due items, in the order of their due times. The items remain in the schedule until the caller removes them.
    pub(super) fn due(&self) -> Vec<K> {
        self.due.range(..=(self.now, u64::MAX)).map(|(_, key)| *key).collect()
    }
}

/// Returns the next due time of a repeating timer. The timer keeps its phase, and skips the periods that a long tick missed. A timer with a
/// period of zero is due in every tick.
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
            // (due, period, now, expected result) in milliseconds
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
    fn due_jobs_run_by_time_then_by_creation() {
        let mut schedule = Schedule::default();
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
        let mut schedule = Schedule::<()>::default();
        for seconds in [f32::NAN, f32::INFINITY, -1.0, 0.0] {
            schedule.advance(seconds);
        }
        assert_eq!(schedule.now(), Duration::ZERO);
        schedule.advance(0.5);
        assert_eq!(schedule.now(), ms(500));
    }
}
