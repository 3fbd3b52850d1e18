//! Identity of the game thread, the only thread that may use objects. The runtime is created on one thread and never leaves it;
//! foreign code that enters through the ABI must prove that it is on that thread.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// Proof that the current thread is the game thread; not `Send`. It does not prove exclusive access.
#[derive(Clone, Copy, Debug)]
pub struct GameThread<'rt> {
    not_send: PhantomData<(&'rt (), *mut ())>,
}

/// Identifies the game thread, for code that enters from outside.
///
/// # Examples
/// ```
/// use alcedo_base::game_thread::GameThreadId;
///
/// let game = GameThreadId::here();
/// assert!(game.prove().is_some());
/// let elsewhere = std::thread::spawn(move || game.prove().is_some());
/// assert!(!elsewhere.join().expect("no panic"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GameThreadId(u64);

thread_local! {
    /// Number of this thread; zero until first used. Every call through the ABI reads it, and the thread id of std is several times
    /// slower.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}

/// Returns the process-wide unique number of this thread.
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
    /// Makes the calling thread the game thread.
    #[inline]
    pub fn here() -> Self {
        Self(this_thread())
    }

    /// Returns the proof if the caller is on the game thread. Any thread may call this.
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
