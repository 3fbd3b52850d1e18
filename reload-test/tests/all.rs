//! The tests of both programs as a user runs them, one module a file. Each file has a process to itself: see
//! `runtime/tests/support/apart.rs`.

#[path = "../../runtime/tests/support/apart.rs"]
mod apart;

const PREPARE: fn() = || ();

mod reloading;
mod surveying;
