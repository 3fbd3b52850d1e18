//! Uses a map in a static that is initialized on first use.

use std::collections::HashMap;
use std::sync::Mutex;

lazy_static::lazy_static! {
    static ref NAMES: Mutex<HashMap<u64, String>> = Mutex::new((0..1000).map(|id| (id, id.to_string())).collect());
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let names = NAMES.lock().expect("no thread panics while holding the lock");
    names
        .get(&42)
        .map_or_else(|| "it is not there".to_owned(), |name| if name == "42" { "ok".to_owned() } else { name.clone() })
}

pub(crate) fn end() {}
