//! Computes deadlines of waits. An unlimited wait has the maximum duration, whose sum with the current time would overflow.

use std::time::{Duration, Instant};

const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Returns the current time plus `wait`. If the sum overflows, returns a time in the distant future.
pub(crate) fn after(wait: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(wait).unwrap_or(now + FAR)
}

#[cfg(test)]
mod tests {
    use super::after;
    use std::time::{Duration, Instant};

    #[test]
    fn the_longest_wait_has_a_far_deadline() {
        assert!(after(Duration::MAX) > Instant::now() + Duration::from_secs(1_000_000));
        assert!(after(Duration::ZERO) <= Instant::now());
    }
}
