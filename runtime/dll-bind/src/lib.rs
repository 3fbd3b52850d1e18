//! C libraries that are called by declaration: a class is bound to a library, its functions are looked up there at run time, and
//! each call is checked afterwards.
//!
//! [`UserCode`] is the folder that libraries are taken from, [`Library`] one of them, [`Import`] the declaration of a
//! function, and [`Imported`] the function itself. How types of reflection lie in C is a [`Shape`]; what a call
//! sends and what it left by a plan; neither has unsafe code. Knows objects and modules as little as
//! `alcedo-reflect` does. Game thread only.

mod breach;
mod call;
mod function;
mod library;
mod plan;
mod shape;
mod texts;
mod thunk;
mod typed;
mod zones;

pub use breach::{Breach, Broken};
pub use function::{BoolWidth, Import, Imported, Outcome, Route};
pub use library::{Library, UserCode};
pub use shape::{BindError, Layouts, Number, Shape};
pub use thunk::{Body, Manner, check};
pub use typed::{CNumber, CNumbers, CResult, TypedCall};
pub use zones::RED_ZONE;
