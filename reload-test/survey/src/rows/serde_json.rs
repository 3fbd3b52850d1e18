//! Parses text to values, and formats the values again.

use serde_json::{Value, json};

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let value = json!({ "numbers": (0..100).collect::<Vec<_>>(), "text": "a\nb" });
    let back = serde_json::from_str::<Value>(&value.to_string());
    if back.ok() == Some(value) { "ok".to_owned() } else { "not the same".to_owned() }
}

pub(crate) fn end() {}
