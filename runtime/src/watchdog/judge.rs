//! Detects activities that take too long, and records the last reported activity. Reads no clock: the caller passes the time and
//! the activity numbers.

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
    /// The last reported activity has ended.
    Over {
        /// Time from the first observation of the activity to its end.
        after: Duration,
    },
}

/// Observations of one thread.
#[derive(Debug)]
pub(super) struct Judge {
    limit: Duration,
    /// Activities of the last check, outermost first, each with the time of its first observation.
    seen: Vec<(u64, Duration)>,
    /// Number of the last reported activity, the time of its first observation, and a flag that is true while the activity runs.
    reported: Option<(u64, Duration, bool)>,
}

impl Judge {
    /// Creates a judge that reports activities that last `limit` or longer.
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, seen: Vec::new(), reported: None }
    }

    /// Compares the current activities with the activities of the last check. `activity` contains the numbers of the activities that the
    /// thread has at the time `now`, outermost first.
    ///
    /// Reports the innermost activity that takes too long, because outer activities only wait for the innermost activity. After a report,
    /// omits the activities that began before the reported activity, because they wait for the reported activity.
    pub(super) fn check(&mut self, now: Duration, activity: &[u64]) -> Verdict {
        let same = self.seen.iter().zip(activity).take_while(|((seen, _), now)| seen == *now).count();
        self.seen.truncate(same);
        self.seen.extend(activity[same..].iter().map(|id| (*id, now)));
        if let Some((id, since, going_on)) = &mut self.reported
            && *going_on
            && !activity.contains(id)
        {
            *going_on = false;
            return Verdict::Over { after: now.saturating_sub(*since) };
        }
        let is_overdue = |(_, since): &(u64, Duration)| now.saturating_sub(*since) >= self.limit;
        let Some(at) = self.seen.iter().rposition(is_overdue) else { return Verdict::Fine };
        let (id, since) = self.seen[at];
        if self.reported.is_some_and(|(reported, ..)| id <= reported) {
            return Verdict::Fine;
        }
        self.reported = Some((id, since, true));
        Verdict::Stuck { at, since: now.saturating_sub(since) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Judge, Verdict};
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
    fn a_call_that_loops_over_short_calls_is_reported_itself() {
        check(&[(&[1, 2], FINE), (&[1, 3], FINE), (&[1], FINE), (&[1, 4], stuck(0)), (&[1, 5], FINE)]);
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
