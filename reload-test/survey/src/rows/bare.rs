//! Nothing: the row that the others are compared with.

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    "ok".to_owned()
}

pub(crate) fn end() {}
