//! Checks that the grid plugin's glue matches the declarations of the host.

use crate::{grid, support};

#[test]
fn the_glue_of_the_plugin_is_that_of_the_natives() {
    support::glue_is_written(grid::natives::declared(), "Test", "grid", "desk.rs");
}
