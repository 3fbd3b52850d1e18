//! A `Result` of a type that the host does not know.
use alcedo_plugin_api::prelude::*;

pub struct Song;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Singer {}

#[uclass]
impl Singer {
    #[ufunction]
    fn sing(&self) -> Result<Song, String> {
        Ok(Song)
    }
}

fn main() {}
