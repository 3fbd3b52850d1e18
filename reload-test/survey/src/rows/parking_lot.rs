//! Uses contended locks.

use std::thread;

use parking_lot::{Condvar, Mutex, RwLock};

static COUNT: Mutex<u32> = Mutex::new(0);
static CHANGED: Condvar = Condvar::new();
static SHARED: RwLock<Vec<u32>> = RwLock::new(Vec::new());

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let before = *COUNT.lock();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                *COUNT.lock() += 1;
                SHARED.write().push(1);
                CHANGED.notify_all();
            });
        }
        let mut count = COUNT.lock();
        while *count < before + 4 {
            CHANGED.wait(&mut count);
        }
    });
    if SHARED.read().len() as u32 == before + 4 { "ok".to_owned() } else { "a write was lost".to_owned() }
}

pub(crate) fn end() {}
