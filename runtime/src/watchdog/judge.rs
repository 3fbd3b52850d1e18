//! Detects activities that take too long, and records the reported activities. Reads no clock: the caller passes the time and the
//! activity numbers.

use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// No activity needs a report.
    Fine,
    /// An activity has lasted too long.
    Stuck {
        /// Index of the activity, counted from the outermost.
        at: usize,
        since: Duration,
    },
    /// A reported activity has ended.
    Over {
        /// Time from the first observation of the activity to its end.
        after: Duration,
    },
}

/// Returns the part of a sleep between two checks that does not count, because the process was stopped, for example by a debugger or with
/// its virtual machine. A stop therefore adds at most half the limit to the duration of an activity.
pub(super) fn pause(slept: Duration, limit: Duration) -> Duration {
    slept.saturating_sub(limit / 2)
}

/// Observations of one thread.
#[derive(Debug)]
pub(super) struct Judge {
    limit: Duration,
    /// Activities of the last check, outermost first.
    seen: Vec<Seen>,
}

#[derive(Debug)]
struct Seen {
    id: u64,
    /// Time of the first observation, or of the end of a reported activity for which this activity has waited.
    since: Duration,
    is_reported: bool,
}

impl Judge {
    /// Creates a judge that reports activities that last `limit` or longer.
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, seen: Vec::new() }
    }

    /// Compares the current activities with the activities of the last check. `activity` contains the numbers of the activities that the
    /// thread has at the time `now`, outermost first.
    ///
    /// Reports the innermost activity that takes too long, because outer activities only wait for the innermost activity. Omits the
    /// activities outside of a reported activity until the reported activity ends. The time of these activities then begins again.
    pub(super) fn check(&mut self, now: Duration, activity: &[u64]) -> Verdict {
        let same = self.seen.iter().zip(activity).take_while(|(seen, id)| seen.id == **id).count();
        let over = self.seen.drain(same..).find(|ended| ended.is_reported);
        self.seen.extend(activity[same..].iter().map(|id| Seen { id: *id, since: now, is_reported: false }));
        if let Some(Seen { since, .. }) = over {
            self.seen.iter_mut().filter(|waiting| !waiting.is_reported).for_each(|waiting| waiting.since = now);
            return Verdict::Over { after: now.saturating_sub(since) };
        }
        let is_overdue = |seen: &Seen| now.saturating_sub(seen.since) >= self.limit;
        let Some(at) = self.seen.iter().rposition(is_overdue) else { return Verdict::Fine };
        let Seen { since, is_reported, .. } = &mut self.seen[at];
        if std::mem::replace(is_reported, true) {
            return Verdict::Fine;
        }
        Verdict::Stuck { at, since: now.saturating_sub(*since) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Judge, Verdict, pause};
    use std::time::Duration;

    /// Simulates one check per second with a limit of three seconds, and compares the verdicts.
    fn check(rounds: &[(&[u64], Verdict)]) {
        let mut judge = Judge::new(Duration::from_secs(3));
        for (second, (activity, expected)) in rounds.iter().enumerate() {
            assert_eq!(judge.check(Duration::from_secs(second as u64), activity), *expected, "second {second}");
        }
    }

    fn stuck(at: usize) -> Verdict {
        Verdict::Stuck { at, since: Duration::from_secs(3) }
    }

    fn over(seconds: u64) -> Verdict {
        Verdict::Over { after: Duration::from_secs(seconds) }
    }

    const FINE: Verdict = Verdict::Fine;

    #[test]
    fn a_progressing_or_idle_thread_is_not_reported() {
        check(&[(&[], FINE), (&[1], FINE), (&[2], FINE), (&[3], FINE), (&[4], FINE), (&[], FINE), (&[], FINE)]);
    }

    #[test]
    fn the_innermost_stalled_call_is_reported_once_and_so_is_its_end() {
        let both: &[u64] = &[1, 2];
        check(&[
            (both, FINE),
            (both, FINE),
            (both, FINE),
            (both, stuck(1)),
            (both, FINE),
            (both, FINE),
            (&[1], over(6)),
            (&[1], FINE),
            (&[], FINE),
            (&[7], FINE),
            (&[7], FINE),
            (&[7], FINE),
            (&[7], stuck(0)),
            (&[], over(4)),
        ]);
    }

    #[test]
    fn a_call_that_hangs_after_an_inner_hang_is_reported_as_well() {
        let both: &[u64] = &[1, 2];
        check(&[
            (both, FINE),
            (both, FINE),
            (both, FINE),
            (both, stuck(1)),
            (&[1], over(4)),
            (&[1], FINE),
            (&[1], FINE),
            (&[1], stuck(0)),
            (&[], over(4)),
        ]);
    }

    #[test]
    fn a_call_that_loops_over_short_calls_is_reported_itself() {
        check(&[(&[1, 2], FINE), (&[1, 3], FINE), (&[1], FINE), (&[1, 4], stuck(0)), (&[1, 5], FINE)]);
    }

    #[test]
    fn a_stopped_process_does_not_hang() {
        let limit = Duration::from_secs(3);
        let (mut judge, mut now) = (Judge::new(limit), Duration::ZERO);
        let since = Duration::from_millis(3500);
        for (seconds, expected) in [(1, FINE), (60, FINE), (1, FINE), (1, Verdict::Stuck { at: 0, since })] {
            let slept = Duration::from_secs(seconds);
            now += slept - pause(slept, limit);
            assert_eq!(judge.check(now, &[1]), expected, "at {now:?}");
        }
    }

    #[test]
    fn a_nested_stall_is_reported_as_well() {
        check(&[
            (&[1], FINE),
            (&[1, 2], FINE),
            (&[1, 3], FINE),
            (&[1, 3], stuck(0)),
            (&[1, 3], FINE),
            (&[1, 3], stuck(1)),
        ]);
    }
}
