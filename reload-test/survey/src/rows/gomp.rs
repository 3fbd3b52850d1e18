//! Runs an OpenMP loop in C. libgomp is loaded with the plugin, and its idle threads keep waiting in libgomp.

unsafe extern "C" {
    fn row_sum(count: std::ffi::c_long) -> std::ffi::c_long;
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    // SAFETY: the function adds numbers.
    match unsafe { row_sum(1000) } {
        499_500 => "ok".to_owned(),
        other => other.to_string(),
    }
}

pub(crate) fn end() {}
