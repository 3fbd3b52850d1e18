//! Calls C libraries by declaration. A class is bound to a library. The functions of the library are resolved at run time. Each call is
//! checked after its return.
//!
//! [`UserCode`] is the folder of the libraries, and [`Library`] is a library in this folder. [`Import`] declares a function, and
//! [`Imported`] is a bound function. [`Shape`] describes the C layout of reflected types. A plan contains the arguments and buffers of a
//! call. The modules of shapes and plans consist of safe code. Like `alcedo-reflect`, this crate is independent of objects and modules.
//! Game thread only.

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
pub use function::{BoolWidth, Import, Imported, Outcome, Route};
pub use library::{Library, UserCode};
pub use number::{CNumber, Number};
pub use shape::{BindError, Layouts, Shape};
pub use thunk::{Body, check};
pub use typed::{CNumbers, CResult, TypedCall};
pub use zones::RED_ZONE;
