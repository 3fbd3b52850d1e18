//! When a wait is over. A wait without end has the longest duration there is, which no clock can count to.

use std::time::{Duration, Instant};

/// Longer than any process runs.
const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// The moment after so long a wait, or one that never comes.
pub(crate) fn after(wait: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(wait).unwrap_or(now + FAR)
}

#[cfg(test)]
mod tests {
    use super::after;
    use std::time::{Duration, Instant};

    #[test]
    fn a_wait_for_ever_is_one() {
        assert!(after(Duration::MAX) > Instant::now() + Duration::from_secs(1_000_000));
        assert!(after(Duration::ZERO) <= Instant::now());
    }
}
