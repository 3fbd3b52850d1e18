//! Parses a command line.

use crate::local::report;

use clap::{Arg, Command, value_parser};

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let command = Command::new("x").arg(Arg::new("count").long("count").value_parser(value_parser!(u64)));
    let is_refused = command.clone().try_get_matches_from(["x", "--count", "many"]).is_err();
    let found = command.try_get_matches_from(["x", "--count", "42"]);
    report(found.map(|found| found.get_one::<u64>("count") == Some(&42) && is_refused))
}

pub(crate) fn end() {}
