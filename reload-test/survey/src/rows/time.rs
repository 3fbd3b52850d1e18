//! Formats a date.

use crate::local::report;

use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime, UtcOffset};

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    // Ignores the error, because the crate may refuse to determine the local offset while other threads run.
    let _refused = UtcOffset::current_local_offset();
    let then = OffsetDateTime::UNIX_EPOCH + Duration::days(20_000);
    report(then.format(&Rfc3339).map(|text| text == "2024-10-04T00:00:00Z" && OffsetDateTime::now_utc() > then))
}

pub(crate) fn end() {}
