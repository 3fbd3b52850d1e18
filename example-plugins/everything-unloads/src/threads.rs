//! Threads of every sort: joined at once, joined at the end, detached, finished with the handle in a static, scoped.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::{complaints, foreign, locals};

/// The thread that works until the module ends, and how it is told.
static WORKER: Mutex<Option<(Sender<()>, JoinHandle<u64>)>> = Mutex::new(None);
/// One that ended long ago and is never joined.
static FINISHED: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Starts one of each.
pub(crate) fn start() {
    named("joined", use_everything).map(JoinHandle::join);
    *lock(&FINISHED) = named("finished", use_everything);

    let (sender, orders) = channel();
    let worker = named("worker", move || {
        use_everything();
        orders.iter().count() as u64
    });
    *lock(&WORKER) = worker.map(|worker| (sender, worker));
    for _ in 0..3 {
        order();
    }

    drop(named("detached", || {
        use_everything();
        while !alcedo_plugin_api::thread::stop_requested() {
            thread::sleep(Duration::from_millis(1));
        }
    }));
    thread::scope(|scope| drop(scope.spawn(use_everything)));
}

/// Starts one that never ends, whatever it is asked.
pub(crate) fn start_endless() {
    drop(named("endless", || {
        loop {
            thread::park();
        }
    }));
}

/// Ends what has to be ended by hand. The rest is the host's.
pub(crate) fn end() {
    let Some((sender, worker)) = lock(&WORKER).take() else { return };
    drop(sender);
    if !matches!(worker.join(), Ok(3)) {
        complaints::say("the worker lost an order");
    }
}

fn order() {
    if let Some((sender, _)) = &*lock(&WORKER)
        && sender.send(()).is_err()
    {
        complaints::say("the worker has gone");
    }
}

fn use_everything() {
    locals::touch();
    foreign::touch_key();
    tracing::debug!(thread = thread::current().name(), "a thread of the sink");
}

fn named<T: Send + 'static>(name: &str, body: impl FnOnce() -> T + Send + 'static) -> Option<JoinHandle<T>> {
    let thread = thread::Builder::new().name(format!("sink {name}")).spawn(body);
    thread.inspect_err(|error| complaints::say(format!("thread {name}: {error}"))).ok()
}

fn lock<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
