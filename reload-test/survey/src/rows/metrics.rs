//! Counts with a global recorder, or in the row `metrics-local` with a local recorder for the duration of a call. A global recorder cannot
//! be removed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::local::report;

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SetRecorderError, SharedString, Unit};

static COUNTED: AtomicU64 = AtomicU64::new(0);

struct Sum(Arc<AtomicU64>);

impl Recorder for Sum {
    fn describe_counter(&self, _key: KeyName, _unit: Option<Unit>, _description: SharedString) {}
    fn describe_gauge(&self, _key: KeyName, _unit: Option<Unit>, _description: SharedString) {}
    fn describe_histogram(&self, _key: KeyName, _unit: Option<Unit>, _description: SharedString) {}
    fn register_counter(&self, _key: &Key, _metadata: &Metadata<'_>) -> Counter {
        Counter::from_arc(Arc::clone(&self.0))
    }
    fn register_gauge(&self, _key: &Key, _metadata: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }
    fn register_histogram(&self, _key: &Key, _metadata: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let sum = Arc::new(AtomicU64::new(0));
    if cfg!(feature = "metrics-local") {
        metrics::with_local_recorder(&Sum(Arc::clone(&sum)), || metrics::counter!("calls").increment(1));
        return report(Ok::<_, ()>(sum.load(Ordering::SeqCst) == 1));
    }
    if let Err(SetRecorderError(_again)) = metrics::set_global_recorder(Sum(Arc::clone(&sum))) {
        return "there is a recorder".to_owned();
    }
    for number in 0..10 {
        metrics::counter!("calls", "number" => number.to_string()).increment(1);
    }
    COUNTED.store(sum.load(Ordering::SeqCst), Ordering::SeqCst);
    report(Ok::<_, ()>(COUNTED.load(Ordering::SeqCst) == 10))
}

pub(crate) fn end() {}
