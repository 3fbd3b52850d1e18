//! Thunks of one's own: a function that is declared with `custom_thunk` steps through the parameters of each call by its [`Frame`], some of
//! which may be of any type. The frame stays with the host, and what a parameter holds is asked for by number and path, so no
//! address of it is ever here.

use core::fmt::Display;
use core::marker::PhantomData;

use alcedo_abi::handles::ObjectHandle;
use alcedo_rt::words_of;

use crate::host::{host, intern};
use crate::{CallError, UName};

/// Stands for the result.
const RESULT: u32 = u32::MAX;

/// One call of a function with a thunk of its own. It is there until the thunk returns, on the game thread.
#[derive(Debug)]
pub struct Frame<'f> {
    number: u64,
    object: ObjectHandle,
    // A raw pointer, which keeps it on its thread.
    call: PhantomData<(&'f mut (), *const ())>,
}

/// A parameter that was stepped to, of the call that gave it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param(u32);

impl Frame<'_> {
    pub(crate) fn new(number: u64, object: ObjectHandle) -> Self {
        Self { number, object, call: PhantomData }
    }

    /// The object called, or none for a static function.
    #[must_use]
    pub fn object(&self) -> ObjectHandle {
        self.object
    }

    /// Steps to the next parameter, of whatever type it is. It is looked at by the functions below, at any time until the call
    /// returns.
    ///
    /// # Errors
    /// When there is none left, and what goes wrong where the caller evaluates it.
    pub fn step(&mut self) -> Result<Param, CallError> {
        host("stepping through a call")?.frame_step(self.number).map(Param)
    }

    /// All parameters were stepped to; the work begins.
    ///
    /// # Errors
    /// When some were not.
    pub fn finish(&mut self) -> Result<(), CallError> {
        host("finishing the parameters of a call")?.frame_finish(self.number)
    }

    /// The type of a parameter in words, as signatures have it, or of the part of it that `path` leads to: `[3]` is an element of an
    /// array, `.health` a field of a struct, by the name that people read or else by its own, `[3].health` both; the
    /// empty path is the whole.
    ///
    /// # Errors
    /// When the path leads nowhere.
    pub fn type_of(&self, param: Param, path: &str) -> Result<String, CallError> {
        host("asking for the type of a parameter")?.frame_type(self.number, param.0, path)
    }

    /// How many values an array, a set or a map has.
    ///
    /// # Errors
    /// When the path leads nowhere, or to none of these.
    pub fn count(&self, param: Param, path: &str) -> Result<u32, CallError> {
        host("counting the values of a parameter")?.frame_count(self.number, param.0, path)
    }

    /// A number, or that of an enum.
    ///
    /// # Errors
    /// When the path leads nowhere, or to none.
    pub fn number(&self, param: Param, path: &str) -> Result<f64, CallError> {
        host("reading a number of a parameter")?.frame_number(self.number, param.0, path)
    }

    /// A text or a name as it is, everything else as the host prints it.
    ///
    /// # Errors
    /// When the path leads nowhere.
    pub fn text(&self, param: Param, path: &str) -> Result<String, CallError> {
        host("reading a parameter as text")?.frame_text(self.number, param.0, path)
    }

    /// A name.
    ///
    /// # Errors
    /// When the path leads nowhere, or there is no host.
    pub fn name(&self, param: Param, path: &str) -> Result<UName, CallError> {
        intern(&self.text(param, path)?).map(UName)
    }

    /// Overwrites an out parameter by what the text says: a text or a name as it is, everything else as [`Frame::text`] has it.
    ///
    /// # Errors
    /// Before [`Frame::finish`], for a parameter that is no out parameter, and when the text is no such value.
    pub fn set(&mut self, param: Param, value: impl Display) -> Result<(), CallError> {
        host("writing an out parameter")?.frame_write(self.number, param.0, &words_of(value)?)
    }

    /// Gives the result, by its text: `frame.give(2.5)`.
    ///
    /// # Errors
    /// Before [`Frame::finish`], where there is no result, and when the text is no such value.
    pub fn give(&mut self, result: impl Display) -> Result<(), CallError> {
        host("giving the result of a call")?.frame_write(self.number, RESULT, &words_of(result)?)
    }
}
