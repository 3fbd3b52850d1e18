//! Common base of the host crates. Defines handles, errors at the ABI boundary, panic guards, and the type that proves that code runs on
//! the game thread. Also defines cells that count borrows, tables whose ids are never reused, and functions that escape foreign strings in
//! messages.
//!
//! This crate is a part of `alcedo-runtime`, the crate for hosts. This crate contains no objects, no calls by name and no plugins.
#![forbid(unsafe_code)]

pub mod boundary;
pub mod cells;
pub mod epoch;
pub mod escape;
pub mod figures;
pub mod game_thread;
pub mod handles;
pub mod id_table;
pub mod nesting;
pub mod panic_guard;
pub mod repeats;
