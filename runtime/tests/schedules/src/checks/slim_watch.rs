//! Checks the watch of a Slim (`slim_watch.rs`).

use super::explore;
use crate::load::context::handle::LoadContext;
use crate::slim_watch::SlimWatch;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, PoisonError, thread};

const LIBRARY: &str = "/library.so";

/// Checks that no callback runs after its watch is dropped.
pub fn no_callback_runs_after_its_watch_is_dropped() {
    explore(|| {
        let is_gone = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_gone);
        let watch = SlimWatch::start(&LoadContext::default(), LIBRARY, move |replaced| {
            thread::yield_now();
            assert!(!seen.load(Ordering::SeqCst), "called after the drop");
            assert!(replaced.is_err());
        });
        thread::yield_now();
        drop(watch.expect("it starts"));
        is_gone.store(true, Ordering::SeqCst);
        // Lets other threads run, so that a remaining watch thread could call the callback.
        for _ in 0..3 {
            thread::yield_now();
        }
    });
}

/// Checks that a callback can drop its own watch without a deadlock.
pub fn a_watch_dropped_by_its_callback_ends() {
    explore(|| {
        let kept: Arc<Mutex<Option<SlimWatch>>> = Arc::default();
        let calls = Arc::new(AtomicUsize::new(0));
        let (own, counted) = (Arc::clone(&kept), Arc::clone(&calls));
        let watch = SlimWatch::start(&LoadContext::default(), LIBRARY, move |_| {
            let watch = own.lock().unwrap_or_else(PoisonError::into_inner).take();
            counted.fetch_add(usize::from(watch.is_some()), Ordering::SeqCst);
            drop(watch);
        });
        *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(watch.expect("it starts"));
        while calls.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
    });
}

/// Checks that a watch ends with its Slim, and that its callback is dropped before the watch itself.
pub fn an_unload_ends_a_watch() {
    explore(|| {
        let (slim, owned) = (LoadContext::default(), Arc::new(()));
        let kept = Arc::clone(&owned);
        let watch = SlimWatch::start(&slim, LIBRARY, move |replaced| {
            assert!(replaced.is_err() && Arc::strong_count(&kept) == 2);
        });
        slim.begin_unload();
        while Arc::strong_count(&owned) != 1 {
            thread::yield_now();
        }
        drop(watch.expect("it starts"));
    });
}
