//! The end of a module's own threads by request: the host sets a flag, and each thread reads it now and then.
#![expect(unsafe_code, reason = "follows the pointer that the host wrote, and sleeps on the word behind it")]

use core::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::slot;

/// How long a thread sleeps at most before it looks again, if nothing wakes it.
const SLICE: Duration = Duration::from_millis(100);

/// Whether this module's threads should end. Any thread may call this, at any time; false without a host.
///
/// A module cannot be unmapped while one of its threads runs. It is asked for when the module is to go, before its
/// exit hook, which may therefore join them; a thread that does not listen keeps the whole module in the process, and the host names it in a report.
#[must_use]
pub fn stop_requested() -> bool {
    word().is_some_and(|word| word.load(Ordering::Acquire) != 0)
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
            match word() {
                Some(word) => sleep_on(word, left.min(SLICE)),
                None => std::thread::sleep(left),
            }
        }
    }
}

fn word() -> Option<&'static AtomicU32> {
    let context = slot::context()?;
    // SAFETY: null, or a word that the host keeps for as long as the image is mapped.
    unsafe { context.stop.as_ref() }
}

/// Sleeps while the word is zero; may wake too early.
#[cfg(target_os = "linux")]
fn sleep_on(word: &AtomicU32, limit: Duration) {
    let limit = libc::timespec {
        tv_sec: limit.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    };
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word and the time live through the call; whatever it answers, the caller looks at the word itself.
    let _woken = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, 0, &raw const limit) };
}

/// Sleeps; nothing wakes it.
#[cfg(not(target_os = "linux"))]
fn sleep_on(_word: &AtomicU32, limit: Duration) {
    std::thread::sleep(limit);
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
