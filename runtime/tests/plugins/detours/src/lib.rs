//! Extends the adder of a host that `crossings` calls, with an override or without one: what calls find after each reload.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

use crate::adder::Adder;

// The types of the host: what `alcedo glue` writes.
mod adder;

module! { name: "detours" }

/// An adder that takes a detour.
#[uclass(package = "Game", base = Adder)]
#[derive(Default)]
pub struct Detour {
    /// A number of its own.
    #[uproperty(default = 7)]
    miles: i32,
}

#[cfg(feature = "override")]
#[uclass]
impl Detour {
    /// One more than the sum; panics where that is thirteen.
    #[overrides(Adder)]
    fn sum_up(&self, this: This<Self>, left: i32, right: i32) -> i32 {
        let sum = this.base_sum_up(left, right).wrapping_add(1);
        assert!(sum != 13, "not with {sum}");
        sum
    }
}

#[cfg(not(feature = "override"))]
#[uclass]
impl Detour {}
