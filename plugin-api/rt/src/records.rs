//! Sends log records across the ABI boundary. Usable on any thread; records are dropped without a host.

use alcedo_abi::abi_stable::std_types::{RSlice, RStr};
use alcedo_abi::log::{LogField, LogLevel, LogRecord, SpanStep};

use crate::attached::context;
use crate::host::LogHost;

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

pub(crate) fn send_event(record: &LogRecord<'_>) {
    if let Some(host) = LogHost::attached() {
        host.event(record);
    }
}

/// Reports a panic on this thread to the host, before the stack unwinds.
pub(crate) fn panicked(message: &str, file: &str, line: u32, column: u32) {
    if let Some(host) = LogHost::attached() {
        host.panicked(message, file, line, column);
    }
}

/// Returns true if, on this thread, the host is calling a module that is not bound to a thread.
pub(crate) fn calls_are_open() -> bool {
    LogHost::attached().is_some_and(LogHost::calls_are_open)
}

/// Opens a span and returns the number that the host assigned to the span. Returns zero without a host.
pub(crate) fn open_span(record: &LogRecord<'_>) -> u64 {
    LogHost::attached().map_or(0, |host| host.open_span(record))
}

/// Enters, exits or closes a span.
pub(crate) fn step_span(span: u64, step: SpanStep) {
    if let Some(host) = LogHost::attached() {
        host.step_span(span, step);
    }
}
