//! C++ that is compiled into the plugin; which, says the feature.

unsafe extern "C" {
    /// 42, when all has gone well.
    fn row_work() -> std::ffi::c_int;
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    // SAFETY: it works on its own values only, and lets nothing be thrown out.
    match unsafe { row_work() } {
        42 => "ok".to_owned(),
        other => other.to_string(),
    }
}

pub(crate) fn end() {}
