//! Which thread may use objects. The runtime is made on one thread and never leaves it; foreign code that enters
//! through the border has to show that it is on that thread before it gets any further.

use std::marker::PhantomData;
use std::thread::ThreadId;

/// Proof that the bearer is on the game thread. It cannot leave it. It proves the thread, not exclusivity.
#[derive(Clone, Copy, Debug)]
pub struct GameThread<'rt> {
    not_send: PhantomData<(&'rt (), *mut ())>,
}

/// Remembers which thread is the game thread, for code that enters from outside.
#[derive(Clone, Copy, Debug)]
pub struct GameThreadId(ThreadId);

impl GameThreadId {
    /// The calling thread becomes the game thread.
    #[inline]
    pub fn here() -> Self {
        Self(std::thread::current().id())
    }

    /// The proof, when the caller is on the game thread. Any thread may ask.
    #[inline]
    pub fn prove(&self) -> Option<GameThread<'_>> {
        (std::thread::current().id() == self.0).then_some(GameThread { not_send: PhantomData })
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
