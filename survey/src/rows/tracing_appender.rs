//! A file that a thread writes lines to; its guard is dropped when the module ends, or left in a static.

use std::io;

use crate::local::{self, Kept};

use tracing_appender::non_blocking::{NonBlocking, WorkerGuard};

static LINES: Kept<(NonBlocking, WorkerGuard)> = Kept::new();

pub(crate) fn begin() {
    let folder = local::path("lines");
    LINES.keep(Ok::<_, io::Error>(tracing_appender::non_blocking(tracing_appender::rolling::never(&folder, "lines"))));
    // The file goes with its last descriptor.
    let _absent = std::fs::remove_dir_all(folder);
}

pub(crate) fn work() -> String {
    LINES.work(|(writer, _guard)| {
        let writer = writer.clone();
        let counter = writer.error_counter();
        let subscriber = tracing_subscriber::fmt().with_writer(writer).with_ansi(false).finish();
        tracing::subscriber::with_default(subscriber, || {
            for number in 0..10 {
                tracing::info!(number, "a line");
            }
        });
        Ok::<_, io::Error>(counter.dropped_lines() == 0)
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "tracing-appender-leaked")) {
        drop(LINES.take());
    }
}
