//! Crates that people build plugins with. Where a crate has an end, it is there in two rows: ended, and leaked.

use super::Row;

/// In the order of the page.
pub(super) const CRATES: &[Row] = &[];
