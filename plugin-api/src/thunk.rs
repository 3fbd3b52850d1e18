//! Custom thunks: a function declared with `custom_thunk` steps through the parameters of each call by its [`Frame`];
//! parameters may be of any type. The frame stays in the host, and values of parameters are requested by number and path, so
//! the plugin holds no address of them.

use core::fmt::Display;
use core::marker::PhantomData;

use alcedo_abi::handles::ObjectHandle;
use alcedo_rt::format_value;

use crate::host::{host, intern};
use crate::{CallError, UName};

/// Parameter number of the result.
const RESULT: u32 = u32::MAX;

/// A call of a function with a custom thunk. Valid until the thunk returns, on the game thread.
#[derive(Debug)]
pub struct Frame<'f> {
    number: u64,
    object: ObjectHandle,
    // A raw pointer, which makes the type `!Send`.
    call: PhantomData<(&'f mut (), *const ())>,
}

/// A parameter that was stepped to; valid for the call that returned it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param(u32);

impl Frame<'_> {
    pub(crate) fn new(number: u64, object: ObjectHandle) -> Self {
        Self { number, object, call: PhantomData }
    }

    /// Returns the object of the call; none for a static function.
    #[must_use]
    pub fn object(&self) -> ObjectHandle {
        self.object
    }

    /// Steps to the next parameter, of any type. The functions below inspect it at any time until the call returns.
    ///
    /// # Errors
    /// No parameter is left, or the caller's evaluation of the parameter fails.
    pub fn step(&mut self) -> Result<Param, CallError> {
        host("stepping through a call")?.frame_step(self.number).map(Param)
    }

    /// Ends the parameters after the last step; the work of the function begins.
    ///
    /// # Errors
    /// Some parameters were not stepped to.
    pub fn finish(&mut self) -> Result<(), CallError> {
        host("finishing the parameters of a call")?.frame_finish(self.number)
    }

    /// Returns the type of a parameter as signatures print it, or the type of the part at `path`: `[3]` is an element of an
    /// array, `.health` a field of a struct, by its display name or else by its internal name, `[3].health` both; the empty
    /// path is the whole parameter.
    ///
    /// # Errors
    /// The path does not exist.
    pub fn type_of(&self, param: Param, path: &str) -> Result<String, CallError> {
        host("asking for the type of a parameter")?.frame_type(self.number, param.0, path)
    }

    /// Returns the number of values in an array, a set or a map.
    ///
    /// # Errors
    /// The path does not exist or refers to a value of another type.
    pub fn count(&self, param: Param, path: &str) -> Result<u32, CallError> {
        host("counting the values of a parameter")?.frame_count(self.number, param.0, path)
    }

    /// Returns a number, or the number of an enum value.
    ///
    /// # Errors
    /// The path does not exist or refers to a value of another type.
    pub fn number(&self, param: Param, path: &str) -> Result<f64, CallError> {
        host("reading a number of a parameter")?.frame_number(self.number, param.0, path)
    }

    /// Returns a string or a name unchanged, other values as the host prints them.
    ///
    /// # Errors
    /// The path does not exist.
    pub fn text(&self, param: Param, path: &str) -> Result<String, CallError> {
        host("reading a parameter as text")?.frame_text(self.number, param.0, path)
    }

    /// Returns a name.
    ///
    /// # Errors
    /// The path does not exist, or no host is attached.
    pub fn name(&self, param: Param, path: &str) -> Result<UName, CallError> {
        intern(&self.text(param, path)?).map(UName)
    }

    /// Overwrites an out parameter by the text form of `value`: a string or a name unchanged, other values in the format of
    /// [`Frame::text`].
    ///
    /// # Errors
    /// Fails before [`Frame::finish`], for a parameter that is not an out parameter, and for a text that cannot be parsed.
    pub fn set(&mut self, param: Param, value: impl Display) -> Result<(), CallError> {
        host("writing an out parameter")?.frame_write(self.number, param.0, &format_value(value)?)
    }

    /// Sets the result by its text form: `frame.give(2.5)`.
    ///
    /// # Errors
    /// Fails before [`Frame::finish`], for a function without a result, and for a text that cannot be parsed.
    pub fn give(&mut self, result: impl Display) -> Result<(), CallError> {
        host("giving the result of a call")?.frame_write(self.number, RESULT, &format_value(result)?)
    }
}
