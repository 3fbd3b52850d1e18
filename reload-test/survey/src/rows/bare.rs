//! Baseline: uses no crate.

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    "ok".to_owned()
}

pub(crate) fn end() {}
