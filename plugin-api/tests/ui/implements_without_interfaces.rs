//! A class lists the interfaces that it implements, each once.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uinterface(package = "Game")]
pub trait Hears {}

#[uclass(package = "Game", implements)]
pub struct Nothing {}

#[uclass(package = "Game", implements())]
pub struct Empty {}

#[uclass(package = "Game", implements = Hears)]
pub struct Assigned {}

#[uclass(package = "Game", implements("/Script/Game.Hears"))]
pub struct Path {}

#[uclass(package = "Game", implements(Hears, Hears))]
pub struct Twice {}

#[uclass(imported, package = "Game", implements(Hears))]
pub struct Elsewhere {}

#[uclass(package = "Game", blueprintable(Hears))]
pub struct Parentheses {}

fn main() {}
