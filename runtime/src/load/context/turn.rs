//! One load at a time in a context. A thread that has the turn may take it again, since a resolver that is asked during
//! a load may load something itself.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// Whose turn it is, and how often that thread has taken it.
#[derive(Default)]
pub(super) struct Turn {
    holder: Mutex<Option<(ThreadId, u32)>>,
    free: Condvar,
}

impl Turn {
    /// Waits until it is this thread's turn, which lasts until the guard is dropped.
    pub(super) fn take(&self) -> TurnGuard<'_> {
        let here = thread::current().id();
        let mut holder = self.lock();
        loop {
            match &mut *holder {
                None => *holder = Some((here, 1)),
                Some((thread, times)) if *thread == here => *times += 1,
                Some(_) => {
                    holder = self.free.wait(holder).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
            }
            return TurnGuard { turn: self };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<(ThreadId, u32)>> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// It is this thread's turn.
pub(super) struct TurnGuard<'a> {
    turn: &'a Turn,
}

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        let mut holder = self.turn.lock();
        match &mut *holder {
            Some((_, times)) if *times > 1 => *times -= 1,
            _ => *holder = None,
        }
        self.turn.free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::Turn;

    #[test]
    fn a_thread_takes_its_turn_again_and_others_wait() {
        let (turn, inside) = (Turn::default(), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let _outer = turn.take();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        let _inner = turn.take();
                        assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
                    }
                });
            }
        });
    }
}
