//! Return types of functions: a value, or a `Result` whose error is passed as a string. Callers in other modules do not have the error
//! type, so the error becomes a `CallError` of the kind `RETURNED`, with the location of the function.

use core::any::Any;
use core::fmt::Display;

pub use alcedo_abi::call::SourceLocation;
use alcedo_rt::{CallError, SourcePlace};

use crate::ReturnValue;

/// Return type of a reflected function: `T` or `Result<T, E>`, where `T` is a value or `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a reflected function",
    label = "neither a supported type, nor a `Result<T, E>` of one whose `E` implements `Display`"
)]
pub trait Returned {
    /// Type of the value.
    type Value: ReturnValue;
    /// True if the return type is a `Result`.
    const MAY_FAIL: bool;

    /// Returns the value, or the error as a [`CallError`]. `place` is the source location of the function.
    fn crossing(self, place: SourceLocation) -> Result<Self::Value, CallError>;
}

impl<T: ReturnValue> Returned for T {
    type Value = T;
    const MAY_FAIL: bool = false;

    #[inline]
    fn crossing(self, _place: SourceLocation) -> Result<T, CallError> {
        Ok(self)
    }
}

impl<T: ReturnValue, E: ErrorInWords> Returned for Result<T, E> {
    type Value = T;
    const MAY_FAIL: bool = true;

    #[inline]
    fn crossing(self, place: SourceLocation) -> Result<T, CallError> {
        self.map_err(|error| crossed(error, place))
    }
}

/// Error type that a reflected function may return.
#[diagnostic::on_unimplemented(
    message = "the error `{Self}` cannot be returned to a caller",
    label = "implement `Display` for it: the caller receives the formatted string",
    note = "a borrowing error cannot be returned either: return a `String`, or an error type that owns its data"
)]
pub trait ErrorInWords: Display + 'static {}

impl<E: Display + 'static> ErrorInWords for E {}

/// Checks that `E` can be returned. The macro calls this function at the span of the author's type, where errors then appear.
pub const fn error_in_words<E: ErrorInWords>() {}

/// Converts an error into a `CallError`. An error that already is a `CallError` retains its kind and location.
#[cold]
fn crossed<E: ErrorInWords>(error: E, SourceLocation { file, line, column }: SourceLocation) -> CallError {
    let mut error = Some(error);
    if let Some(call_error) = (&mut error as &mut dyn Any).downcast_mut::<Option<CallError>>().and_then(Option::take) {
        return call_error;
    }
    let place = SourcePlace { file: file.to_owned(), line, column };
    match error {
        Some(error) => CallError::returned_at(error, &place),
        None => CallError::returned_at("", &place),
    }
}

#[cfg(test)]
mod tests {
    use super::{CallError, Returned, SourceLocation};
    use alcedo_abi::call::FailureKind;

    const HERE: SourceLocation = SourceLocation { file: "src/lib.rs", line: 4, column: 8 };

    #[test]
    fn an_error_of_any_type_keeps_its_message_and_gets_the_location() {
        assert_eq!(Ok::<_, String>(7_u32).crossing(HERE).ok(), Some(7));
        assert_eq!(7_u32.crossing(HERE).ok(), Some(7));
        let error = Err::<u32, _>(std::fmt::Error).crossing(HERE).expect_err("it is one");
        assert!(error.is_returned());
        assert_eq!(error.message(), std::fmt::Error.to_string());
        assert_eq!(error.place().map(|place| (place.file, place.line)), Some(("src/lib.rs".to_owned(), 4)));
    }

    #[test]
    fn a_call_error_goes_on_as_what_it_is() {
        let gone = || Err::<(), _>(CallError::new(FailureKind::STALE, "gone"));
        assert_eq!(gone().crossing(HERE).expect_err("it is one").kind(), FailureKind::STALE);
        let own = Err::<(), _>(CallError::returned("no")).crossing(HERE).expect_err("it is one");
        assert_eq!((own.is_returned(), own.place().map(|place| place.file)), (true, Some(file!().to_owned())));
    }
}
