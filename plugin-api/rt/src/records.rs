//! Log records on their way over the border. Any thread; without a host they go nowhere.
#![expect(unsafe_code, reason = "calls the host's functions")]

use alcedo_abi::abi_stable::std_types::{RSlice, RStr};
use alcedo_abi::log::{LogField, LogLevel, LogRecord, SpanStep};

use crate::attach::context;

/// Whether the host listens to `level`.
pub(crate) fn listens(level: LogLevel) -> bool {
    context().is_some_and(|context| level <= context.level)
}

/// Sends one event without fields.
pub(crate) fn event(level: LogLevel, target: &str, message: &str, file: &str, line: u32) {
    send_event(&record(level, target, message, file, line, &[]));
}

/// A record as it crosses.
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

/// Sends an event.
pub(crate) fn send_event(record: &LogRecord<'_>) {
    if let Some(context) = context() {
        let log_event = context.table.log_event();
        // SAFETY: host and module are the words of this module's context, and the record is live for the call.
        unsafe { log_event(context.host, context.module, record) };
    }
}

/// Tells the host of a panic on this thread, whose stack is still whole.
pub(crate) fn panicked(file: &str, line: u32, column: u32) {
    if let Some(context) = context() {
        let panicked = context.table.panicked();
        // SAFETY: the host is the word of this module's context, and the text is live for the call.
        unsafe { panicked(context.host, RStr::from_str(file), line, column) };
    }
}

/// Opens a span; its number at the host, or zero when nobody listens.
pub(crate) fn open_span(record: &LogRecord<'_>) -> u64 {
    context().map_or(0, |context| {
        let span_open = context.table.span_open();
        // SAFETY: host and module are the words of this module's context, and the record is live for the call.
        unsafe { span_open(context.host, context.module, record) }
    })
}

/// Goes on with a span.
pub(crate) fn step_span(span: u64, step: SpanStep) {
    if let Some(context) = context() {
        let span_step = context.table.span_step();
        // SAFETY: the host is the word of this module's context, and it accepts any span number.
        unsafe { span_step(context.host, span, step) };
    }
}
