//! ALC0198.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Mesh {
    #[uproperty(default = 1.0)]
    scale: f64,
}

#[uclass(package = "Game", base = Mesh)]
pub struct FancyMesh {}

#[uclass(package = "Game")]
pub struct Cube {
    #[uproperty(default_subobject)]
    mesh: Obj<Mesh>,
}

#[uclass(package = "Game", base = Cube, subobjects(mesh = "FancyMesh"))]
pub struct Fancy {}

fn main() {}
