//! A handler for Ctrl-C. The crate has no way to take it off again, and its thread waits for the next signal for ever.

pub(crate) fn begin() {
    let _set = ctrlc::set_handler(|| {});
}

pub(crate) fn work() -> String {
    match ctrlc::set_handler(|| {}) {
        Err(ctrlc::Error::MultipleHandlers) => "ok".to_owned(),
        other => format!("there is no handler: {other:?}"),
    }
}

pub(crate) fn end() {}
