//! Identity of the game thread: the thread that created the runtime, and the only thread that may use objects. When foreign code calls the
//! runtime through the ABI, the runtime checks that the call is on the game thread.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// Proof that the current thread is the game thread. Not `Send`. The proof does not imply exclusive access to the runtime's data.
#[derive(Clone, Copy, Debug)]
pub struct GameThread<'rt> {
    not_send: PhantomData<(&'rt (), *mut ())>,
}

/// Identity of the game thread. Calls through the ABI check their thread against this identity.
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
    /// Number of this thread. Zero until [`this_thread`] is called on this thread. Every call through the ABI reads this number, because
    /// reading the thread id of std would be several times slower.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}

/// Returns the number of this thread. The number is unique in the process.
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

    /// Returns the proof if the current thread is the game thread, otherwise `None`. Callable on any thread.
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
