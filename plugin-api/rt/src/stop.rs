//! Stops the threads of a module: the host requests the stop, and each thread regularly checks for the request.

use core::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::outside::{sleep_on, stop_word};

/// Maximum time that a thread sleeps between two checks.
const SLICE: Duration = Duration::from_millis(100);

/// Returns true if the host requests that this module's threads stop. Returns false without a host. Callable on any thread at any time.
///
/// A module cannot be unmapped while one of its threads runs. The host requests the stop before it calls the module's exit hook, so the
/// exit hook can join the threads. If a thread does not stop, the whole module remains mapped, and the host's report names the thread.
///
/// # Examples
/// ```
/// use alcedo_rt::stop_requested;
///
/// /// Returns the number of chunks that were compressed before the stop request.
/// fn compress(chunks: &[Vec<u8>]) -> usize {
///     chunks.iter().take_while(|_chunk| !stop_requested()).count()
/// }
/// assert_eq!(compress(&[vec![1], vec![2]]), 2, "without a host, no stop is requested");
/// ```
#[must_use]
pub fn stop_requested() -> bool {
    stop_word().is_some_and(|word| word.load(Ordering::Acquire) != 0)
}

/// Token that checks for a stop request, and sleeps until a stop is requested.
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
    /// Returns the token of this module.
    #[must_use]
    pub fn new() -> Self {
        Self(())
    }

    /// Returns true if the host requests that this module's threads stop.
    ///
    /// # Examples
    /// ```
    /// use alcedo_rt::StopToken;
    ///
    /// fn search(stop: StopToken, moves: impl Iterator<Item = i32>) -> Option<i32> {
    ///     moves.take_while(|_move| !stop.is_requested()).max()
    /// }
    /// assert_eq!(search(StopToken::new(), [3, 9, 4].into_iter()), Some(9));
    /// ```
    #[must_use]
    pub fn is_requested(self) -> bool {
        stop_requested()
    }

    /// Sleeps until a stop is requested, but at most for `limit`. Returns true if a stop is requested.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// use alcedo_rt::StopToken;
    ///
    /// let stop = StopToken::new();
    /// assert!(!stop.wait(Duration::from_millis(1)), "the time is over, and no stop is requested");
    /// ```
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
    fn without_a_host_no_stop_is_requested() {
        assert!(!stop_requested());
        assert!(!StopToken::new().wait(Duration::from_millis(1)));
    }
}
