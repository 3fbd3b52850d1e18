//! Uses a cache in a static, which evicts old values.

use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use moka::sync::Cache;

static CACHE: LazyLock<Cache<u64, String>> = LazyLock::new(|| {
    Cache::builder().max_capacity(100).time_to_live(Duration::from_millis(50)).eviction_listener(|_, _, _| {}).build()
});

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    thread::scope(|scope| {
        for part in 0..4 {
            scope.spawn(move || (0..200).for_each(|number| CACHE.insert(part * 200 + number, number.to_string())));
        }
    });
    let made = CACHE.get_with(9000, || "made".to_owned());
    CACHE.run_pending_tasks();
    if made == "made" && CACHE.entry_count() <= 100 { "ok".to_owned() } else { format!("{}", CACHE.entry_count()) }
}

pub(crate) fn end() {}
