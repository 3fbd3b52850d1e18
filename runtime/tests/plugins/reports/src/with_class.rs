//! Class that only the Master accepts. A Slim rejects a module that contains a class.

use alcedo_plugin_api::prelude::*;
use engine_glue::Actor;

/// Class that a Slim cannot own.
#[uclass(package = "Game", base = Actor)]
pub struct Chart {}

#[uclass]
impl Chart {}
