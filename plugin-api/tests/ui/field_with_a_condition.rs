//! A field of a reflected class has no condition.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Maybe {
    #[cfg(test)]
    #[uproperty]
    speed: f64,
}

fn main() {}
