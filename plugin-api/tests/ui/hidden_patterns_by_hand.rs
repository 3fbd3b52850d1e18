//! Patterns of the macros, called by hand: a cell of one's own for a property, and an expression that needs `unsafe`.
#![forbid(unsafe_code)]

use alcedo_plugin_api::plumbing;
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Breaker {
    #[uproperty]
    speed: u64,
}

static MINE: plumbing::Cell = plumbing::Cell::new();

plumbing::property! { Breaker BreakerView stolen set_stolen try_set_stolen: u64, give u64, MINE }

static CALL: plumbing::FunctionCell<Breaker, (u64,), u64> = plumbing::FunctionCell::new();

plumbing::call! { plain by invoke_member BreakerView peek try_peek(at: u64 = *(at as *const u64)) -> u64, CALL, "peek" }

fn main() {}
