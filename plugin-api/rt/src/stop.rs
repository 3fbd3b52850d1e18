//! Stops a module's threads: the host requests the stop, and each thread checks regularly.

use core::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::outside::{sleep_on, stop_word};

/// Maximum sleep of a thread between two checks.
const SLICE: Duration = Duration::from_millis(100);

/// Returns true if this module's threads should stop. Any thread, at any time; false without a host.
///
/// A module cannot be unmapped while one of its threads runs. The stop is requested before the exit hook of the module, which may
/// therefore join the threads; a thread that does not stop keeps the whole module in the process, and the host names it in a report.
#[must_use]
pub fn stop_requested() -> bool {
    stop_word().is_some_and(|word| word.load(Ordering::Acquire) != 0)
}

/// Token to check for a stop request, and to sleep until one occurs.
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

    /// Returns true if this module's threads should stop.
    #[must_use]
    pub fn is_requested(self) -> bool {
        stop_requested()
    }

    /// Sleeps until a stop is requested, or for `limit`. Returns true if a stop is requested.
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
