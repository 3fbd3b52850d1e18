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
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::thunk::Frame;
///
/// #[uclass(package = "Game", blueprint_type)]
/// #[derive(Default)]
/// pub struct Wildcards {}
///
/// #[uclass]
/// impl Wildcards {
///     /// Returns the type and the length of any array.
///     #[ufunction(blueprint_callable, custom_thunk = Self::exec_describe, array_parm = "target")]
///     fn describe(target: Vec<i32>) -> String;
///
///     fn exec_describe(frame: &mut Frame<'_>) -> Result<(), CallError> {
///         let target = frame.step()?;
///         frame.finish()?;
///         let text = format!("{} of length {}", frame.type_of(target, "")?, frame.count(target, "")?);
///         frame.set_result(text)
///     }
/// }
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct Frame<'f> {
    number: u64,
    object: ObjectHandle,
    // A raw pointer, which makes the type `!Send`.
    call: PhantomData<(&'f mut (), *const ())>,
}

/// A parameter that was stepped to; valid for the call that returned it.
///
/// # Examples
/// ```
/// # use alcedo_plugin_api::prelude::*;
///
/// use alcedo_plugin_api::thunk::{Frame, Param};
///
/// /// Sums up the elements of an array of numbers.
/// fn sum(frame: &Frame<'_>, numbers: Param) -> Result<f64, CallError> {
///     (0..frame.count(numbers, "")?).map(|index| frame.number(numbers, &format!("[{index}]"))).sum()
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param(u32);

impl Frame<'_> {
    pub(crate) fn new(number: u64, object: ObjectHandle) -> Self {
        Self { number, object, call: PhantomData }
    }

    /// Returns the object of the call; none for a static function.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::thunk::Frame;
    ///
    /// fn exec_who(frame: &mut Frame<'_>) -> Result<(), CallError> {
    ///     frame.finish()?;
    ///     let object = frame.object();
    ///     frame.set_result(if object.is_none() { "static".to_owned() } else { object.to_string() })
    /// }
    /// ```
    #[must_use]
    pub fn object(&self) -> ObjectHandle {
        self.object
    }

    /// Steps to the next parameter, of any type. The functions below inspect it at any time until the call returns.
    ///
    /// # Errors
    /// No parameter is left, or the caller's evaluation of the parameter fails.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::thunk::Frame;
    ///
    /// fn exec_add(frame: &mut Frame<'_>) -> Result<(), CallError> {
    ///     let (a, b) = (frame.step()?, frame.step()?);
    ///     frame.finish()?;
    ///     frame.set_result(frame.number(a, "")? + frame.number(b, "")?)
    /// }
    /// ```
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
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::thunk::{Frame, Param};
    ///
    /// fn has_health(frame: &Frame<'_>, value: Param) -> bool {
    ///     frame.type_of(value, ".health").is_ok_and(|name| name == "f64")
    /// }
    /// ```
    pub fn type_of(&self, param: Param, path: &str) -> Result<String, CallError> {
        host("asking for the type of a parameter")?.frame_type(self.number, param.0, path)
    }

    /// Returns the number of values in an array, a set or a map.
    ///
    /// # Errors
    /// The path does not exist or refers to a value of another type.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::thunk::{Frame, Param};
    ///
    /// fn is_longer(frame: &Frame<'_>, a: Param, b: Param) -> Result<bool, CallError> {
    ///     Ok(frame.count(a, "")? > frame.count(b, "")?)
    /// }
    /// ```
    pub fn count(&self, param: Param, path: &str) -> Result<u32, CallError> {
        host("counting the values of a parameter")?.frame_count(self.number, param.0, path)
    }

    /// Returns a number, or the number of an enum value.
    ///
    /// # Errors
    /// The path does not exist or refers to a value of another type.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::thunk::{Frame, Param};
    ///
    /// fn health_of_first(frame: &Frame<'_>, squad: Param) -> f64 {
    ///     frame.number(squad, "[0].health").unwrap_or(0.0)
    /// }
    /// ```
    pub fn number(&self, param: Param, path: &str) -> Result<f64, CallError> {
        host("reading a number of a parameter")?.frame_number(self.number, param.0, path)
    }

    /// Returns a string or a name unchanged, other values as the host prints them.
    ///
    /// # Errors
    /// The path does not exist.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::thunk::{Frame, Param};
    ///
    /// fn log(frame: &Frame<'_>, value: Param) -> Result<(), CallError> {
    ///     tracing::info!("{}: {}", frame.type_of(value, "")?, frame.text(value, "")?);
    ///     Ok(())
    /// }
    /// ```
    pub fn text(&self, param: Param, path: &str) -> Result<String, CallError> {
        host("reading a parameter as text")?.frame_text(self.number, param.0, path)
    }

    /// Returns a name.
    ///
    /// # Errors
    /// The path does not exist, or no host is attached.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::thunk::{Frame, Param};
    ///
    /// fn same_team(frame: &Frame<'_>, a: Param, b: Param) -> Result<bool, CallError> {
    ///     Ok(frame.name(a, ".team")? == frame.name(b, ".team")?)
    /// }
    /// ```
    pub fn name(&self, param: Param, path: &str) -> Result<UName, CallError> {
        intern(&self.text(param, path)?).map(UName)
    }

    /// Overwrites an out parameter by the text form of `value`: a string or a name unchanged, other values in the format of
    /// [`Frame::text`].
    ///
    /// # Errors
    /// Fails before [`Frame::finish`], for a parameter that is not an out parameter, and for a text that cannot be parsed.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::thunk::Frame;
    ///
    /// /// Thunk of `fn double(number: &mut i32) -> bool`.
    /// fn exec_double(frame: &mut Frame<'_>) -> Result<(), CallError> {
    ///     let number = frame.step()?;
    ///     frame.finish()?;
    ///     let doubled = 2.0 * frame.number(number, "")?;
    ///     frame.set(number, doubled)?;
    ///     frame.set_result(true)
    /// }
    /// ```
    pub fn set(&mut self, param: Param, value: impl Display) -> Result<(), CallError> {
        host("writing an out parameter")?.frame_write(self.number, param.0, &format_value(value)?)
    }

    /// Sets the result by its text form: `frame.set_result(2.5)`.
    ///
    /// # Errors
    /// Fails before [`Frame::finish`], for a function without a result, and for a text that cannot be parsed.
    pub fn set_result(&mut self, result: impl Display) -> Result<(), CallError> {
        host("giving the result of a call")?.frame_write(self.number, RESULT, &format_value(result)?)
    }
}
