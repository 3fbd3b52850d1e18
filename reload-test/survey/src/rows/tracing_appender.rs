//! Writes lines to a file on a separate thread. The guard of the thread is dropped when the module ends. In the row
//! `tracing-appender-leaked`, the guard is left in a static.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::local::{self, Kept};

use tracing_appender::non_blocking::{NonBlocking, WorkerGuard};

static LINES: Kept<(NonBlocking, WorkerGuard, PathBuf)> = Kept::new();

pub(crate) fn begin() {
    let folder = local::path("lines");
    let (writer, guard) = tracing_appender::non_blocking(tracing_appender::rolling::daily(&folder, "lines"));
    LINES.keep(Ok::<_, io::Error>((writer, guard, folder)));
}

pub(crate) fn work() -> String {
    LINES.work(|(writer, _guard, folder)| {
        let before = written(folder)?;
        let counter = writer.error_counter();
        let subscriber = tracing_subscriber::fmt().with_writer(writer.clone()).with_ansi(false).finish();
        tracing::subscriber::with_default(subscriber, || {
            for number in 0..10 {
                tracing::info!(number, "a line");
            }
        });
        let begun = Instant::now();
        while written(folder)? < before + 10 && begun.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(1));
        }
        Ok::<_, io::Error>(written(folder)? == before + 10 && counter.dropped_lines() == 0)
    })
}

/// Counts the lines in the files of a folder.
fn written(folder: &PathBuf) -> io::Result<usize> {
    let lines = |entry: io::Result<fs::DirEntry>| Ok(fs::read_to_string(entry?.path())?.lines().count());
    fs::read_dir(folder)?.map(lines).sum()
}

pub(crate) fn end() {
    if cfg!(not(feature = "tracing-appender-leaked")) {
        drop(LINES.take());
    }
}
