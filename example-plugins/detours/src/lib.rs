//! Extends the adder of a host that `crossings` calls, with an override or without one: what calls find after each reload.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

module! { name: "detours" }

/// The host's own adder.
#[uclass(imported, package = "Test")]
pub struct Adder {
    /// What it has added up.
    #[uproperty]
    total: i32,
}

#[uclass(imported)]
impl Adder {
    /// The sum, by code of the host or of whoever overrides it.
    #[ufunction(blueprint_native_event)]
    fn sum_up(&self, left: i32, right: i32) -> i32;
}

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
