//! Error type of plugin code for calls across the ABI boundary. An error stores the ABI failure unchanged, so plugin code can return an
//! error of a host call to the host.

use alcedo_abi::call::{Failure, FailureKind};
use alcedo_abi::handles::ObjectHandle;

/// Location in a source file.
///
/// # Examples
/// ```
/// use alcedo_rt::{CallError, SourcePlace};
///
/// let place = SourcePlace { file: "src/lib.rs".to_owned(), line: 12, column: 5 };
/// let error = CallError::returned_at("no bulb", &place);
/// assert_eq!(error.place(), Some(place));
/// assert_eq!(error.to_string(), "returned the error \"no bulb\" at src/lib.rs:12:5");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourcePlace {
    /// Source file, with the path that the compiler recorded.
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
    /// Column number, from 1.
    pub column: u32,
}

/// Error of a call. Host and plugin remain consistent after the error, so the caller may continue or return the error.
///
/// # Examples
/// ```
/// use alcedo_abi::call::FailureKind;
/// use alcedo_rt::CallError;
///
/// fn advice(error: &CallError) -> String {
///     match error.kind() {
///         FailureKind::STALE => "find another target".to_owned(),
///         FailureKind::DURING_REBUILD => "try again after the commit".to_owned(),
///         _ => error.to_string(),
///     }
/// }
/// assert_eq!(advice(&CallError::new(FailureKind::STALE, "")), "find another target");
/// assert_eq!(advice(&CallError::other("no ammunition: reload first")), "no ammunition: reload first");
/// ```
#[derive(Clone, Debug)]
pub struct CallError {
    failure: Box<Failure>,
}

impl CallError {
    /// Creates an error of `kind` with a message.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::call::FailureKind;
    /// use alcedo_rt::CallError;
    ///
    /// fn level(name: &str) -> Result<u32, CallError> {
    ///     match name {
    ///         "cave" => Ok(1),
    ///         _ => Err(CallError::new(FailureKind::NOT_FOUND, format!("no level {name:?}"))),
    ///     }
    /// }
    /// assert_eq!(level("moon").unwrap_err().to_string(), "no level \"moon\"");
    /// ```
    #[must_use]
    pub fn new(kind: FailureKind, message: impl AsRef<str>) -> Self {
        Self::from_failure(Failure::new(kind, message.as_ref()))
    }

    /// Creates an error of kind `OTHER`. The message should state the action, the object and a hint.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::call::FailureKind;
    /// use alcedo_rt::CallError;
    ///
    /// let error = CallError::other("loading save.dat: the disk is full: delete old saves");
    /// assert_eq!(error.kind(), FailureKind::OTHER);
    /// ```
    #[must_use]
    pub fn other(message: impl AsRef<str>) -> Self {
        Self::new(FailureKind::OTHER, message)
    }

    /// Creates the error of an `action` that needs a host, for a plugin that is not attached to a host.
    ///
    /// # Examples
    /// ```
    /// use alcedo_rt::CallError;
    ///
    /// let error = CallError::no_host("spawn");
    /// assert!(error.to_string().starts_with("a host, which `spawn` needs, is not available"));
    /// ```
    #[must_use]
    pub fn no_host(action: &str) -> Self {
        Self::new(FailureKind::UNAVAILABLE, format!("a host, which `{action}` needs,"))
    }

    /// Creates an error for a borrow conflict: the method `requested_by` requested the plugin part of `object` while the method `held`
    /// borrowed the part.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::handles::ObjectHandle;
    /// use alcedo_rt::CallError;
    ///
    /// let error = CallError::reentrant(ObjectHandle::new(3, 9), "tick", "heal");
    /// assert_eq!((error.held(), error.expected()), ("tick", "heal"));
    /// assert!(error.to_string().starts_with("#3.9: `heal` needs the plugin part while `tick` holds it"));
    /// ```
    #[must_use]
    pub fn reentrant(object: ObjectHandle, held: &str, requested_by: &str) -> Self {
        let failure = Failure {
            object,
            held: held.into(),
            expected: requested_by.into(),
            ..Failure::new(FailureKind::REENTRANT_BORROW, "the plugin part is borrowed already")
        };
        Self::from_failure(failure)
    }

    /// Creates an error from a failure of the ABI.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::call::{Failure, FailureKind};
    /// use alcedo_rt::CallError;
    ///
    /// let failure = Failure { line: 7, file: "src/lib.rs".into(), ..Failure::new(FailureKind::PANIC, "no wheels") };
    /// assert_eq!(CallError::from_failure(failure).to_string(), "panicked: \"no wheels\" at src/lib.rs:7:0");
    /// ```
    #[must_use]
    pub fn from_failure(failure: Failure) -> Self {
        Self { failure: Box::new(failure) }
    }

    /// Converts the error into a failure of the ABI.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::call::FailureKind;
    /// use alcedo_rt::CallError;
    ///
    /// let failure = CallError::other("no fuel").into_failure();
    /// assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::OTHER, "no fuel"));
    /// ```
    #[must_use]
    pub fn into_failure(self) -> Failure {
        *self.failure
    }

    /// Returns the kind of the error.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::call::FailureKind;
    /// use alcedo_rt::CallError;
    ///
    /// /// Returns `true` if a later attempt may succeed.
    /// fn is_temporary(error: &CallError) -> bool {
    ///     matches!(error.kind(), FailureKind::UNAVAILABLE | FailureKind::DURING_REBUILD | FailureKind::BORROWED)
    /// }
    /// assert!(is_temporary(&CallError::no_host("spawn")));
    /// ```
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        self.failure.kind
    }

    /// Returns true if the called function completed and returned its author's error. Returns false if the call itself failed.
    ///
    /// # Examples
    /// ```
    /// use alcedo_rt::CallError;
    ///
    /// fn report(error: &CallError) -> String {
    ///     if error.is_returned() { format!("the shop is closed: {}", error.message()) } else { format!("bug: {error}") }
    /// }
    /// assert_eq!(report(&CallError::returned("sold out")), "the shop is closed: sold out");
    /// ```
    #[must_use]
    pub fn is_returned(&self) -> bool {
        self.kind() == FailureKind::RETURNED
    }

    /// Returns only the message: the message of a panic, or the author's message of a returned error.
    ///
    /// # Examples
    /// ```
    /// use alcedo_rt::CallError;
    ///
    /// let error = CallError::returned("sold out");
    /// assert_eq!(error.message(), "sold out");
    /// assert!(error.to_string().starts_with("returned the error \"sold out\" at "), "with the location");
    /// ```
    #[must_use]
    pub fn message(&self) -> &str {
        self.failure.message.as_str()
    }

    /// Returns the handle of the object that the error concerns, or none.
    #[must_use]
    pub fn object(&self) -> ObjectHandle {
        self.failure.object
    }

    /// For a borrow conflict, returns the name of the method that holds the plugin part. For a mismatch of signatures or classes, returns
    /// the actual signature or class.
    #[must_use]
    pub fn held(&self) -> &str {
        self.failure.held.as_str()
    }

    /// For a borrow conflict, returns the name of the method that requested the plugin part. For a mismatch of signatures or classes,
    /// returns the expected signature or class.
    #[must_use]
    pub fn expected(&self) -> &str {
        self.failure.expected.as_str()
    }

    /// Returns the source location of the error, if known.
    ///
    /// # Examples
    /// ```
    /// use alcedo_rt::CallError;
    ///
    /// let error = CallError::returned("sold out");
    /// assert!(error.place().is_some_and(|place| place.line > 0));
    /// assert_eq!(CallError::other("no fuel").place(), None);
    /// ```
    #[must_use]
    pub fn place(&self) -> Option<SourcePlace> {
        let Failure { file, line, column, .. } = &*self.failure;
        (!file.is_empty()).then(|| SourcePlace { file: file.as_str().to_owned(), line: *line, column: *column })
    }
}

impl core::fmt::Display for CallError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(&self.failure, f)
    }
}

impl std::error::Error for CallError {}

#[cfg(test)]
mod tests {
    use super::CallError;
    use alcedo_abi::call::{Failure, FailureKind};
    use alcedo_abi::handles::ObjectHandle;

    #[test]
    fn a_failure_comes_out_as_it_went_in() {
        let error = CallError::reentrant(ObjectHandle::new(3, 9), "receive_tick", "say_hello");
        let failure = error.clone().into_failure();
        assert_eq!((failure.kind, failure.object), (FailureKind::REENTRANT_BORROW, ObjectHandle::new(3, 9)));
        assert_eq!(CallError::from_failure(failure).to_string(), error.to_string());
        assert_eq!(
            error.to_string(),
            "#3.9: `say_hello` needs the plugin part while `receive_tick` holds it: in `receive_tick`, with `&mut self`, \
             write `this.lend(self, |this| this.say_hello(…))`"
        );
    }

    #[test]
    fn a_reference_to_no_object_is_not_called_gone() {
        let error = CallError::from_failure(Failure::new(FailureKind::STALE, ""));
        assert_eq!(error.to_string(), "the reference is to no object: check `is_none` before using it");
    }

    #[test]
    fn a_panic_reports_its_location() {
        let failure =
            Failure { file: "src/lib.rs".into(), line: 4, column: 2, ..Failure::new(FailureKind::PANIC, "no wheels") };
        assert_eq!(CallError::from_failure(failure).to_string(), "panicked: \"no wheels\" at src/lib.rs:4:2");
    }
}
