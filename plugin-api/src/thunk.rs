//! Custom thunks. A function declared with `custom_thunk` reads the parameters of each call one by one from a [`Frame`], and the parameters
//! may be of any type. The frame remains in the host: the plugin requests values by parameter number and path, and stores no addresses.

use core::fmt::Display;
use core::marker::PhantomData;

use alcedo_abi::handles::ObjectHandle;
use alcedo_rt::format_value;

use crate::host::{host, intern};
use crate::{CallError, UName};

/// Parameter number that represents the result.
const RESULT: u32 = u32::MAX;

/// Call of a function with a custom thunk. Valid on the game thread, until the thunk returns.
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
    // The raw pointer makes the type `!Send`.
    call: PhantomData<(&'f mut (), *const ())>,
}

/// Parameter that [`Frame::step`] has returned. Valid only during the call to which the frame belongs.
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

    /// Returns the object of the call, or none for a static function.
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

    /// Advances to the next parameter, which may be of any type. The methods below can inspect the parameter until the call returns.
    ///
    /// # Errors
    /// Fails if `step` has already returned all parameters, or if the evaluation of the argument fails.
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

    /// Ends the steps through the parameters. Call this function before [`Frame::set`] and [`Frame::set_result`].
    ///
    /// # Errors
    /// Fails if [`Frame::step`] has not yet returned all parameters.
    pub fn finish(&mut self) -> Result<(), CallError> {
        host("finishing the parameters of a call")?.frame_finish(self.number)
    }

    /// Returns the type of the value at `path` in a parameter, in the syntax of signatures. The path `[3]` refers to an element of an
    /// array, and `.health` to a field of a struct. The path `[3].health` combines both steps. The empty path refers to the whole
    /// parameter. The host looks up a field by its display name first, and then by its internal name.
    ///
    /// # Errors
    /// Fails if the path does not exist.
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
        host("reading the type of a parameter")?.frame_type(self.number, param.0, path)
    }

    /// Returns the number of values in the array, set or map at `path`.
    ///
    /// # Errors
    /// Fails if the path does not exist, or if the value at the path has an unsuitable type.
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

    /// Returns the number at `path`. For an enum value, returns its discriminant.
    ///
    /// # Errors
    /// Fails if the path does not exist, or if the value at the path has an unsuitable type.
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

    /// Returns the value at `path` as a string. Strings (except `UText`) and names are returned unchanged; the host formats
    /// values of all other types.
    ///
    /// # Errors
    /// Fails if the path does not exist.
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

    /// Returns the value at `path` as a name.
    ///
    /// # Errors
    /// Fails if the path does not exist, or if no host is attached.
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

    /// Overwrites an out parameter with `value`, which is passed as a string. Strings (except `UText`) and names are assigned
    /// unchanged. A value of any other type is parsed, in the format that [`Frame::text`] returns.
    ///
    /// # Errors
    /// Fails if [`Frame::finish`] has not been called, if the parameter is not an out parameter, or if the string cannot be parsed. Also
    /// fails with `WRONG_CLASS` if the parameter does not accept the class of an object.
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

    /// Sets the result of the function. The result is passed as a string, as in [`Frame::set`]: `frame.set_result(2.5)`.
    ///
    /// # Errors
    /// Fails if [`Frame::finish`] has not been called, if the function has no result, or if the string cannot be parsed. Also fails with
    /// `WRONG_CLASS` if the result does not accept the class of an object.
    pub fn set_result(&mut self, result: impl Display) -> Result<(), CallError> {
        host("writing the result of a call")?.frame_write(self.number, RESULT, &format_value(result)?)
    }
}
