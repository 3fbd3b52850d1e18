//! Unknown words are refused, and the known ones listed.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", blueprint)]
pub struct Typo {}

#[uclass(package = "Game")]
pub struct Property {
    #[uproperty(edit_everywhere)]
    speed: f64,
}

#[uclass(package = "Game")]
pub struct Function {}

#[uclass]
impl Function {
    #[ufunction(callable)]
    fn call(&self) {}
}

fn main() {}
