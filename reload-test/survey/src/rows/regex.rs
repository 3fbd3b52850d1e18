//! Uses a compiled pattern in a static. The pattern has a cache per thread.

use std::sync::LazyLock;
use std::thread;

use regex::Regex;

static DATE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(\d{4})-(\d{2})-(\d{2})").expect("a pattern"));

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let find = || DATE.captures("on 2026-11-21 or so").map(|found| found[2].to_owned());
    let elsewhere = thread::spawn(find).join().ok().flatten();
    if (find().as_deref(), elsewhere.as_deref()) == (Some("11"), Some("11")) { "ok".to_owned() } else { "no".to_owned() }
}

pub(crate) fn end() {}
