//! Calls by name. A name is parsed, looked up once through a chain of resolvers, and from then on called by handle
//! with a buffer of slots. This crate knows nothing of classes or objects: whoever does, registers a resolver.
//!
//! A part of `alcedo-runtime`, which is what hosts depend on.

// The floor below, by the names that it has in this crate.
use alcedo_base::{border, cells, game_thread, handles, numbered, shown, stamp};

pub mod black_code;
pub mod buffer;
pub mod call;
pub mod chain;
pub mod explain;
pub mod explicit;
pub mod free;
pub mod module_status;
pub mod name;
pub mod observe;
pub mod owned;
pub mod protocol;
pub mod reader;
pub mod signature;
pub mod table;

mod rows;

#[cfg(test)]
mod property_tests;
