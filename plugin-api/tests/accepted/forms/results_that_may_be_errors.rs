//! Results with any error type that implements `Display`, aliases of `Result`, and results without a value.
use std::fmt;

use alcedo_plugin_api::prelude::*;

#[derive(Debug)]
pub struct Hoarse;

impl fmt::Display for Hoarse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hoarse")
    }
}

mod short {
    pub type Result<T> = std::result::Result<T, super::Hoarse>;
}

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Singer {}

#[uclass]
impl Singer {
    #[ufunction(blueprint_native_event)]
    fn sing(&self, song: String) -> Result<u32, Hoarse>;
    fn sing_implementation(&mut self, _song: String) -> Result<u32, Hoarse> {
        Err(Hoarse)
    }

    #[ufunction]
    fn rest(&mut self) -> short::Result<()> {
        Ok(())
    }

    #[ufunction]
    fn hum(&self, this: This<Self>) -> std::result::Result<Vec<u32>, CallError> {
        this.rest()?;
        Ok(vec![this.sing("la".to_owned())?])
    }

    #[ufunction]
    fn name(&self) -> Result<String, &'static str> {
        Err("nobody")
    }
}

/// Class whose overrides return a different error type, or no error.
#[uclass(package = "Game", base = Singer)]
#[derive(Default)]
pub struct Tenor {}

#[uclass]
impl Tenor {
    #[overrides(Singer)]
    fn sing(&mut self, this: This<Self>, song: String) -> u32 {
        this.base_sing(song)
    }
}

#[zcall(ex = "singers.count")]
fn count() -> short::Result<u32> {
    Ok(1)
}

fn main() {}
