//! Scripts run here: bytecode is made of checked trees, looked at by the loader, and run by a frame machine whose frames are
//! roots of the collector. Natives are called, and call, through the thunks of reflected functions. This crate knows neither
//! modules nor generations; what is above it says when code comes and goes.

mod call;
mod call_in;
mod call_out;
pub mod code;
mod compile;
mod compiled;
mod cost;
mod exec;
mod frames;
pub mod host;
mod intrinsic;
pub mod library;
pub mod link;
mod machine;
mod mark;
mod moves;
mod number;
mod place;
mod run;
mod size;
mod slow;
mod triple;
mod value;

pub use compile::compile;
pub use compiled::{CompileError, Compiled};
pub use machine::{Limits, Machine};
