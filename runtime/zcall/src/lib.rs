//! Calls by name. A chain of resolvers looks up each name once. Later calls use a handle and a buffer of slots. This crate does not depend
//! on classes and objects: crates that define them add resolvers to the chain.
//!
//! This crate is a part of `alcedo-runtime`, the crate for hosts.

// Modules of `alcedo-base`, available in this crate under their own names.
use alcedo_base::{boundary, cells, epoch, escape, game_thread, handles, id_table, panic_guard};

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

mod entry_table;

#[cfg(test)]
mod property_tests;
