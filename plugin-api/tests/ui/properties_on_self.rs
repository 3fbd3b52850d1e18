//! Properties that are accessed like fields. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod alc0100 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty]
        speed: u32,
    }

    #[uclass]
    impl Thing {
        #[ufunction]
        fn ring(&self) -> u32 {
            self.speed
        }
    }
}

mod alc0101 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty]
        speed: u32,
    }

    #[uclass]
    impl Thing {
        #[ufunction]
        fn ring(&self, this: This<Self>) {
            this.speed = 1;
        }
    }
}

mod property_assigned_through_this {
    //! A property is written by its setter.

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
}

mod property_read_from_self {
    //! A property is stored in the host's object: `this` reads and writes it, `self` contains the other fields.

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
}

mod alc0216 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Thing {
        #[uproperty]
        speed: u32,
        turns: u32,
    }

    #[uclass]
    impl Thing {
        #[red_constructor]
        fn new() -> Self {
            Self { turns: 0, speed: 1 }
        }
    }
}

fn main() {}
