//! Panic guard for code that does not belong to the runtime: host callbacks, resolvers and implementations of module calls. The guard also
//! drops the panic payload, because this drop may panic again. Outside the guard, such a second panic would interrupt an operation of the
//! runtime.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use alcedo_abi::words::words_into;

/// Maximum number of payloads that the guard drops, because each drop may panic with a new payload. The guard leaks the payload that
/// exceeds this number.
const MOST_PAYLOADS: u32 = 16;

/// Runs `code`. If `code` panics, returns the panic message as the error.
///
/// # Examples
/// ```
/// use alcedo_base::panic_guard::caught;
///
/// assert_eq!(caught(|| 2 + 2), Ok(4));
/// assert_eq!(caught(|| -> u32 { panic!("no map") }), Err("no map".to_owned()));
/// ```
#[inline]
pub fn caught<T>(code: impl FnOnce() -> T) -> Result<T, String> {
    // The state of the runtime is consistent after a panic: the runtime completes each change before it calls foreign code, and unwinding
    // releases its guards. Foreign code is responsible for the consistency of its own data.
    catch_unwind(AssertUnwindSafe(code)).map_err(message_of)
}

/// Runs code that logs. If a log subscriber panics, its message is lost, and the caller continues.
///
/// # Examples
/// ```
/// alcedo_base::panic_guard::log(|| panic!("a subscriber fails"));
/// ```
pub fn log(log: impl FnOnce()) {
    let _lost = caught(log);
}

/// Formats a value of a foreign type and drops the value. The panic guard covers both steps.
///
/// # Errors
///
/// Returns the message of the error from [`words_into`].
///
/// # Examples
/// ```
/// use std::fmt;
///
/// use alcedo_base::panic_guard::formatted;
///
/// struct Broken;
/// impl fmt::Display for Broken {
///     fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
///         panic!("no words")
///     }
/// }
/// assert_eq!(formatted(42), Ok("42".to_owned()));
/// assert!(formatted(Broken).is_err());
/// ```
pub fn formatted(value: impl Display) -> Result<String, String> {
    let mut formatted = String::new();
    words_into(value, &mut formatted, |step| caught(step)).map(|()| formatted)
}

/// Returns the message of a caught panic and drops the payload.
#[cold]
fn message_of(payload: Box<dyn Any + Send>) -> String {
    let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(message), _) => (*message).to_owned(),
        (_, Some(message)) => message.clone(),
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

    /// Payload whose drop panics with a new payload. `.0` is the number of further payloads.
    struct Bomb(u32, Arc<AtomicU32>);

    impl Drop for Bomb {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::Relaxed);
            if self.0 != 0 {
                panic_any(Bomb(self.0 - 1, Arc::clone(&self.1)));
            }
        }
    }

    /// Returns the number of payloads that the guard drops if `depth` payloads panic when they are dropped.
    fn dropped(depth: u32) -> u32 {
        let count = Arc::new(AtomicU32::new(0));
        let result = caught(|| panic_any(Bomb(depth, Arc::clone(&count))));
        assert_eq!(result, Err::<(), _>("a panic without a message".to_owned()));
        count.load(Ordering::Relaxed)
    }

    #[test]
    fn endless_panics_of_dropped_payloads_are_caught_and_cut() {
        assert_eq!([dropped(0), dropped(1), dropped(5)], [1, 2, 6]);
        assert_eq!(dropped(1000), MOST_PAYLOADS);
    }

    #[test]
    fn a_panic_is_its_message_and_a_result_is_returned() {
        assert_eq!(caught(|| 1), Ok(1));
        assert_eq!(caught(|| -> u8 { panic!("one") }), Err("one".to_owned()));
        assert_eq!(caught(|| -> u8 { panic!("no {}", 1) }), Err("no 1".to_owned()));
    }
}
