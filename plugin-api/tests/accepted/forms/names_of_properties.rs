//! Fields, locals, and fields of a `self` or `this` of another type may have the name of a property.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(imported, package = "Engine")]
pub struct Device {
    #[uproperty]
    power: f64,
    #[uproperty]
    r#type: u8,
}

#[uclass(package = "Game", base = Device)]
pub struct Oven {
    #[uproperty]
    temperature: f64,
    /// Field of the plugin part whose name is also the name of a base class's property.
    power: u32,
    r#type: u32,
}

struct Reading {
    temperature: f64,
}

struct Last {
    this: Reading,
}

#[uclass]
impl Oven {
    #[ufunction]
    fn heat(&mut self, this: This<Self>) -> f64 {
        self.power += 1;
        self.r#type += 1;
        let temperature = this.temperature();
        if this.power() == temperature { temperature } else { self.temperature() }
    }

    #[ufunction]
    fn read(&self) -> f64 {
        struct Reading {
            temperature: f64,
        }
        let mut this = Reading { temperature: 0.0 };
        this.temperature += 1.0;
        let mut readings = [this];
        for this in &mut readings {
            this.temperature += 1.0;
        }
        readings[0].temperature
    }

    #[ufunction]
    fn read_again(&self) -> f64 {
        struct Reading {
            temperature: f64,
        }
        let mut readings = [Reading { temperature: 0.0 }];
        readings.iter_mut().for_each(|this| this.temperature += 1.0);
        match &mut readings[..] {
            [this] => this.temperature += 1.0,
            _ => {}
        }
        if let Some(this) = readings.first_mut() {
            this.temperature += 1.0;
        }
        readings[0].temperature
    }

    #[ufunction]
    fn read_last(&self) -> f64 {
        let mut last = Last { this: Reading { temperature: 0.0 } };
        match &mut last {
            Last { this } if this.temperature < 1.0 => this.temperature += 1.0,
            Last { .. } => {}
        }
        Self::cool(&mut last.this);
        last.this.temperature
    }

    fn cool(this: &mut Reading) {
        this.temperature = 0.0;
    }

    fn temperature(&self) -> f64 {
        struct Inner {
            temperature: f64,
        }
        impl Inner {
            fn get(&self) -> f64 {
                self.temperature
            }
        }
        Inner { temperature: 1.0 }.get()
    }
}

fn main() {}
