//! Formats values whose `Display` and `Drop` belong to a plugin author and may panic, and reads the messages of panics. Host and plugin
//! both use this module.

use core::any::Any;
use core::fmt::{Display, Write};
use core::mem::ManuallyDrop;

/// Formats `value` into `words`, and drops `value` in a second step. `caught` runs one step and returns a panic of this step as an error.
/// The steps run separately, because a panic during an unwind aborts the process.
///
/// # Errors
/// Returns the panic of `Display`. If `Display` does not panic, returns the panic of `Drop`.
pub fn words_into<E>(
    value: impl Display,
    words: &mut impl Write,
    caught: impl Fn(&mut dyn FnMut()) -> Result<(), E>,
) -> Result<(), E> {
    let mut value = Some(ManuallyDrop::new(value));
    let written = caught(&mut || {
        // If `Display` returns an error, the partial output remains in `words`.
        let _written = value.iter().try_for_each(|value| write!(words, "{}", **value));
    });
    let dropped = caught(&mut || drop(value.take().map(ManuallyDrop::into_inner)));
    written.and(dropped)
}

/// Returns the message of a caught panic. Returns `None` if the payload is not a string.
#[must_use]
pub fn panic_message(payload: &(dyn Any + Send)) -> Option<&str> {
    let literal = payload.downcast_ref::<&str>().copied();
    literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use core::fmt::{Display, Formatter, Result};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::words_into;

    /// Value that panics when it is formatted, when it is dropped, or both.
    struct Broken(bool, bool);

    impl Display for Broken {
        fn fmt(&self, f: &mut Formatter<'_>) -> Result {
            if self.0 { panic!("its words") } else { f.write_str("fine") }
        }
    }

    impl Drop for Broken {
        fn drop(&mut self) {
            if self.1 {
                panic!("its drop")
            }
        }
    }

    #[test]
    fn a_value_whose_words_and_drop_both_panic_is_the_first_panic() {
        let found = |broken: Broken| {
            let mut words = String::new();
            let caught = |step: &mut dyn FnMut()| {
                let caught = catch_unwind(AssertUnwindSafe(step));
                caught.map_err(|payload| payload.downcast_ref::<&str>().map_or("", |text| *text))
            };
            words_into(broken, &mut words, caught).map(|()| words)
        };
        assert_eq!(found(Broken(false, false)), Ok("fine".to_owned()));
        assert_eq!(found(Broken(true, false)), Err("its words"));
        assert_eq!(found(Broken(false, true)), Err("its drop"));
        assert_eq!(found(Broken(true, true)), Err("its words"));
    }
}
