//! Builds and watches real plugins, one module per file. Each file has its own process: see `runtime/tests/support/apart.rs`.

#[path = "../../../runtime/tests/support/apart.rs"]
mod apart;
mod scratch;

const PREPARE: fn() = || ();

/// Most tests wait for builds and file systems, so the processors have time for more files.
const FILES_PER_PROCESSOR: usize = 2;

mod building;
mod direct;
mod watching;
