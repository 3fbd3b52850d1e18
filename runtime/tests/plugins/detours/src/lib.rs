//! Extends a host class that `crossings` calls. One build overrides the event `sum_up`. Tests call the class again after each reload.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

use crate::adder::Adder;

// Host types, written by `alcedo glue`.
mod adder;

module! { name: "detours" }

/// Adder with an optional override.
#[uclass(package = "Game", base = Adder)]
#[derive(Default)]
pub struct Detour {
    /// Additional property.
    #[uproperty(default = 7)]
    miles: i32,
}

#[cfg(feature = "override")]
#[uclass]
impl Detour {
    /// Returns the sum plus one. Panics if the result is thirteen.
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
