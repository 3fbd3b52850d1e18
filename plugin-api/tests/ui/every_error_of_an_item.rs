//! All that is wrong with an item is said at once.
use alcedo_plugin_api::prelude::*;

#[uclass(pakage = "Game", blueprintable, blueprint_type)]
pub struct Many<T> {
    #[uproperty(edit_anywere)]
    one: u32,
    #[uproperty(default = f())]
    two: u32,
    #[keep(always)]
    three: T,
}

#[uclass]
impl Many {
    #[ufunction]
    fn first(&self, words: &str, (a, b): (u32, u32)) {}

    #[ufunction(blueprint_pure)]
    fn second(&mut self) {}

    #[ufunction(blueprint_native_event)]
    fn third(&self);

    #[ufunction]
    async fn fourth<T>(self) {}
}

#[uinterface]
pub trait Hears: Send {
    const COUNT: u32;
    fn hear(&self) {}
}

fn main() {}
