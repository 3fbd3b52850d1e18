//! An import by hand is one of the class whose objects are used.
#![forbid(unsafe_code)]

use alcedo_plugin_api::plumbing;
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Breaker {
    #[uproperty]
    speed: u64,
}

static CELL: plumbing::FunctionCell<Breaker, (), u64> = plumbing::FunctionCell::new();

static OF_ANOTHER: plumbing::Declared<plumbing::ImportDesc> =
    plumbing::import_function("/Script/Game.Larger:far", &CELL);

fn main() {}
