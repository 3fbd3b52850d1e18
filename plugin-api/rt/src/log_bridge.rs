//! Forwards records of the `log` crate to the host's subscriber. The bridge is required, because the plugin has its own copy of `log` with
//! separate statics.

use alcedo_abi::log::LogLevel;
use log::{LevelFilter, Log, Metadata, Record};

use crate::records;

struct Bridge;

/// Installs the bridge as the logger of the plugin's copy of `log`. Returns false if the plugin has already set a logger.
pub(crate) fn install(level: LogLevel) -> bool {
    let is_set = log::set_logger(&Bridge).is_ok();
    if is_set {
        // `log` and the ABI use the same numbers for levels.
        log::set_max_level(LevelFilter::iter().nth(usize::from(level.0)).unwrap_or(LevelFilter::Trace));
    }
    is_set
}

impl Log for Bridge {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        records::listens(level_of(metadata.level()))
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let message = record.args().to_string();
            let (file, line) = (record.file().unwrap_or_default(), record.line().unwrap_or_default());
            records::event(level_of(record.level()), record.target(), &message, file, line);
        }
    }

    fn flush(&self) {}
}

fn level_of(level: log::Level) -> LogLevel {
    LogLevel(level as u8)
}
