//! Uses a separate thread pool. The pool is dropped when the module ends.

use std::sync::Mutex;

use rayon::prelude::*;

static POOL: Mutex<Option<rayon::ThreadPool>> = Mutex::new(None);

pub(crate) fn begin() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    *POOL.lock().expect("no thread panics while holding the lock") = pool.ok();
}

pub(crate) fn work() -> String {
    let pool = POOL.lock().expect("no thread panics while holding the lock");
    let sum = pool.as_ref().map(|pool| pool.install(|| (0..1000_u64).into_par_iter().sum::<u64>()));
    if sum == Some(499_500) { "ok".to_owned() } else { format!("{sum:?}") }
}

pub(crate) fn end() {
    POOL.lock().expect("no thread panics while holding the lock").take();
}
