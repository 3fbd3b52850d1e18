//! Classes in text: a subset of UnrealScript, from the bytes of its files to a tree in which every name and type is resolved
//! against reflection. What runs the tree is elsewhere: this crate knows neither machine nor modules.
//!
//! [`Source::decode`] makes text of bytes, [`parse`] a tree of it. Everything is pure and without input or output.
#![forbid(unsafe_code)]

pub mod ast;
mod check;
mod console;
mod diagnostic;
mod hash;
pub mod hir;
mod outline;
mod parse;
mod print;
mod source;
mod token;

pub use check::{Checked, Options, check, check_parsed, outside};
pub use console::{Snippet, complete, snippet};
pub use diagnostic::{Diagnostic, Severity};
pub use outline::{Outline, outline};
pub use parse::{DEEPEST, DEEPEST_EXPRESSION, MOST_ERRORS, Parsed, parse};
pub use print::print;
pub use source::{Encoding, LARGEST_FILE, Source, Span};
