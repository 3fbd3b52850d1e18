//! What the peers of scripts have in common.
#[path = "../shared/lib.rs"]
pub mod alcedo;
