//! Records log events, spans and panics of modules.

use alcedo_abi::log::{LogRecord, SpanStep};
use alcedo_sys::panics::{self, At};

use super::host_context::CallerContext;
use crate::boundary::CallError;
use crate::entry_gate;
use crate::handles::ModuleId;

// If a log subscriber panics, the record is lost. The trampoline catches the panic, which must not unwind into the module.

pub(super) fn log_event(host: CallerContext<'_>, module: ModuleId, record: &LogRecord<'_>) -> Result<(), CallError> {
    host.logs.event(module.0, record);
    Ok(())
}

pub(super) fn span_open(host: CallerContext<'_>, module: ModuleId, record: &LogRecord<'_>) -> Result<u64, CallError> {
    Ok(host.logs.open(module.0, record))
}

pub(super) fn span_step(host: CallerContext<'_>, span: u64, step: SpanStep) -> Result<(), CallError> {
    host.logs.step(span, step);
    Ok(())
}

// Runs inside a panic hook, and therefore borrows no host state and calls no log subscriber.
pub(super) fn panicked(message: &str, file: &str, line: u32, column: u32) {
    panics::record(&At { file, line, column }, message);
}

// Runs inside a panic hook, and therefore borrows no host state and calls no log subscriber.
pub(super) fn calls_are_open() -> u8 {
    u8::from(entry_gate::calls_open_here() != 0)
}
