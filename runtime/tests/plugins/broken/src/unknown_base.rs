//! A class whose base is not declared.

use alcedo_plugin_api::prelude::*;

/// Not there.
#[uclass(imported, package = "Engine")]
pub struct Missing {}

/// Has no base to stand on.
#[uclass(package = "Game", base = Missing)]
pub struct Baseless {}
