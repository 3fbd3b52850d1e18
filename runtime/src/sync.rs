//! Synchronization primitives of leases, call gates, tickets and the watch of a Slim. `runtime/tests/schedules` replaces this module with
//! primitives of the crate `shuttle`, which run the code under selected thread schedules.

pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, atomic};
pub(crate) use std::{thread, thread_local};

/// Locks a mutex, even if a thread panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
