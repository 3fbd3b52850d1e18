//! Code shared by the benchmarks that compare scripts with other script engines.
#[path = "../shared/lib.rs"]
pub mod alcedo;
