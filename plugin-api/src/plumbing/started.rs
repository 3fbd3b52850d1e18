//! What an `async fn` of a class comes to: a task of its object, and the delegate that is called when it is done.

use core::future::Future;

use super::returned::{Place, Returned};
use crate::delegate_signature::Signature;
use crate::kinds::{Delegate, Lent};
use crate::{CallError, Class, Obj, Object, ReturnValue, This, task};

/// What is given to `done`, or that there is nothing to give, and the error that came out.
pub type Settled<A> = (A, Option<CallError>);

/// Starts `future` as a task of `this`. What it gives becomes, by `settle`, the arguments of `done`, if something is bound
/// to that; an error that no function takes ends the task, whose failure the host logs.
///
/// The running call ends with the host's error where the task cannot be started.
pub fn start_task<C: Class, R: Returned + 'static, F: Signature<Result = ()>>(
    this: This<'_, C>,
    future: impl Future<Output = R> + 'static,
    done: Lent<'_, Delegate<F>>,
    place: Place,
    settle: fn(R, Place) -> Settled<F::Args>,
) {
    let listener = done.is_bound().then(|| done.clone());
    let (object, handle) = (Obj::<Object>::from_handle(this.object()), this.object());
    let task = async move {
        let (args, error) = settle(future.await, place);
        let Some(done) = listener else { return error.map_or(Ok(()), Err) };
        object.with(|this| this.open(&done).call(args))?
    };
    task::spawn_from(handle, task, (place.file, place.line)).unwrap_or_else(|error| alcedo_rt::fail(error));
}

/// Of a function that gives a value.
pub fn value_done<R: ReturnValue>(value: R, _place: Place) -> Settled<(R,)> {
    ((value,), None)
}

/// Of a function that gives nothing.
pub fn nothing_done((): (), _place: Place) -> Settled<()> {
    ((), None)
}

/// Of a function that gives a value or an error: the zero value with the words of the error, or the value with none.
pub fn value_or_error_done<R: Returned<Value: Default>>(returned: R, place: Place) -> Settled<(R::Value, String)> {
    match returned.crossing(place) {
        Ok(value) => ((value, String::new()), None),
        Err(error) => ((R::Value::default(), error.message().to_owned()), Some(error)),
    }
}

/// Of a function that gives nothing or an error: the words of the error, or none.
pub fn error_done<R: Returned<Value = ()>>(returned: R, place: Place) -> Settled<(String,)> {
    match returned.crossing(place) {
        Ok(()) => ((String::new(),), None),
        Err(error) => ((error.message().to_owned(),), Some(error)),
    }
}
