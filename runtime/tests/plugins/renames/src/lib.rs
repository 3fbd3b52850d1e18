//! Types and members that get other names: the later build lists the earlier ones with `was`.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[cfg(not(feature = "renamed"))]
mod before;
#[cfg(feature = "renamed")]
mod renamed;

/// Weighs. In a later build members have other names and types, and nothing lists the earlier ones.
#[cfg(not(feature = "unlisted"))]
#[uclass(package = "Game")]
pub struct Scale {
    /// In pounds.
    #[uproperty(default = 70)]
    weight: i32,
    /// The owner.
    #[uproperty(default = "Ann")]
    label: String,
    /// The year of its test.
    #[uproperty]
    stamp: u32,
}

/// Weighs, later.
#[cfg(feature = "unlisted")]
#[uclass(package = "Game")]
pub struct Scale {
    /// The year of its test.
    #[uproperty]
    stamp: u64,
    /// In pounds.
    #[uproperty(default = 70)]
    mass: i32,
    /// The owner.
    #[uproperty(default = "Ann")]
    label: String,
}

#[uclass]
impl Scale {
    /// Reads out the owner.
    #[ufunction]
    fn owner(&self, this: This<Self>) -> String {
        this.label()
    }

    /// Presses it down.
    #[cfg(not(feature = "unlisted"))]
    #[ufunction]
    fn press(&self, by: i32) -> i32 {
        by
    }
}

module! { name: "renames" }
