//! A class in a package that no host declares.

use alcedo_plugin_api::prelude::*;

/// Class in an unknown package.
#[uclass(package = "Nowhere")]
pub struct Homeless {}
