//! An error that no caller could read.
use alcedo_plugin_api::prelude::*;

pub struct Hoarse;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Singer {}

#[uclass]
impl Singer {
    #[ufunction]
    fn sing(&self) -> Result<u32, Hoarse> {
        Err(Hoarse)
    }
}

#[zcall(ex = "singers.count")]
fn count() -> Result<u32, Hoarse> {
    Ok(1)
}

fn main() {}
