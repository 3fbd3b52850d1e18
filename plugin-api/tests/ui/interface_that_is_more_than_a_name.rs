//! The host knows an interface by one path, and nothing else.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uinterface(package = "Game")]
pub trait Hears: Send {}

#[uinterface(package = "Game")]
pub trait Sings<Song> {}

#[uinterface(package = "Game")]
pub trait Hums
where
    Self: Sized,
{
}

#[uinterface(package = "Game")]
pub unsafe trait Shouts {}

#[uinterface]
pub trait Homeless {}

#[uinterface(package = "Game", path = "/Script/Engine.Whistles")]
pub trait Whistles {}

#[uinterface(package = "Game")]
pub struct Talks;

fn main() {}
