//! Catches a panic and formats its backtrace.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::catch_unwind;

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let caught = catch_unwind(|| {
        let trace = Backtrace::capture();
        assert_eq!(trace.status(), BacktraceStatus::Captured, "set RUST_BACKTRACE=1");
        std::panic::panic_any(trace.to_string());
    });
    match caught.map_err(|payload| payload.downcast::<String>()) {
        Err(Ok(trace)) if trace.contains("surveyed") => "ok".to_owned(),
        other => format!("{other:?}"),
    }
}

pub(crate) fn end() {}
