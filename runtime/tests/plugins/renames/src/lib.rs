//! Types and members that are renamed. The later build lists the earlier names with `was`.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[cfg(not(feature = "renamed"))]
mod before;
#[cfg(feature = "renamed")]
mod renamed;
mod tally;

/// Scale. In a later build, some members have other names or types, and the build does not list the earlier names.
#[cfg(not(feature = "unlisted"))]
#[uclass(package = "Game")]
pub struct Scale {
    /// Weight in pounds.
    #[uproperty(default = 70)]
    weight: i32,
    /// The owner.
    #[uproperty(default = "Ann")]
    label: String,
    /// Year in which the scale was tested.
    #[uproperty]
    stamp: u32,
}

/// Scale, in a later build.
#[cfg(all(feature = "unlisted", not(feature = "renamed")))]
#[uclass(package = "Game")]
pub struct Scale {
    /// Year in which the scale was tested.
    #[uproperty]
    stamp: u64,
    /// Weight in pounds.
    #[uproperty(default = 70)]
    mass: i32,
    /// The owner.
    #[uproperty(default = "Ann")]
    label: String,
}

/// Scale, in a last build that lists the earlier name of its weight.
#[cfg(all(feature = "unlisted", feature = "renamed"))]
#[uclass(package = "Game")]
pub struct Scale {
    /// Year in which the scale was tested.
    #[uproperty]
    stamp: u64,
    /// Weight in pounds.
    #[uproperty(default = 70, was = "weight")]
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

    /// Presses the scale down.
    #[cfg(not(feature = "unlisted"))]
    #[ufunction]
    fn press(&self, by: i32) -> i32 {
        by
    }
}

module! { name: "renames" }
