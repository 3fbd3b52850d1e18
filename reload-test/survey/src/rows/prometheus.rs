//! Registers a counter and a histogram in the default registry, which is never dropped. The row `prometheus-own` uses a separate registry,
//! which is dropped.

use crate::local::report;

use prometheus::{Error, Histogram, HistogramOpts, IntCounter, Registry, TextEncoder};

fn count(registry: &Registry) -> Result<bool, Error> {
    let calls = IntCounter::new("calls", "how many calls there were")?;
    let times = Histogram::with_opts(HistogramOpts::new("times", "how long they took"))?;
    registry.register(Box::new(calls.clone()))?;
    registry.register(Box::new(times.clone()))?;
    for _ in 0..10 {
        calls.inc();
        times.observe(0.1);
    }
    Ok(TextEncoder::new().encode_to_string(&registry.gather())?.contains("\ncalls 10\n"))
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    if cfg!(feature = "prometheus-own") {
        return report(count(&Registry::new()));
    }
    report(count(prometheus::default_registry()))
}

pub(crate) fn end() {}
