//! Listens to a singer of a script: the classes of the package `Ballad` are used by their types.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

use crate::ballad::Singer;

// Written by `alcedo glue example-plugins/scripts/Ballad`.
mod ballad;

module! { name: "listener", dependencies: [("Ballad", "*")] }

/// Has songs sung.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Listener {
    /// Who sings.
    #[uproperty(blueprint_read, blueprint_write)]
    favorite: Obj<Singer>,
}

#[uclass]
impl Listener {
    /// Has two songs sung; gives how many there were in all, and how many the singer says there were.
    #[ufunction(blueprint_callable)]
    fn listen(&self, this: This<Self>) -> String {
        let Ok(singer) = this.get(this.favorite()) else { return "nobody sings".to_owned() };
        let sung = singer.sing(2);
        format!("{sung} {}", singer.songs())
    }
}
