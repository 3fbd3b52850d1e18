//! Threads of every kind: joined immediately, joined in the exit hook, detached, scoped, or finished with the handle stored in a static.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::{errors, foreign, locals};

/// Thread that runs until the module ends, and the sender whose drop ends this thread.
static WORKER: Mutex<Option<(Sender<()>, JoinHandle<u64>)>> = Mutex::new(None);
/// A thread that has finished and is never joined.
static FINISHED: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Starts one thread of each kind.
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

/// Starts a thread that never ends.
pub(crate) fn start_endless() {
    drop(named("endless", || {
        loop {
            thread::park();
        }
    }));
}

/// Ends the threads that the plugin must end itself. The host ends all other threads.
pub(crate) fn end() {
    let Some((sender, worker)) = lock(&WORKER).take() else { return };
    drop(sender);
    if !matches!(worker.join(), Ok(3)) {
        errors::add("the worker lost an order");
    }
}

fn order() {
    if let Some((sender, _)) = &*lock(&WORKER)
        && sender.send(()).is_err()
    {
        errors::add("the worker has ended");
    }
}

fn use_everything() {
    locals::touch();
    foreign::touch_key();
    tracing::debug!(thread = thread::current().name(), "a thread of the sink");
}

fn named<T: Send + 'static>(name: &str, body: impl FnOnce() -> T + Send + 'static) -> Option<JoinHandle<T>> {
    let thread = thread::Builder::new().name(format!("sink {name}")).spawn(body);
    thread.inspect_err(|error| errors::add(format!("thread {name}: {error}"))).ok()
}

fn lock<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
