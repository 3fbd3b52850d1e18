//! A class, which belongs into the Master load context: a Slim refuses the whole module.

use alcedo_plugin_api::prelude::*;
use engine_glue::Actor;

/// Nothing that a Slim could own.
#[uclass(package = "Game", base = Actor)]
pub struct Chart {}

#[uclass]
impl Chart {}
