//! A watch on a folder, dropped when the module ends. Its thread ends a moment later.

use std::sync::Mutex;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

static WATCH: Mutex<Option<RecommendedWatcher>> = Mutex::new(None);

pub(crate) fn begin() {
    let watch = notify::recommended_watcher(|_event| {}).and_then(|mut watch| {
        watch.watch(&std::env::temp_dir(), RecursiveMode::NonRecursive)?;
        Ok(watch)
    });
    *WATCH.lock().expect("nobody panics here") = watch.ok();
}

pub(crate) fn work() -> String {
    let is_watching = WATCH.lock().expect("nobody panics here").is_some();
    if is_watching { "ok".to_owned() } else { "there is no watch".to_owned() }
}

pub(crate) fn end() {
    WATCH.lock().expect("nobody panics here").take();
}
