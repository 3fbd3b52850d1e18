//! Shared code of the peers of scripts.
#[path = "../shared/lib.rs"]
pub mod alcedo;
