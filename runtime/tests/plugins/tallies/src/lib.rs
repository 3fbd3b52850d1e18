//! Class that binds to delegates that another module declares. One of its properties has such a delegate type.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[cfg(not(feature = "stale"))]
use crate::delegates::{OnScored, Player};

// Types of the module `delegates`, written by `alcedo glue`.
#[cfg(not(feature = "stale"))]
mod delegates;

#[cfg(not(feature = "bells"))]
module! { name: "tallies", dependencies: [("delegates", "^0.1")] }
#[cfg(feature = "bells")]
module! { name: "tallies" }

// Delegate and class that the host declares, written by `alcedo glue`.
#[cfg(all(feature = "bells", not(feature = "cracked")))]
mod bells;
#[cfg(all(feature = "bells", not(feature = "cracked")))]
use bells::OnRung;

/// Outdated declaration of the host's delegate, written by hand.
#[cfg(feature = "cracked")]
#[udelegate(imported, multicast, package = "Test")]
pub type OnRung = fn(times: u32, loud: bool);

/// Listener for the host's delegate.
#[cfg(feature = "bells")]
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Ringer {
    /// Broadcast on each ring.
    #[uproperty]
    on_rung: OnRung,
    /// Number of rings.
    #[uproperty]
    times: u32,
}

#[cfg(all(feature = "bells", not(feature = "cracked")))]
#[uclass]
impl Ringer {
    /// Broadcasts the delegate of this object. Returns the number of rings.
    #[ufunction]
    fn ring(&self, this: This<Self>, times: u32) -> u32 {
        this.on_rung().bind(this.as_obj(), "hear");
        this.on_rung().broadcast((times,));
        this.times()
    }

    /// Counts rings.
    #[ufunction]
    fn hear(&self, this: This<Self>, times: u32) {
        this.set_times(this.times() + times);
    }
}

/// Outdated declaration of the module's delegate, written by hand.
#[cfg(all(feature = "stale", not(feature = "bells")))]
#[udelegate(imported, multicast, package = "Game")]
pub type OnScored = fn(points: u64);

/// Class without a property of the delegate type.
#[cfg(feature = "mentioned")]
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Counter {}

/// Counts scores.
#[cfg(not(feature = "mentioned"))]
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Counter {
    /// Weighted sum of all points.
    #[uproperty]
    total: i32,
    /// Broadcast for each counted score.
    #[uproperty]
    on_counted: OnScored,
}

/// Returns the weight of a point.
#[cfg(not(feature = "stale"))]
fn weight() -> i32 {
    if fixture::on!("changed") { 100 } else { 1 }
}

#[cfg(not(feature = "stale"))]
#[uclass]
impl Counter {
    /// Binds `count` to the player's delegate.
    #[ufunction(blueprint_callable)]
    fn watch(&self, this: This<Self>, player: Obj<Player>) -> Result<(), CallError> {
        this.get(player)?.on_scored().try_bind(this.as_obj(), "count")
    }

    /// Adds a score and broadcasts.
    #[ufunction]
    fn count(&self, this: This<Self>, points: i32, by: Obj<Player>) -> Result<(), CallError> {
        this.set_total(this.total() + points * weight());
        this.on_counted().try_broadcast((points, by))
    }
}
