//! Uses a local subscriber in addition to the global subscriber, which is the bridge to the host.

use std::io;

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let subscriber = tracing_subscriber::fmt().with_writer(io::sink).finish();
    tracing::subscriber::with_default(subscriber, || {
        let _span = tracing::info_span!("survey", answer = 42).entered();
        tracing::info!("inside a span");
    });
    tracing::info!("to the host");
    "ok".to_owned()
}

pub(crate) fn end() {}
