//! Threads that drop values: a few joined workers, and detached threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Number of values that other threads must still drop.
static PENDING: AtomicUsize = AtomicUsize::new(0);

/// Value that another thread drops.
struct Parcel(Option<Box<dyn Send>>);

impl Parcel {
    fn of(value: impl Send + 'static) -> Self {
        PENDING.fetch_add(1, Ordering::SeqCst);
        Self(Some(Box::new(value)))
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        drop(self.0.take());
        PENDING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits until all values passed to threads are dropped.
pub(crate) fn wait_for_drops() {
    let begun = Instant::now();
    while PENDING.load(Ordering::SeqCst) != 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "a thread does not come to drop its value");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Drops a value on a new thread and joins the thread.
pub(crate) fn drop_joined(value: impl Send + 'static) {
    let parcel = Parcel::of(value);
    std::thread::spawn(move || drop(parcel)).join().expect("dropping does not panic");
}

/// Drops a value on a detached thread.
pub(crate) fn drop_detached(value: impl Send + 'static) {
    let parcel = Parcel::of(value);
    std::thread::spawn(move || {
        std::thread::yield_now();
        drop(parcel);
    });
}

/// Three worker threads, started on first use.
#[derive(Default)]
pub(crate) struct Workers(Vec<(Sender<Parcel>, JoinHandle<()>)>);

impl Workers {
    /// Drops a value on one of the workers.
    pub(crate) fn drop(&mut self, value: impl Send + 'static, which: u64) {
        while self.0.len() < 3 {
            let (sender, parcels) = channel::<Parcel>();
            self.0.push((sender, std::thread::spawn(move || parcels.into_iter().for_each(drop))));
        }
        let (sender, _thread) = &self.0[(which % 3) as usize];
        sender.send(Parcel::of(value)).expect("the worker is alive");
    }

    /// Joins all workers.
    pub(crate) fn end(&mut self) {
        for (sender, thread) in self.0.drain(..) {
            drop(sender);
            thread.join().expect("dropping does not panic");
        }
    }
}
