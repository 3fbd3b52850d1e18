//! Fills a map in a static from four threads.

use std::sync::LazyLock;
use std::thread;

use dashmap::DashMap;

static MAP: LazyLock<DashMap<u64, String>> = LazyLock::new(DashMap::new);

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    thread::scope(|scope| {
        for part in 0..4 {
            scope.spawn(move || (0..100).map(|number| MAP.insert(part * 100 + number, number.to_string())).count());
        }
    });
    if MAP.len() == 400 { "ok".to_owned() } else { format!("{}", MAP.len()) }
}

pub(crate) fn end() {}
