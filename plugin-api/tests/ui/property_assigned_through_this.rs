//! A property is written by its setter.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Oven {
    #[uproperty]
    temperature: f64,
}

#[uclass]
impl Oven {
    #[ufunction]
    fn heat(&self, this: This<Self>) {
        this.temperature = 1.0;
        this.temperature += 1.0;
        if this.temperature() == 1.0 {
            this.set_temperature(this.temperature * 2.0);
        }
    }
}

fn main() {}
