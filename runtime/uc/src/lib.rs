//! Front end for a subset of UnrealScript. Converts source files to a checked tree, whose names and types are resolved against reflection.
//! This crate depends neither on the machine that runs the tree nor on plugin modules.
//!
//! [`Source::decode`] decodes the bytes of a file. [`parse`] builds the syntax tree. All functions are pure and perform no I/O.
#![forbid(unsafe_code)]

pub mod ast;
mod check;
mod console;
mod diagnostic;
mod hash;
pub mod hir;
mod outline;
mod parse;
mod source;
mod token;

pub use check::{Checked, Options, check, check_parsed, outside, squash};
pub use console::{Snippet, complete, snippet};
pub use diagnostic::{Diagnostic, Severity};
pub use outline::{Outline, outline};
pub use parse::{MAX_DEPTH, MAX_ERRORS, MAX_EXPRESSION_DEPTH, Parsed, parse};
pub use source::{MAX_FILE_SIZE, Source, Span};
