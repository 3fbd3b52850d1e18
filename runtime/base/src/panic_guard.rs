//! Panic guard for code that does not belong to the runtime: host callbacks, log subscribers, resolvers and implementations of module
//! calls. The guard also drops the panic payload, because this drop may panic again. Outside the guard, such a second panic would interrupt
//! an operation of the runtime.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use alcedo_abi::words::{panic_message, words_into};

/// Maximum number of payloads that the guard drops for one panic, because each drop may panic with a new payload. The guard leaks the
/// payload that exceeds this number.
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

/// Runs code that calls a log subscriber. If the subscriber panics, its message is lost, and the caller continues.
#[cold]
pub fn log(log: impl FnOnce()) {
    let _lost = caught(log);
}

/// Logs a line with the fields and the message of `tracing::event!`. If the log subscriber panics, the line is lost, and the caller
/// continues. Evaluates no field if the level is disabled.
///
/// # Examples
/// ```
/// let error = "the disk is full";
/// alcedo_base::log!(WARN, %error, "a world was not saved");
/// alcedo_base::log!(target: "alcedo::script", INFO, "{error}");
/// ```
#[macro_export]
macro_rules! log {
    (target: $target:expr, $level:ident, $($line:tt)+) => {
        $crate::panic_guard::log(|| tracing::event!(target: $target, tracing::Level::$level, { $($line)+ }))
    };
    ($level:ident, $($line:tt)+) => {
        $crate::log!(target: module_path!(), $level, $($line)+)
    };
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
    let message = panic_message(&*payload).unwrap_or("a panic without a message").to_owned();
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
    use std::cell::Cell;
    use std::fmt::Debug;
    use std::panic::panic_any;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Arc, Mutex};

    use tracing::field::Field;
    use tracing::level_filters::LevelFilter;
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::{MOST_PAYLOADS, caught};

    /// Log subscriber that panics at each line, after it has recorded the line. Accepts no level below `INFO`.
    #[derive(Clone, Default)]
    struct Panicking(Arc<Mutex<String>>);

    impl Subscriber for Panicking {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn max_level_hint(&self) -> Option<LevelFilter> {
            Some(LevelFilter::INFO)
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            let mut line = format!("{} {}", event.metadata().level(), event.metadata().target());
            event.record(&mut |field: &Field, value: &dyn Debug| line += &format!(" {field}={value:?}"));
            *self.0.lock().expect("no panic") += &(line + "\n");
            panic!("a subscriber fails");
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn a_line_keeps_its_fields_and_loses_the_panic_of_its_subscriber() {
        let (subscriber, evaluated) = (Panicking::default(), Cell::new(0));
        let count = || evaluated.replace(evaluated.get() + 1);
        tracing::subscriber::with_default(subscriber.clone(), || {
            let name = "a";
            log!(WARN, %name, count = count(), "begins {name}");
            log!(target: "elsewhere", INFO, sizes = ?[1, 2], "ends {}", count());
            log!(DEBUG, count = count(), "is disabled");
        });
        let expected = "WARN alcedo_base::panic_guard::tests message=begins a name=a count=0\n\
                        INFO elsewhere message=ends 1 sizes=[1, 2]\n";
        assert_eq!((subscriber.0.lock().expect("no panic").as_str(), evaluated.get()), (expected, 2));
    }

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
