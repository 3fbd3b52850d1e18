//! Captures a backtrace with names. The crate caches the symbols of every image. The row `backtrace-cleared` clears this cache when the
//! module ends.

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let trace = backtrace::Backtrace::new();
    let is_named =
        |symbol: &backtrace::BacktraceSymbol| symbol.name().is_some_and(|name| name.to_string().contains("work"));
    if trace.frames().iter().flat_map(|frame| frame.symbols()).any(is_named) {
        "ok".to_owned()
    } else {
        format!("{trace:?}")
    }
}

pub(crate) fn end() {
    if cfg!(feature = "backtrace-cleared") {
        backtrace::clear_symbol_cache();
    }
}
