//! Members may have any name, because the items that the macros generate have reserved names. Attributes may have their full paths.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

module! { name: "names" }

#[uclass(package = "Game")]
pub struct Names {
    #[uproperty]
    body: f64,
    #[uproperty]
    class: i32,
    #[uproperty]
    desc: bool,
    #[uproperty]
    import: u8,
    #[uproperty]
    entry: String,
}

#[alcedo_plugin_api::uclass]
impl Names {
    #[alcedo_plugin_api::ufunction(blueprint_pure)]
    fn what(&self) -> u32 {
        0
    }
}

fn main() {}
