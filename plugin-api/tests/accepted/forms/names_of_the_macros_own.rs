//! Members, and types of fields, may have any name, because the items and type parameters that the macros generate have reserved names.
//! Attributes may have their full paths. A submodule may contain the `impl` block of a class.
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

#[derive(Default)]
pub struct M(u32);

#[derive(Default)]
pub struct T(u32);

#[uclass(package = "Game")]
pub struct Letters {
    first: M,
    second: T,
}

#[uclass]
impl Letters {
    #[ufunction]
    fn sum(&self) -> u32 {
        self.first.0 + self.second.0
    }
}

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Split {
    #[uproperty]
    whole: f64,
}

mod methods_of_split {
    use alcedo_plugin_api::prelude::*;

    use super::{Split, SplitView};

    #[uclass]
    impl Split {
        #[ufunction]
        fn half(&self, this: This<Self>) -> f64 {
            this.whole() / 2.0
        }
    }
}

fn main() {}
