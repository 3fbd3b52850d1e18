//! The standard library, and crates that most plugins have somewhere below them.

use super::{Fate, Row, kept, left, row};

/// In the order of the page.
pub(super) const BASICS: &[Row] = &[
    row("bare", &[], "nothing: what the others are compared with", Fate::Unmapped),
    row("std", &[], "output, thread-locals, threads, a megabyte in a static", Fate::Unmapped),
    row("tracing", &["tracing", "tracing-subscriber"], "a subscriber of its own, and the host's", Fate::Unmapped),
    row("env_logger", &["env_logger", "log"], "a logger of its own, and the host's", Fate::Unmapped),
    row("rand", &["rand"], "the generator of the thread", Fate::Unmapped),
    row("parking_lot", &["parking_lot"], "locks that four threads wait for", Fate::Unmapped),
    row("crossbeam", &["crossbeam"], "channels, scoped threads, epochs", Fate::Unmapped),
    row("rayon-own", &["rayon"], "a pool of its own, dropped at the end", Fate::Unmapped),
    Row {
        kept_by: &["thread without a name"],
        grows: kept(2000.0, 2.0, 0.0, 1.0),
        ..row("rayon-global", &["rayon"], "the global pool, which has no end", Fate::Parked)
    },
    row("tokio-current", &["tokio"], "a runtime for the length of a call", Fate::Unmapped),
    row("tokio-multi", &["tokio"], "a runtime with threads, shut down at the end", Fate::Unmapped),
    Row {
        kept_by: &["thread \"tokio-rt-worker\""],
        grows: kept(2400.0, 2.0, 3.0, 1.0),
        ..row("tokio-leaked", &["tokio"], "a runtime with threads that nobody shuts down", Fate::Parked)
    },
    Row {
        note: "It makes its descriptors with system calls of its own, past the C library, so nobody knows whose they are \
               and the host does not close them: three per reload, also with eviction.",
        kept_by: &["thread \"async-io\"", "thread \"blocking-", "thread \"smol-1\""],
        grows: kept(2800.0, 3.0, 3.0, 1.0),
        grows_evicted: left(0.0, 3.0),
        ..row("smol", &["smol"], "the global executor, which has no end", Fate::Parked)
    },
    row("regex", &["regex"], "a pattern in a static, used by two threads", Fate::Unmapped),
    row("chrono", &["chrono"], "the local time", Fate::Unmapped),
    row("serde_json", &["serde_json"], "values to text and back", Fate::Unmapped),
    Row {
        grows: left(0.0, 1.0),
        ..row("rusqlite", &["rusqlite"], "connections in a static that nobody closes", Fate::Unmapped)
    },
    row("notify", &["notify"], "a watch, dropped at the end", Fate::Unmapped),
    Row {
        most: 100,
        note: "A user may have 128 inotify instances, and each leaked watch keeps one until its files are closed: hence \
               no more than 100 reloads.",
        kept_by: &["thread \"notify-rs inotify loop\""],
        grows: kept(2400.0, 1.0, 3.0, 1.0),
        ..row("notify-leaked", &["notify"], "a watch that nobody drops", Fate::Parked)
    },
    row("signal-hook", &["signal-hook"], "a handler that nobody takes off", Fate::Unmapped),
    row("ctor", &["ctor"], "code before main with a thread-local", Fate::Unmapped),
    Row {
        note: "It needs its feature `local_dynamic_tls`. Without it, it asks for static thread-local storage, of which a \
               process has little and gets none back from an image that goes: after half a dozen reloads the next is \
               refused.",
        ..row("mimalloc", &["mimalloc"], "as the allocator of the plugin, with `local_dynamic_tls`", Fate::Unmapped)
    },
    Row { backtrace: true, ..row("panic-backtrace", &[], "a caught panic with RUST_BACKTRACE=1", Fate::Unmapped) },
];
