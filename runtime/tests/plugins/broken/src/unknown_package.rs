//! A class in a package that no host declares.

use alcedo_plugin_api::prelude::*;

/// Belongs nowhere.
#[uclass(package = "Nowhere")]
pub struct Homeless {}
