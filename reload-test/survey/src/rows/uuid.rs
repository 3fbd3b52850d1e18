//! Creates random and time-based identifiers.

use crate::local::report;

use uuid::Uuid;

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let (random, timed, later) = (Uuid::new_v4(), Uuid::now_v7(), Uuid::now_v7());
    report(Uuid::parse_str(&random.to_string()).map(|again| again == random && timed < later))
}

pub(crate) fn end() {}
