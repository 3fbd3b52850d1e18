//! Uses no crate, as the baseline of the survey.

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    "ok".to_owned()
}

pub(crate) fn end() {}
