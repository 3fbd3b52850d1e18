//! Tests the commands as a user runs them, with one module per file. Each file runs in a separate process: see
//! `runtime/tests/support/apart.rs`.
//!
//! `cargo test --test commands dev::` runs one file.

#[path = "../../runtime/tests/support/apart.rs"]
mod apart;

const PREPARE: fn() -> apart::Variables = Vec::new;

/// Most tests wait for builds and programs, so each processor can run more than one file.
const FILES_PER_PROCESSOR: usize = 2;

const WAITING: &[&str] = &[];

const FIRST: &[&str] = &[];

mod support;

#[cfg(feature = "bindgen")]
mod bindgen;
mod check_abi;
mod demo;
mod dev;
mod doctor;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod fast_link;
mod glue;
mod glue_many;
mod gone;
mod guard;
mod hangs;
mod inspect;
#[cfg(unix)]
mod keygen;
mod new;
mod own_host;
mod pages;
mod panics;
mod random_saves;
#[cfg(feature = "registry")]
mod registry;
mod saves;
mod screens;
mod scripts;
mod scripts_dev;
mod scripts_with_plugins;
mod terminal;
