//! Tests with real libraries, one module per file. Each file has its own process: see `runtime/tests/support/apart.rs`.
//!
//! `cargo test --test images unmapping::` runs one file.

#[path = "../../tests/support/apart.rs"]
mod apart;

const PREPARE: fn() = || ();

const FILES_PER_PROCESSOR: usize = 1;

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
