//! Provides the primitives of `runtime/src/sync.rs`, controlled by a scheduler.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

pub(crate) use shuttle::sync::{Arc, PoisonError, atomic};
pub(crate) use shuttle::{thread, thread_local};

/// Maximum timeout of a short wait. A short wait may end without a notification.
const NAP: Duration = Duration::from_secs(1);

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

/// Guard with a reference to its mutex. A short wait unlocks the mutex and locks it again.
pub(crate) struct MutexGuard<'a, T>(&'a Mutex<T>, shuttle::sync::MutexGuard<'a, T>);

type Locked<'a, T> = Result<MutexGuard<'a, T>, PoisonError<MutexGuard<'a, T>>>;

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(shuttle::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> Locked<'_, T> {
        match self.0.lock() {
            Ok(guard) => Ok(MutexGuard(self, guard)),
            Err(poisoned) => Err(PoisonError::new(MutexGuard(self, poisoned.into_inner()))),
        }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.1
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.1
    }
}

pub(crate) struct Condvar(shuttle::sync::Condvar);

type Waited<'a, T> = Result<(MutexGuard<'a, T>, ()), PoisonError<(MutexGuard<'a, T>, ())>>;

impl Condvar {
    pub(crate) fn new() -> Self {
        Self(shuttle::sync::Condvar::new())
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }

    /// Ends a short wait at any time. A longer wait ends only by a notification, so a lost notification is a deadlock.
    pub(crate) fn wait_timeout<'a, T>(&self, guard: MutexGuard<'a, T>, limit: Duration) -> Waited<'a, T> {
        let MutexGuard(mutex, guard) = guard;
        if limit > NAP {
            let guard = self.0.wait(guard).unwrap_or_else(PoisonError::into_inner);
            return Ok((MutexGuard(mutex, guard), ()));
        }
        drop(guard);
        thread::yield_now();
        Ok((mutex.lock().unwrap_or_else(PoisonError::into_inner), ()))
    }
}
