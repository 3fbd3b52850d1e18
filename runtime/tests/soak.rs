//! Contains the tests that the scripts in `.ci` also run longer, in release or under AddressSanitizer. These tests are a separate program,
//! because compiling all tests for these runs would take minutes. `cargo test` omits this program; `.ci/run` runs it when needed. The tests
//! of each folder run in a separate process: see `support/apart.rs`.
//!
//! `cargo test -p alcedo-runtime --test soak churn::` runs the tests of one folder.

#[path = "support/apart.rs"]
mod apart;
mod support;

/// Builds the plugins that only this program loads.
const PREPARE: fn() -> apart::Variables = support::workspace::build_soak;

const FILES_PER_PROCESSOR: usize = 1;

const WAITING: &[&str] = &[];

const FIRST: &[&str] = &[];

/// Number of objects that each test of `aliases.rs` creates.
const TENANTS: u64 = 1_000_000;

mod aliases;

#[path = "attacks/main.rs"]
mod attacks;
#[path = "churn/main.rs"]
mod churn;
#[path = "lifetimes/main.rs"]
mod lifetimes;
