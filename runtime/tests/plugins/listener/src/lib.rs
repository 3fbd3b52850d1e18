//! Uses the classes of the script package `Ballad` through glue.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

use crate::ballad::Singer;

// Written by `alcedo glue example-plugins/scripts/Ballad`.
mod ballad;
#[cfg(feature = "verses")]
mod verse;

module! { name: "listener", dependencies: [("Ballad", "*")] }

/// Calls a singer.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Listener {
    /// The singer.
    #[uproperty(blueprint_read, blueprint_write)]
    favorite: Obj<Singer>,
}

#[uclass]
impl Listener {
    /// Calls `sing`. Returns the result and the singer's number of songs.
    #[ufunction(blueprint_callable)]
    fn listen(&self, this: This<Self>) -> String {
        let Ok(singer) = this.get(this.favorite()) else { return "no singer".to_owned() };
        let sung = singer.sing(2);
        format!("{sung} {}", singer.songs())
    }
}
