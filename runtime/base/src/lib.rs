//! What every floor of the host speaks: handles, errors and panics at the border, the proof of the game thread, cells whose
//! borrows are counted, rows by numbers that are never given twice, and texts of others in the host's sentences.
//!
//! A part of `alcedo-runtime`, which is what hosts depend on. It contains no objects, no calls by name and no plugins.
#![forbid(unsafe_code)]

pub mod border;
pub mod cells;
pub mod game_thread;
pub mod handles;
pub mod numbered;
pub mod repeats;
pub mod shown;
pub mod stamp;
pub mod trap;
