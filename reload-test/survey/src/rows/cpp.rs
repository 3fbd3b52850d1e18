//! Calls C++ code that is compiled into the plugin. The feature selects the source file.

unsafe extern "C" {
    /// Returns 42 on success.
    fn row_work() -> std::ffi::c_int;
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    // SAFETY: the function only uses its own values, and throws no exception to the caller.
    match unsafe { row_work() } {
        42 => "ok".to_owned(),
        other => other.to_string(),
    }
}

pub(crate) fn end() {}
