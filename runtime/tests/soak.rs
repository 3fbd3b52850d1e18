//! Contains the tests that also run longer, in release or under AddressSanitizer: see `.ci`. These tests are a separate program, because compiling
//! all tests for these runs would take minutes. `cargo test` omits this program; `.ci/run` runs it when needed. Each folder has its own
//! process: see `support/apart.rs`.
//!
//! `cargo test -p alcedo-runtime --test soak churn::` runs the tests of one folder.

#[path = "support/apart.rs"]
mod apart;
mod support;

const PREPARE: fn() = || ();

const FILES_PER_PROCESSOR: usize = 1;

/// Number of objects that each test of `aliases.rs` creates.
const TENANTS: u64 = 1_000_000;

mod aliases;

#[path = "attacks/main.rs"]
mod attacks;
#[path = "churn/main.rs"]
mod churn;
#[path = "lifetimes/main.rs"]
mod lifetimes;
