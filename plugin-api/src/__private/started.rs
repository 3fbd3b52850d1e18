//! Runs an `async fn` of a class as a task of its object, and calls a delegate when the task is done.

use core::future::Future;

use alcedo_abi::call::FailureKind;

use super::returned::{Returned, SourceLocation};
use crate::delegate_signature::Signature;
use crate::kinds::{Borrowed, Delegate};
use crate::{CallError, Class, Obj, Object, ReturnValue, This, task};

/// Arguments for the delegate `done`, and the error of the future if it failed.
pub type Settled<A> = (A, Option<CallError>);

/// Starts `future` as a task of `this`. `convert` converts the result of `future` into the arguments of the delegate `done`. If `future`
/// returns an error and no function is bound to `done`, the task fails with this error, and the host logs it. The task also fails with this
/// error if the function that is bound to `done` or the object of the task no longer exists.
///
/// If the host refuses the task, the running call ends with the host's error.
pub fn start_task<C: Class, R: Returned + 'static, F: Signature<Result = ()>>(
    this: This<'_, C>,
    future: impl Future<Output = R> + 'static,
    done: Borrowed<'_, Delegate<F>>,
    location: SourceLocation,
    convert: fn(R, SourceLocation) -> Settled<F::Args>,
) {
    let listener = done.is_bound().then(|| done.to_owned());
    let object = Obj::<Object>::from_handle(this.object());
    let task = async move {
        let (args, error) = convert(future.await, location);
        let Some(done) = listener else { return error.map_or(Ok(()), Err) };
        let called = match object.with(|this| this.open(&done).call(args)) {
            // The last step of the task has destroyed the object, so `done` is not called.
            Err(gone) if gone.kind() == FailureKind::STALE => return error.map_or(Ok(()), Err),
            called => called?,
        };
        called.map_err(|refused| match error {
            Some(error) if refused.kind() == FailureKind::NOT_FOUND => error,
            _ => refused,
        })
    };
    task::spawn_from(this.object(), task, (location.file, location.line))
        .unwrap_or_else(|error| alcedo_rt::fail(error));
}

/// Returns a nonempty message for an error: the author's message if a function returned the error, otherwise the description of the
/// error.
fn message(error: &CallError) -> String {
    let message = if error.is_returned() { error.message().to_owned() } else { error.to_string() };
    if message.is_empty() { "an error without a message".to_owned() } else { message }
}

/// Converts the result of a function that returns a value.
pub fn value_done<R: ReturnValue>(value: R, _location: SourceLocation) -> Settled<(R,)> {
    ((value,), None)
}

/// Converts the result of a function that returns `()`.
pub fn nothing_done((): (), _location: SourceLocation) -> Settled<()> {
    ((), None)
}

/// Converts a `Result` into a value and an error message. The message is empty on success. On an error, the value is the
/// default.
pub fn value_or_error_done<R: Returned<Value: Default>>(
    returned: R,
    location: SourceLocation,
) -> Settled<(R::Value, String)> {
    match returned.crossing(location) {
        Ok(value) => ((value, String::new()), None),
        Err(error) => ((R::Value::default(), message(&error)), Some(error)),
    }
}

/// Converts a `Result` without a value into an error message. The message is empty on success.
pub fn error_done<R: Returned<Value = ()>>(returned: R, location: SourceLocation) -> Settled<(String,)> {
    match returned.crossing(location) {
        Ok(()) => ((String::new(),), None),
        Err(error) => ((message(&error),), Some(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::{FailureKind, SourceLocation, error_done, value_or_error_done};
    use crate::CallError;

    const HERE: SourceLocation = SourceLocation { file: "src/lib.rs", line: 4, column: 8 };

    #[test]
    fn an_error_of_any_type_has_a_message() {
        assert_eq!(error_done(Ok::<(), String>(()), HERE).0, (String::new(),));
        assert_eq!(value_or_error_done(Err::<u32, _>("no way"), HERE).0, (0, "no way".to_owned()));
        for error in [CallError::new(FailureKind::STALE, ""), CallError::returned(""), CallError::other("")] {
            let ((message,), error) = error_done(Err::<(), _>(error), HERE);
            assert!(!message.is_empty() && error.is_some(), "{error:?}");
        }
    }
}
