//! Logs failing events. Repeated failures are logged only at the 1st, 10th, 100th, 1000th time and so on. All objects of a class share a
//! counter, so ten thousand equal failures in a batch produce five log lines.

use crate::error::Error;
use crate::handles::ObjectHandle;
use crate::host::BatchReport;
use crate::logs;
use crate::runtime::Objects;
use crate::unheard;

use alcedo_base::repeats::times;

impl Objects<'_> {
    /// Logs a failed event of an object, or of the host for [`ObjectHandle::NONE`]. Repeated failures are counted by event, class and
    /// source location, and logged only at the 1st, 10th, 100th time and so on. Each generation has new counters. Game thread only.
    pub fn log_failure(&self, event: &str, object: ObjectHandle, error: &Error) {
        let key = (event, self.class_of(object), location(error));
        if let Some(count) = self.0.core().failures.note(self.0.generation(), &key) {
            let owner = if object.is_none() { "the host".to_owned() } else { self.describe(object) };
            let times = times(count);
            log!(WARN, event, %error, "an event of {owner} failed{times}");
            unheard::print(&format_args!("the event {event} of {owner} failed{times}: {error}"));
        }
    }

    /// Logs each failure of a batch with [`Objects::log_failure`].
    pub fn log_failures(&self, event: &str, report: &BatchReport) {
        report.failed.iter().for_each(|(object, error)| self.log_failure(event, *object, error));
    }
}

/// Returns the key that identifies repeated failures: the source location, or the message without digits.
fn location(error: &Error) -> (String, u32) {
    match error {
        Error::Call(error) => logs::location(error),
        error => (logs::without_digits(&error.to_string()), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, ObjectHandle, location};
    use crate::Runtime;
    use crate::boundary::{CallError, SourcePlace};

    #[test]
    fn failures_are_grouped_by_line_independent_of_the_message() {
        let stale = [3, 12].map(|object| location(&CallError::Stale { handle: ObjectHandle::new(object, 1) }.into()));
        assert_eq!(stale[0], stale[1]);
        assert_ne!(stale[0], location(&CallError::other("another").into()));
        let panicked = ["Ann", "Bo"].map(|message| {
            let place = Some(SourcePlace { file: "lib.rs".into(), line: 7, column: 5 });
            location(&CallError::Panicked { message: message.into(), place }.into())
        });
        assert_eq!(panicked[0], panicked[1]);
    }

    #[test]
    fn events_of_a_class_are_counted_apart() {
        let runtime = Runtime::builder().build().expect("a host");
        let (error, object) = (Error::from(CallError::other("no luck")), ObjectHandle::NONE);
        let counts = |event: &str| {
            let key = (event, None::<String>, location(&error));
            runtime.core().failures.note(0, &key)
        };
        (0..9).for_each(|_| runtime.objects().log_failure("turn", object, &error));
        assert_eq!((counts("turn"), counts("jump")), (Some(10), Some(1)));
    }
}
