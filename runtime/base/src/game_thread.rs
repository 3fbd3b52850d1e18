//! Which thread may use objects. The runtime is made on one thread and never leaves it; foreign code that enters
//! through the border has to show that it is on that thread before it gets any further.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// Proof that the bearer is on the game thread. It cannot leave it. It proves the thread, not exclusivity.
#[derive(Clone, Copy, Debug)]
pub struct GameThread<'rt> {
    not_send: PhantomData<(&'rt (), *mut ())>,
}

/// Remembers which thread is the game thread, for code that enters from outside.
#[derive(Clone, Copy, Debug)]
pub struct GameThreadId(u64);

thread_local! {
    /// The number of this thread; zero until it is asked for. Each call over the border looks at it, and the thread's own id in std
    /// costs several times as much.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}

/// The number of this thread, which no other ever has.
#[inline]
fn this_thread() -> u64 {
    match NUMBER.get() {
        0 => new_number(),
        number => number,
    }
}

#[cold]
fn new_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    NUMBER.set(number);
    number
}

impl GameThreadId {
    /// The calling thread becomes the game thread.
    #[inline]
    pub fn here() -> Self {
        Self(this_thread())
    }

    /// The proof, when the caller is on the game thread. Any thread may ask.
    #[inline]
    pub fn prove(&self) -> Option<GameThread<'_>> {
        (this_thread() == self.0).then_some(GameThread { not_send: PhantomData })
    }
}

#[cfg(test)]
mod tests {
    use super::GameThreadId;

    #[test]
    fn only_the_game_thread_gets_the_proof() {
        let id = GameThreadId::here();
        assert!(id.prove().is_some());
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(id.prove().is_none()));
        });
    }
}
