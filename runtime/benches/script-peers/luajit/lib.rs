//! Provides the code that all benchmarks against other script engines share.
#[path = "../shared/lib.rs"]
pub mod alcedo;
