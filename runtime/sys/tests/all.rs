//! Tests this crate with real libraries. The tests of each file run in a separate process: see `runtime/tests/support/apart.rs`.
//!
//! `cargo test --test images unmapping::` runs the tests of one file.

#[path = "../../tests/support/apart.rs"]
mod apart;

const PREPARE: fn() -> apart::Variables = Vec::new;

const FILES_PER_PROCESSOR: usize = 1;

const WAITING: &[&str] = &[];

/// Files that take longest. They run first, so that no processor is idle at the end.
const FIRST: &[&str] = &["leftovers", "refusal", "staying", "unmapping"];

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod common;

mod companions;
mod eviction;
mod folders;
mod leftovers;
mod mapping;
mod notes;
mod portable;
mod refusal;
mod rings;
mod sources;
mod stacks;
mod staging;
mod staying;
mod unmapping;
