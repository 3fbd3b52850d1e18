//! A property lives in the host's object: `this` reads and writes it, `self` has the other fields.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(imported, package = "Engine")]
pub struct Device {
    #[uproperty]
    power: f64,
}

#[uclass(package = "Game", base = Device)]
pub struct Oven {
    #[uproperty]
    temperature: f64,
    seconds: u32,
}

#[uclass]
impl Oven {
    #[ufunction]
    fn heat(&mut self, this: This<Self>) {
        self.seconds += 1;
        self.temperature += 1.0;
        let text = format!("{} at {}", self.power, this.temperature());
        drop(text);
    }
}

fn main() {}
