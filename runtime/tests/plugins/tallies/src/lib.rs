//! A tally that is bound to delegates of another module, and has one of the same name itself.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[cfg(not(feature = "stale"))]
use crate::delegates::{OnScored, Player};

// The types of the module `delegates`: what `alcedo glue` writes.
#[cfg(not(feature = "stale"))]
mod delegates;

#[cfg(not(feature = "bells"))]
module! { name: "tallies", dependencies: [("delegates", "^0.1")] }
#[cfg(feature = "bells")]
module! { name: "tallies" }

// A bell of the host, and that it was rung: what `alcedo glue` writes.
#[cfg(all(feature = "bells", not(feature = "cracked")))]
mod bells;
#[cfg(all(feature = "bells", not(feature = "cracked")))]
use bells::OnRung;

/// A bell of the host was rung, as it was once: written by hand, as no host has it.
#[cfg(feature = "cracked")]
#[udelegate(imported, multicast, package = "Test")]
pub type OnRung = fn(times: u32, loud: bool);

/// Hears bells.
#[cfg(feature = "bells")]
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Ringer {
    /// Is told of bells.
    #[uproperty]
    on_rung: OnRung,
    /// How often one was rung.
    #[uproperty]
    times: u32,
}

#[cfg(all(feature = "bells", not(feature = "cracked")))]
#[uclass]
impl Ringer {
    /// Rings its own bell; gives how often it heard one.
    #[ufunction]
    fn ring(&self, this: This<Self>, times: u32) -> u32 {
        this.on_rung().bind(this.as_obj(), "hear");
        this.on_rung().broadcast((times,));
        this.times()
    }

    /// Hears a bell.
    #[ufunction]
    fn hear(&self, this: This<Self>, times: u32) {
        this.set_times(this.times() + times);
    }
}

/// Somebody scored, as it was once: written by hand, as no module has it.
#[cfg(all(feature = "stale", not(feature = "bells")))]
#[udelegate(imported, multicast, package = "Game")]
pub type OnScored = fn(points: u64);

/// Counts nothing.
#[cfg(feature = "mentioned")]
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Tally {}

/// Counts scores.
#[cfg(not(feature = "mentioned"))]
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Tally {
    /// How much was scored.
    #[uproperty]
    total: i32,
    /// Is told of each score that it counted.
    #[uproperty]
    on_counted: OnScored,
}

/// How much a point counts.
#[cfg(not(feature = "stale"))]
fn weight() -> i32 {
    if fixture::on!("changed") { 100 } else { 1 }
}

#[cfg(not(feature = "stale"))]
#[uclass]
impl Tally {
    /// Counts what that player scores.
    #[ufunction(blueprint_callable)]
    fn watch(&self, this: This<Self>, player: Obj<Player>) -> Result<(), CallError> {
        this.get(player)?.on_scored().try_bind(this.as_obj(), "count")
    }

    /// Counts a score.
    #[ufunction]
    fn count(&self, this: This<Self>, points: i32, by: Obj<Player>) -> Result<(), CallError> {
        this.set_total(this.total() + points * weight());
        this.on_counted().try_broadcast((points, by))
    }
}
