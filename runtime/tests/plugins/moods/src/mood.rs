// Declarations of the host `a test` in package `Test` for plugins, written by `alcedo glue`.
// Run it again after a change of the host. Each load of a plugin compares every type, member and signature here with the host.

use alcedo_plugin_api::prelude::*;

/// Mood of a person.
#[uenum(imported, package = "Test")]
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Mood {
    #[default]
    Calm = 0,
    Angry = 1,
    Lost = 9,
}
