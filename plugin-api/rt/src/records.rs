//! Sends log records to the host, from any thread. Without a host, records are dropped.

use alcedo_abi::abi_stable::std_types::{RSlice, RStr};
use alcedo_abi::log::{LogField, LogLevel, LogRecord};

pub(crate) use crate::host::{calls_are_open, open_span, panicked, send_event, step_span};
use crate::outside::context;

/// Returns true if the host records events of this `level`.
pub(crate) fn listens(level: LogLevel) -> bool {
    context().is_some_and(|context| level <= context.level)
}

pub(crate) fn event(level: LogLevel, target: &str, message: &str, file: &str, line: u32) {
    send_event(&record(level, target, message, file, line, &[]));
}

/// Creates a record in the layout of the ABI.
pub(crate) fn record<'a>(
    level: LogLevel,
    target: &'a str,
    message: &'a str,
    file: &'a str,
    line: u32,
    fields: &'a [LogField<'a>],
) -> LogRecord<'a> {
    LogRecord {
        level,
        line,
        target: RStr::from_str(target),
        message: RStr::from_str(message),
        file: RStr::from_str(file),
        fields: RSlice::from_slice(fields),
    }
}
