//! Builds and watches real plugins, with one module per file. Each file runs in a separate process: see `runtime/tests/support/apart.rs`.

#[path = "../../../runtime/tests/support/apart.rs"]
mod apart;
mod scratch;

const PREPARE: fn() -> apart::Variables = Vec::new;

/// Most tests wait for builds and file systems, so each processor can run more than one file.
const FILES_PER_PROCESSOR: usize = 2;

const WAITING: &[&str] = &["watching"];

const FIRST: &[&str] = &[];

mod building;
mod direct;
mod watching;
