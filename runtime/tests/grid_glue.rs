//! Whether the plugin of the grid knows what the host declares.

use crate::{grid, support};

#[test]
fn the_glue_of_the_plugin_is_that_of_the_natives() {
    support::glue_is_written(grid::natives::declared(), "Test", "grid", "desk.rs");
}
