//! Converts the result of a function body to its ABI form: out parameters, the direct result, and the status of the call.

use std::rc::Rc;

use alcedo_abi::list::prelude::*;

use super::arguments::Sink;
use crate::boundary::CallError;
use crate::zcall::table::status_of;

/// Destination of the results that a function body returns.
pub(super) trait Fill<V> {
    /// Result that the ABI function returns directly.
    type Left;

    /// Writes the results to their destination.
    fn fill(self, value: V) -> Self::Left;
}

impl<V> Fill<V> for () {
    type Left = V;

    #[inline]
    fn fill(self, value: V) -> V {
        value
    }
}

impl<T> Fill<T> for &mut T {
    type Left = ();

    #[inline]
    fn fill(self, value: T) {
        *self = value;
    }
}

impl Fill<bool> for &mut u8 {
    type Left = ();

    #[inline]
    fn fill(self, value: bool) {
        *self = value.into();
    }
}

impl<A, B, V, W> Fill<(V, W)> for (&mut A, &mut B)
where
    for<'a> &'a mut A: Fill<V, Left = ()>,
    for<'a> &'a mut B: Fill<W, Left = ()>,
{
    type Left = ();

    #[inline]
    fn fill(self, (first, second): (V, W)) {
        self.0.fill(first);
        self.1.fill(second);
    }
}

impl Fill<String> for Sink<'_> {
    type Left = ();

    fn fill(self, text: String) {
        self.put(&text);
    }
}

impl Fill<Rc<str>> for Sink<'_> {
    type Left = ();

    fn fill(self, text: Rc<str>) {
        self.put(&text);
    }
}

impl Fill<Option<String>> for Sink<'_> {
    type Left = ();

    fn fill(self, text: Option<String>) {
        if let Some(text) = text {
            self.put(&text);
        }
    }
}

/// ABI type that reports the outcome of a call by a module.
pub(super) trait Answer<V, E> {
    /// Returns the outcome. Writes an error to `failure`, if the caller provides `failure`.
    fn answer(done: Result<V, E>, failure: Option<&mut Failure>) -> Self;
}

impl Answer<(), CallError> for Status {
    #[inline]
    fn answer(done: Result<(), CallError>, failure: Option<&mut Failure>) -> Self {
        match done {
            Ok(()) => Self::OK,
            Err(error) => {
                report(&error, failure);
                Self::FAILED
            }
        }
    }
}

/// Error of a ZCall, and status of the call. If no dispatcher was found for the call, the status is more specific than the error.
pub(super) struct Refused {
    pub(super) status: ZCallStatus,
    pub(super) error: CallError,
}

impl From<CallError> for Refused {
    fn from(error: CallError) -> Self {
        Self { status: status_of(&error), error }
    }
}

impl<E: Into<Refused>> Answer<(), E> for ZCallStatus {
    #[inline]
    fn answer(done: Result<(), E>, failure: Option<&mut Failure>) -> Self {
        match done {
            Ok(()) => Self::SUCCESS,
            Err(error) => {
                let Refused { status, error } = error.into();
                report(&error, failure);
                status
            }
        }
    }
}

impl Answer<(), CallError> for () {
    fn answer(_done: Result<(), CallError>, _failure: Option<&mut Failure>) -> Self {}
}

impl Answer<u64, CallError> for u64 {
    fn answer(done: Result<u64, CallError>, _failure: Option<&mut Failure>) -> Self {
        done.unwrap_or(0)
    }
}

impl Answer<bool, CallError> for u8 {
    fn answer(done: Result<bool, CallError>, _failure: Option<&mut Failure>) -> Self {
        done.is_ok_and(|is_so| is_so).into()
    }
}

#[cold]
fn report(error: &CallError, failure: Option<&mut Failure>) {
    if let Some(failure) = failure {
        *failure = error.to_failure();
    }
}
