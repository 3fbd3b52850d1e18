//! Planted rows: what the system, the C library, C and C++ offer to leave something behind with.

use super::Row;

/// In the order of the page.
pub(super) const FACILITIES: &[Row] = &[];
