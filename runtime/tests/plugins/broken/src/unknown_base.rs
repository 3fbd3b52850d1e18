//! A class whose base is not declared.

use alcedo_plugin_api::prelude::*;

/// Class that the engine lacks.
#[uclass(imported, package = "Engine")]
pub struct Missing {}

/// Class without a resolvable base.
#[uclass(package = "Game", base = Missing)]
pub struct Baseless {}
