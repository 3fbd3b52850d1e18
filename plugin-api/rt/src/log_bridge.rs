//! Forwards records of the `log` crate to the host's subscriber. The bridge is needed because the plugin has its own
//! copy of `log`, with separate statics.

use alcedo_abi::log::LogLevel;
use log::{LevelFilter, Log, Metadata, Record};

use crate::records;

struct Bridge;

/// Installs the bridge as the logger of the plugin's copy of `log`. Returns false if the plugin has already set a logger.
pub(crate) fn install(level: LogLevel) -> bool {
    let is_set = log::set_logger(&Bridge).is_ok();
    if is_set {
        log::set_max_level(match level {
            LogLevel::OFF => LevelFilter::Off,
            LogLevel::ERROR => LevelFilter::Error,
            LogLevel::WARN => LevelFilter::Warn,
            LogLevel::INFO => LevelFilter::Info,
            LogLevel::DEBUG => LevelFilter::Debug,
            _ => LevelFilter::Trace,
        });
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
    match level {
        log::Level::Error => LogLevel::ERROR,
        log::Level::Warn => LogLevel::WARN,
        log::Level::Info => LogLevel::INFO,
        log::Level::Debug => LogLevel::DEBUG,
        log::Level::Trace => LogLevel::TRACE,
    }
}
