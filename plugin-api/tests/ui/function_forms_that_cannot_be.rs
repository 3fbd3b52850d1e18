//! Forms of functions that contradict themselves.
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Unknown {}

#[uclass]
impl Unknown {
    #[ufunction(defaults(tims = 3))]
    fn blink(&self, times: u32) {}
}

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Gap {}

#[uclass]
impl Gap {
    #[ufunction(defaults(times = 3))]
    fn blink(&self, times: u32, color: String) {}
}

#[uclass(package = "Game")]
#[derive(Default)]
pub struct OtherType {}

#[uclass]
impl OtherType {
    #[ufunction(defaults(times = "often"))]
    fn blink(&self, times: u32) {}
}

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Both {}

#[uclass]
impl Both {
    #[ufunction(blueprint_native_event, blueprint_implementable_event)]
    fn blink(&self);
}

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Fails {}

#[uclass]
impl Fails {
    #[ufunction(blueprint_implementable_event)]
    fn blink(&self) -> Result<u32, String>;
}

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Said {
    #[uproperty(category = "Light", meta(category = "Dark"))]
    bright: u32,
}

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Number {
    #[uproperty(meta(clamp_min = 0))]
    bright: u32,
}

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Bare {
    #[uproperty(meta)]
    bright: u32,
}

fn main() {}
