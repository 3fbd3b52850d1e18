//! The polite end of a module's own threads: the host asks, and each thread looks now and then.

use core::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::outside::{sleep_on, stop_word};

/// How long a thread sleeps at most before it looks again, if nothing wakes it.
const SLICE: Duration = Duration::from_millis(100);

/// Whether this module's threads should end. Any thread may call this, at any time; false without a host.
///
/// A module cannot be unmapped while one of its threads runs. It is asked for when the module is to go, before its
/// exit hook, which may therefore join them; a thread that does not listen keeps the whole module in the process, and the host names it in a report.
#[must_use]
pub fn stop_requested() -> bool {
    stop_word().is_some_and(|word| word.load(Ordering::Acquire) != 0)
}

/// The same question as a value that can be handed on, and something to sleep on.
///
/// ```
/// use alcedo_rt::StopToken;
/// use std::time::Duration;
///
/// let stop = StopToken::new();
/// std::thread::spawn(move || {
///     while !stop.wait(Duration::from_millis(500)) {
///         // What the thread does twice a second.
///     }
/// });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StopToken(());

impl StopToken {
    /// The token of this module.
    #[must_use]
    pub fn new() -> Self {
        Self(())
    }

    /// Whether this module's threads are asked to end.
    #[must_use]
    pub fn is_requested(self) -> bool {
        stop_requested()
    }

    /// Sleeps until the threads are asked to end, or for as long as `limit`. Whether they are asked.
    pub fn wait(self, limit: Duration) -> bool {
        let begun = Instant::now();
        loop {
            let left = limit.saturating_sub(begun.elapsed());
            if stop_requested() || left.is_zero() {
                return stop_requested();
            }
            match stop_word() {
                Some(word) => sleep_on(word, left.min(SLICE)),
                None => std::thread::sleep(left),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{StopToken, stop_requested};

    #[test]
    fn without_a_host_nobody_is_asked_to_stop() {
        assert!(!stop_requested());
        assert!(!StopToken::new().wait(Duration::from_millis(1)));
    }
}
