//! Observation of calls: counts and times by name, and tracing spans. Observation is usually disabled, and then costs one comparison per
//! call. See [`ZCallTable`](crate::table::ZCallTable).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use crate::boundary::CallError;
use crate::cells::RefCell;
use crate::panic_guard;

/// Enabled observations.
///
/// # Examples
/// ```
/// use alcedo_zcall::observe::Observed;
///
/// assert!(!Observed::default().any());
/// assert!(Observed { counts: true, spans: false }.any());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Observed {
    /// Counts and times calls by name.
    pub counts: bool,
    /// Opens a span for each call, with target `alcedo::calls`, level trace, and fields `kind` and `name`.
    pub spans: bool,
}

impl Observed {
    /// Returns `true` if any observation is enabled.
    #[must_use]
    pub fn any(self) -> bool {
        self.counts || self.spans
    }
}

/// Statistics of the calls of one name since the statistics were last cleared.
///
/// # Examples
/// ```
/// # use std::rc::Rc;
/// # use alcedo_base::game_thread::GameThreadId;
/// # use alcedo_zcall::call::{Call, Resolved};
/// # use alcedo_zcall::chain::{Origin, ResolverChain};
/// # use alcedo_zcall::explicit::{Ex, Explicit};
/// # use alcedo_zcall::owned::DynBuffer;
/// # use alcedo_zcall::signature::CallSignature;
/// # use alcedo_zcall::table::ZCallTable;
/// # let (chain, functions) = (ResolverChain::new(), Rc::new(Explicit::default()));
/// # chain.add_protocol(Rc::new(Ex), Origin::BuiltIn)?;
/// # chain.add("ex", Origin::BuiltIn, 0, "registered", functions.clone())?;
/// # let score = |call: Call<'_>| call.into_buffer().set(0, 7_u64);
/// # functions.register("score", Resolved::new(CallSignature::new("-> u64".into(), 0, ()), score))?;
/// # let (table, id) = (ZCallTable::new(), GameThreadId::here());
/// # let game_thread = id.prove().expect("the thread of the id");
/// use alcedo_zcall::observe::Observed;
///
/// table.observe(Observed { counts: true, spans: false });
/// let handle = table.resolve(&chain, "ex:/score", 0)?;
/// let (_, called) = table.dispatch(game_thread, handle, DynBuffer::with_len(1).as_buffer_mut());
/// called?;
/// let times = table.times();
/// assert_eq!((times[0].name.as_str(), times[0].calls, times[0].failed), ("ex:/score", 1, 0));
/// # Ok::<(), alcedo_base::boundary::CallError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CallTimes {
    /// Kind of call: the protocol of its name, or a keyword for calls without a name.
    pub kind: String,
    /// Name of the function.
    pub name: String,
    /// Number of calls.
    pub calls: u64,
    /// Number of calls that failed.
    pub failed: u64,
    /// Total time of the calls, including nested calls.
    pub total: Duration,
    /// Time of the longest call.
    pub longest: Duration,
    /// Distribution of the call times.
    pub histogram: Histogram,
}

/// Histogram of call times. The upper bounds of the buckets are powers of two in nanoseconds.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// use alcedo_zcall::observe::Histogram;
///
/// let histogram = Histogram::default();
/// assert_eq!(histogram.buckets().count(), Histogram::BUCKETS);
/// assert_eq!(histogram.percentile(99), Duration::ZERO);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Histogram([u64; Self::BUCKETS]);

impl Histogram {
    /// Number of buckets. The last bucket contains all calls of about 17 seconds or more.
    pub const BUCKETS: usize = 36;

    fn add(&mut self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let at = (u64::BITS - nanoseconds.leading_zeros()) as usize;
        self.0[at.min(Self::BUCKETS - 1)] += 1;
    }

    /// Returns the upper bound and the number of calls of each bucket. The bucket with the shortest times is first and starts at zero. The
    /// lower bound of each further bucket is half its upper bound. The last bucket also contains the calls above its upper bound.
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> {
        self.0.iter().enumerate().map(|(at, calls)| (Duration::from_nanos(1 << at), *calls))
    }

    /// Returns an upper bound for the times of the fastest `of_hundred` percent of the calls. The bound in nanoseconds is a power of two.
    /// Returns zero if no call was counted. Numbers above 100 count as 100.
    #[must_use]
    pub fn percentile(&self, of_hundred: u64) -> Duration {
        let all: u64 = self.0.iter().sum();
        let rank = all.saturating_mul(of_hundred.min(100)).div_ceil(100).max(1);
        let mut seen = 0;
        let found = self.buckets().find(|(_, calls)| {
            seen += calls;
            seen >= rank
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

#[derive(Default)]
pub(crate) struct Observer {
    pub(crate) what: Cell<Observed>,
    /// Statistics by kind and name.
    times: RefCell<BTreeMap<(String, String), CallTimes>>,
}

impl Observer {
    pub(crate) fn times(&self) -> Vec<CallTimes> {
        self.times.borrow().values().cloned().collect()
    }

    pub(crate) fn clear(&self) {
        self.times.borrow_mut().clear();
    }

    /// Executes and observes a call. The observer holds no borrow during the call, because the call may use the observer.
    #[cold]
    pub(crate) fn around<T>(
        &self,
        kind: &str,
        name: &str,
        call: impl FnOnce() -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let what = self.what.get();
        let open = || tracing::trace_span!(target: "alcedo::calls", "call", kind, name);
        // Makes the call even if the log subscriber panics. Guards each step separately, because a second panic during the unwinding of the
        // first would abort the process.
        let span = what.spans.then(|| panic_guard::caught(open).ok()).flatten();
        let entered = span.as_ref().map(|span| panic_guard::caught(|| span.enter()));
        let begun = Instant::now();
        let done = call();
        let elapsed = begun.elapsed();
        panic_guard::log(|| drop(entered));
        panic_guard::log(|| drop(span));
        if what.counts {
            let (kind, name) = (kind.to_owned(), name.to_owned());
            let mut all = self.times.borrow_mut();
            let times = all.entry((kind.clone(), name.clone())).or_insert_with(|| CallTimes {
                kind,
                name,
                ..CallTimes::default()
            });
            times.calls += 1;
            times.failed += u64::from(done.is_err());
            times.total += elapsed;
            times.longest = times.longest.max(elapsed);
            times.histogram.add(elapsed);
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber, subscriber};

    use super::{Histogram, Observed, Observer};
    use crate::boundary::CallError;

    /// Log subscriber that panics when a span is closed. Also panics when a span is entered (if `.0` is false) or exited (if `.0` is true).
    struct Panicking(bool);

    impl Subscriber for Panicking {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {}

        fn enter(&self, _: &Id) {
            assert!(self.0, "a bug of the log");
        }

        fn exit(&self, _: &Id) {
            assert!(!self.0, "a bug of the log");
        }

        fn try_close(&self, _: Id) -> bool {
            panic!("a bug of the log");
        }
    }

    #[test]
    fn a_call_succeeds_although_the_log_subscriber_panics() {
        let observer = Observer::default();
        observer.what.set(Observed { counts: true, spans: true });
        for at_exit in [false, true] {
            let call = || observer.around("ex", "a", || Ok(7));
            assert_eq!(subscriber::with_default(Panicking(at_exit), call), Ok(7));
        }
        assert_eq!(observer.times()[0].calls, 2);
    }

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
        assert_eq!(histogram.percentile(101), histogram.percentile(100));
        assert_eq!(Histogram::default().percentile(99), Duration::ZERO);
    }

    #[test]
    fn calls_are_counted_by_kind_and_name_with_those_that_failed() {
        let observer = Observer::default();
        observer.what.set(Observed { counts: true, spans: false });
        for fails in [false, true, false] {
            let call = || if fails { Err(CallError::other("no")) } else { Ok(()) };
            assert_eq!(observer.around("ex", "a", call).is_err(), fails);
        }
        // The nested call is also counted.
        let inner = || observer.around("ex", "b", || Ok(7));
        assert_eq!(observer.around("uf", "a", inner), Ok(7));
        let counted: Vec<_> =
            observer.times().into_iter().map(|times| (times.kind, times.name, times.calls, times.failed)).collect();
        let of = |kind: &str, name: &str, calls, failed| (kind.to_owned(), name.to_owned(), calls, failed);
        assert_eq!(counted, [of("ex", "a", 3, 1), of("ex", "b", 1, 0), of("uf", "a", 1, 0)]);
        observer.clear();
        assert!(observer.times().is_empty());
    }
}
