//! Formats values of derived types, and parses them again.

use crate::local::report;

use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Settings {
    name: String,
    ports: Vec<u16>,
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let settings = Settings { name: "surveyed".to_owned(), ports: vec![80, 443] };
    let text = toml::to_string(&settings).unwrap_or_default();
    report(
        toml::from_str::<Settings>(&text)
            .map(|again| again == settings && toml::from_str::<Settings>("x = [").is_err()),
    )
}

pub(crate) fn end() {}
