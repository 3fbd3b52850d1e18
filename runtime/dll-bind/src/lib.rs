//! Calls C functions according to declarations. A class is bound to a C library, in which the functions of the class are looked up by name
//! at run time. After each call, the memory of the arguments is checked for writes that the declaration does not allow.
//!
//! [`UserCode`] is a folder of libraries, and [`Library`] is one library in this folder. [`Import`] declares a function, and [`Imported`]
//! is a bound function. [`Shape`] describes the C layout of a reflected type. A `Plan` contains the arguments and buffers of one call. The
//! modules `shape` and `plan` contain no unsafe code. Like `alcedo-reflect`, this crate does not use objects or plugin modules. Game thread
//! only.

mod breach;
mod call;
mod function;
mod library;
mod number;
mod plan;
mod shape;
mod thunk;
mod typed;
mod utf16;
mod zones;

pub use breach::{Breach, Broken};
pub use call::{CNumbers, CResult};
pub use function::{BoolWidth, Import, Imported, Outcome, Route};
pub use library::{Library, UserCode};
pub use number::{CNumber, Number};
pub use shape::{BindError, Layouts, Shape};
pub use thunk::{Body, check};
pub use typed::TypedCall;
pub use zones::RED_ZONE;
