//! Who watches calls: counts and times by name, and a span for each call. Both are off as a rule, and then a call pays one
//! comparison for them, see [`ZCallTable`](crate::table::ZCallTable).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use crate::border::CallError;
use crate::cells::RefCell;
use crate::name::ZCallName;

/// What is watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Observed {
    /// Calls are counted and timed by name.
    pub counts: bool,
    /// Each call is a span: target `alcedo::calls`, level trace, with the fields `kind` and `name`.
    pub spans: bool,
}

impl Observed {
    /// Whether anything is.
    #[must_use]
    pub fn any(self) -> bool {
        self.counts || self.spans
    }
}

/// The calls of one name since counting began.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallTimes {
    /// The sort of call: the protocol of its name, or another word for one that was not made by a name.
    pub kind: String,
    /// The name.
    pub name: String,
    /// How many calls.
    pub calls: u64,
    /// How many of them ended with an error.
    pub failed: u64,
    /// The time in all of them, with that of calls inside them.
    pub total: Duration,
    /// The longest.
    pub longest: Duration,
    /// How many took how long.
    pub histogram: Histogram,
}

/// How many calls took how long: one number for each power of two of nanoseconds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Histogram([u64; Self::BUCKETS]);

impl Histogram {
    /// The last one has all that took longer, which is more than half a minute.
    pub const BUCKETS: usize = 36;

    fn add(&mut self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let at = (u64::BITS - nanoseconds.leading_zeros()) as usize;
        self.0[at.min(Self::BUCKETS - 1)] += 1;
    }

    /// Each with how many calls it has, the shortest first: those of a bucket took less than its time, and at least half of it.
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> {
        self.0.iter().enumerate().map(|(at, calls)| (Duration::from_nanos(1 << at), *calls))
    }

    /// The time that so many of a hundred calls did not exceed, rounded up to a power of two of nanoseconds.
    #[must_use]
    pub fn percentile(&self, of_hundred: u64) -> Duration {
        let all: u64 = self.0.iter().sum();
        let wanted = all.saturating_mul(of_hundred).div_ceil(100).max(1);
        let mut seen = 0;
        let found = self.buckets().find(|(_, calls)| {
            seen += calls;
            seen >= wanted
        });
        found.map_or(Duration::ZERO, |(time, _)| time)
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self([0; Self::BUCKETS])
    }
}

impl fmt::Display for CallTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, calls, failed, total, longest, histogram } = self;
        let mean = total.checked_div(u32::try_from(*calls).unwrap_or(u32::MAX)).unwrap_or_default();
        let (half, most) = (histogram.percentile(50), histogram.percentile(99));
        write!(f, "{calls} × {name} ({kind}): mean {mean:?}, half < {half:?}, 99 % < {most:?}, longest {longest:?}")?;
        if *failed > 0 { write!(f, ", {failed} failed") } else { Ok(()) }
    }
}

/// What was counted.
#[derive(Default)]
pub(crate) struct Observer {
    what: Cell<Observed>,
    counts: RefCell<BTreeMap<(String, String), Counts>>,
}

#[derive(Default)]
struct Counts {
    calls: u64,
    failed: u64,
    total: Duration,
    longest: Duration,
    histogram: Histogram,
}

impl Observer {
    pub(crate) fn what(&self) -> Observed {
        self.what.get()
    }

    pub(crate) fn set(&self, what: Observed) {
        self.what.set(what);
    }

    pub(crate) fn times(&self) -> Vec<CallTimes> {
        let counts = self.counts.borrow();
        let times = |((kind, name), counts): (&(String, String), &Counts)| CallTimes {
            kind: kind.clone(),
            name: name.clone(),
            calls: counts.calls,
            failed: counts.failed,
            total: counts.total,
            longest: counts.longest,
            histogram: counts.histogram.clone(),
        };
        counts.iter().map(times).collect()
    }

    pub(crate) fn clear(&self) {
        self.counts.borrow_mut().clear();
    }

    /// Does a call that is watched. No borrow is held while it runs.
    #[cold]
    pub(crate) fn around<T>(
        &self,
        kind: &str,
        name: &str,
        call: impl FnOnce() -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let what = self.what.get();
        let span = what.spans.then(|| tracing::trace_span!(target: "alcedo::calls", "call", kind, name).entered());
        let begun = Instant::now();
        let done = call();
        let took = begun.elapsed();
        drop(span);
        if what.counts {
            let mut counts = self.counts.borrow_mut();
            let counts = counts.entry((kind.to_owned(), name.to_owned())).or_default();
            counts.calls += 1;
            counts.failed += u64::from(done.is_err());
            counts.total += took;
            counts.longest = counts.longest.max(took);
            counts.histogram.add(took);
        }
        done
    }

    /// The same for one that was made by a name.
    pub(crate) fn around_named<T>(
        &self,
        name: &ZCallName,
        call: impl FnOnce() -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        self.around(name.protocol(), &name.to_string(), call)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Histogram, Observed, Observer};
    use crate::border::CallError;

    #[test]
    fn a_histogram_has_a_bucket_for_each_power_of_two() {
        let mut histogram = Histogram::default();
        for nanoseconds in [0, 1, 3, 3, 900, u64::MAX] {
            histogram.add(Duration::from_nanos(nanoseconds));
        }
        let filled: Vec<_> = histogram.buckets().filter(|(_, calls)| *calls > 0).collect();
        let of = Duration::from_nanos;
        assert_eq!(filled, [(of(1), 1), (of(2), 1), (of(4), 2), (of(1024), 1), (of(1 << 35), 1)]);
        assert_eq!((histogram.percentile(50), histogram.percentile(80)), (of(4), of(1024)));
        assert_eq!(Histogram::default().percentile(99), Duration::ZERO);
    }

    #[test]
    fn calls_are_counted_by_kind_and_name_with_those_that_failed() {
        let observer = Observer::default();
        observer.set(Observed { counts: true, spans: false });
        for fails in [false, true, false] {
            let call = || if fails { Err(CallError::other("no")) } else { Ok(()) };
            assert_eq!(observer.around("ex", "a", call).is_err(), fails);
        }
        // A call inside a call is counted as well.
        let inner = || observer.around("ex", "b", || Ok(7));
        assert_eq!(observer.around("uf", "a", inner), Ok(7));
        let told: Vec<_> =
            observer.times().into_iter().map(|times| (times.kind, times.name, times.calls, times.failed)).collect();
        let of = |kind: &str, name: &str, calls, failed| (kind.to_owned(), name.to_owned(), calls, failed);
        assert_eq!(told, [of("ex", "a", 3, 1), of("ex", "b", 1, 0), of("uf", "a", 1, 0)]);
        observer.clear();
        assert!(observer.times().is_empty());
    }
}
