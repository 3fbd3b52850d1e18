//! The one trap for panics of code that is not the runtime's own: callbacks and resolvers of the host, and what the host
//! does when a module calls it. What was thrown ends in here too. A payload is a value of the host's, and its drop may
//! panic in turn; outside of the trap that second panic would stop the runtime half-way.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use alcedo_abi::words::words_into;

/// The drop of a payload may throw another one. So many are dropped; one more is leaked, since the row may have no end.
const MOST_PAYLOADS: u32 = 16;

/// Runs `code`. The error is what its panic said.
#[inline]
pub fn caught<T>(code: impl FnOnce() -> T) -> Result<T, String> {
    // Unwinding releases the guards that the runtime's own state is changed under, and each such change is whole before
    // foreign code is called. What that code leaves half done is its author's responsibility.
    catch_unwind(AssertUnwindSafe(code)).map_err(said)
}

/// Formats a value of foreign code and drops it.
///
/// # Errors
///
/// The errors of [`words_into`], by their messages.
pub fn words_of(value: impl Display) -> Result<String, String> {
    let mut words = String::new();
    words_into(value, &mut words, |step| caught(step)).map(|()| words)
}

/// What a caught panic said; the payload is gone then.
#[cold]
fn said(payload: Box<dyn Any + Send>) -> String {
    let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "a panic without a message".to_owned(),
    };
    discard(payload);
    message
}

fn discard(mut payload: Box<dyn Any + Send>) {
    for _ in 0..MOST_PAYLOADS {
        match catch_unwind(AssertUnwindSafe(move || drop(payload))) {
            Ok(()) => return,
            Err(next) => payload = next,
        }
    }
    std::mem::forget(payload);
}

#[cfg(test)]
mod tests {
    use std::panic::panic_any;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::{MOST_PAYLOADS, caught};

    /// A payload whose drop panics with another one, so many times.
    struct Bomb(u32, Arc<AtomicU32>);

    impl Drop for Bomb {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::Relaxed);
            if self.0 != 0 {
                panic_any(Bomb(self.0 - 1, Arc::clone(&self.1)));
            }
        }
    }

    /// How many of a row of payloads are dropped.
    fn dropped(row: u32) -> u32 {
        let count = Arc::new(AtomicU32::new(0));
        let said = caught(|| panic_any(Bomb(row, Arc::clone(&count))));
        assert_eq!(said, Err::<(), _>("a panic without a message".to_owned()));
        count.load(Ordering::Relaxed)
    }

    #[test]
    fn payloads_that_panic_when_dropped_stay_in_the_trap_and_a_row_without_end_is_cut() {
        assert_eq!([dropped(0), dropped(1), dropped(5)], [1, 2, 6]);
        assert_eq!(dropped(1000), MOST_PAYLOADS);
    }

    #[test]
    fn a_panic_is_what_it_said_and_a_result_is_the_result() {
        assert_eq!(caught(|| 1), Ok(1));
        assert_eq!(caught(|| -> u8 { panic!("one") }), Err("one".to_owned()));
        assert_eq!(caught(|| -> u8 { panic!("no {}", 1) }), Err("no 1".to_owned()));
    }
}
