//! Swaps a value while threads read it. The guard that protects the value is dropped, or leaked by `mem::forget` in the row
//! `arc-swap-leaked`.

use std::sync::{Arc, LazyLock};
use std::thread;

use arc_swap::ArcSwap;

static VALUE: LazyLock<ArcSwap<Vec<u64>>> = LazyLock::new(|| ArcSwap::from_pointee(vec![1, 2, 3]));

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let guard = VALUE.load();
    let elsewhere = thread::spawn(|| VALUE.load().iter().sum::<u64>()).join().unwrap_or(0);
    VALUE.store(Arc::new(vec![1, 2, 3]));
    let here = guard.iter().sum::<u64>();
    if cfg!(feature = "arc-swap-leaked") {
        std::mem::forget(guard);
    }
    if (here, elsewhere) == (6, 6) { "ok".to_owned() } else { format!("{here} {elsewhere}") }
}

pub(crate) fn end() {}
