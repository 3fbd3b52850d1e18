//! OpenMP in C: the library that runs the loop comes with the plugin, and its threads sleep in it when the loop is done.

unsafe extern "C" {
    fn row_sum(count: std::ffi::c_long) -> std::ffi::c_long;
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    // SAFETY: it adds numbers.
    match unsafe { row_sum(1000) } {
        499_500 => "ok".to_owned(),
        other => other.to_string(),
    }
}

pub(crate) fn end() {}
