//! Formats the local time. The crate caches the time zone in a thread-local.

use chrono::{Datelike as _, Local, Utc};

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let (here, there) = (Local::now(), Utc::now());
    let text = here.to_rfc3339();
    if (here.year() - there.year()).abs() <= 1 && text.len() >= 20 { "ok".to_owned() } else { text }
}

pub(crate) fn end() {}
