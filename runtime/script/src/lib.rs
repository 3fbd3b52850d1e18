//! Compiler, loader and interpreter for scripts. Checked trees are compiled to bytecode, which the loader verifies and the interpreter
//! runs. The objects in frames of the interpreter are roots of the collector. Calls to and from native code use the thunks of reflected
//! functions. This crate is independent of modules and generations: its users decide when code is loaded and unloaded.

mod call;
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
mod native;
mod number;
mod place;
mod rows;
mod run;
mod size;
mod slow;
mod value;

pub use compile::compile;
pub use compiled::{CompileError, Compiled};
pub use machine::{Limits, Machine};
pub use value::named_object;
