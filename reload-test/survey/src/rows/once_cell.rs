//! Uses a value that the first accessing thread initializes.

use std::thread;

use once_cell::sync::{Lazy, OnceCell};

static NAMES: Lazy<Vec<String>> = Lazy::new(|| (0..1000).map(|number| number.to_string()).collect());
static FIRST: OnceCell<String> = OnceCell::new();

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| FIRST.get_or_init(|| NAMES[42].clone()));
        }
    });
    if FIRST.get().is_some_and(|first| first == "42") { "ok".to_owned() } else { format!("{FIRST:?}") }
}

pub(crate) fn end() {}
