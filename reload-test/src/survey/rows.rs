//! The rows: which crates, used how, and what is known to become of them. A row whose outcome is another than this says
//! fails the run, so the page cannot rot unseen.

use anyhow::{Result, bail};

/// What becomes of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is unmapped.
    Unmapped,
    /// It stays, because a thread of it never ends.
    Parked,
}

/// A row of the survey.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its name, which is the feature of the surveyed plugin.
    pub(crate) name: &'static str,
    /// The crates of crates.io whose versions are told.
    pub(crate) crates: &'static [&'static str],
    /// How they are used.
    pub(crate) use_of: &'static str,
    /// What becomes of the image where threads are only asked to stop.
    pub(crate) fate: Fate,
    /// Whether the host runs with RUST_BACKTRACE=1.
    pub(crate) backtrace: bool,
    /// No more reloads than this, where the system has no more of what the crate leaves behind.
    pub(crate) most: u64,
}

impl Row {
    /// How many reloads of those that were asked for.
    pub(crate) fn reloads(&self, asked: u64) -> u64 {
        asked.min(self.most)
    }
}

const fn row(name: &'static str, crates: &'static [&'static str], use_of: &'static str, fate: Fate) -> Row {
    Row { name, crates, use_of, fate, backtrace: false, most: u64::MAX }
}

const ROWS: [Row; 28] = [
    row("bare", &[], "nothing: what the others are compared with", Fate::Unmapped),
    row("std", &[], "output, thread-locals, threads, a megabyte in a static", Fate::Unmapped),
    row("tracing", &["tracing", "tracing-subscriber"], "a subscriber of its own, and the host's", Fate::Unmapped),
    row("env_logger", &["env_logger", "log"], "a logger of its own, and the host's", Fate::Unmapped),
    row("rand", &["rand"], "the generator of the thread", Fate::Unmapped),
    row("parking_lot", &["parking_lot"], "locks that four threads wait for", Fate::Unmapped),
    row("crossbeam", &["crossbeam"], "channels, scoped threads, epochs", Fate::Unmapped),
    row("rayon-own", &["rayon"], "a pool of its own, dropped at the end", Fate::Unmapped),
    row("rayon-global", &["rayon"], "the global pool, which has no end", Fate::Parked),
    row("tokio-current", &["tokio"], "a runtime for the length of a call", Fate::Unmapped),
    row("tokio-multi", &["tokio"], "a runtime with threads, shut down at the end", Fate::Unmapped),
    row("tokio-leaked", &["tokio"], "a runtime with threads that nobody shuts down", Fate::Parked),
    row("smol", &["smol"], "the global executor, which has no end", Fate::Parked),
    row("regex", &["regex"], "a pattern in a static, used by two threads", Fate::Unmapped),
    row("chrono", &["chrono"], "the local time", Fate::Unmapped),
    row("serde_json", &["serde_json"], "values to text and back", Fate::Unmapped),
    row("rusqlite", &["rusqlite"], "connections in a static that nobody closes", Fate::Unmapped),
    row("notify", &["notify"], "a watch, dropped at the end", Fate::Unmapped),
    // A user may have 128 of them.
    Row { most: 100, ..row("notify-leaked", &["notify"], "a watch that nobody drops", Fate::Parked) },
    row("signal-hook", &["signal-hook"], "a handler that nobody takes off", Fate::Unmapped),
    row("ctor", &["ctor"], "code before main with a thread-local", Fate::Unmapped),
    row("mimalloc", &["mimalloc"], "as the allocator of the plugin, with `local_dynamic_tls`", Fate::Unmapped),
    row("posix-putenv", &["libc"], "a string of its own in the environment, read by the next", Fate::Unmapped),
    row("posix-openlog", &["libc"], "a name of its own for the system's log, which the next writes to", Fate::Unmapped),
    row("posix-setvbuf", &["libc"], "a buffer of its own for standard error, which the next writes to", Fate::Unmapped),
    row("posix-fopencookie", &["libc"], "a stream of its own that nobody closes; the next flushes all", Fate::Unmapped),
    row("register-frame", &["libc"], "an unwind table that nobody takes back; the next panics", Fate::Unmapped),
    Row { backtrace: true, ..row("panic-backtrace", &[], "a caught panic with RUST_BACKTRACE=1", Fate::Unmapped) },
];

/// The rows of these names, in the order of the table; all of them where none is named.
pub(crate) fn rows(names: &[String]) -> Result<Vec<&'static Row>> {
    if let Some(unknown) = names.iter().find(|name| ROWS.iter().all(|row| row.name != name.as_str())) {
        let known: Vec<_> = ROWS.iter().map(|row| row.name).collect();
        bail!("there is no row `{unknown}`; name one of {}", known.join(", "));
    }
    Ok(ROWS.iter().filter(|row| names.is_empty() || names.iter().any(|name| name == row.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::{ROWS, rows};

    #[test]
    fn every_row_is_a_feature_of_the_surveyed_plugin() {
        let manifest = include_str!("../../../survey/Cargo.toml");
        for row in &ROWS {
            assert!(manifest.contains(&format!("\n{} = [", row.name)), "{}", row.name);
            assert!(row.crates.iter().all(|name| manifest.contains(&format!("\n{name} = {{"))), "{}", row.name);
        }
    }

    #[test]
    fn an_unknown_row_is_told_the_known_ones() {
        let error = rows(&["x".to_owned()]).expect_err("there is none").to_string();
        assert!(error.starts_with("there is no row `x`; name one of bare, std, tracing"), "{error}");
        assert_eq!(rows(&[]).expect("all").len(), ROWS.len());
        assert_eq!(rows(&["smol".to_owned(), "rand".to_owned()]).expect("two").len(), 2);
    }
}
