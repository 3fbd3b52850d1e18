//! Rules of events and of overrides. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod alc0013 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        fn ring(&self);
    }
}

mod alc0014 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        fn ring(&self);
    }
}

mod alc0015 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_native_event)]
        fn ring(&self, this: This<Self>);
        fn ring_implementation(&self) {}
    }
}

mod alc0016 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_implementable_event)]
        fn ring(&self) -> Result<u32, String>;
    }
}

mod alc0017 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_native_event)]
        fn ring(&self);
    }
}

mod alc0018 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[overrides("Bell")]
        fn ring(&self, times: u32) -> u32 {
            times
        }
    }
}

mod alc0019 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_native_event)]
        fn ring(&self, times: u32) -> u32;
        fn ring_implementation(&self, times: f64) -> u32 {
            1
        }
    }
}

mod alc0020 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_native_event)]
        fn ring(&self, times: u32) -> u32;
        fn ring_implementation(&self) -> u32 {
            1
        }
    }
}

mod alc0021 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_native_event)]
        fn ring(&self, times: u32) -> u32;
        fn ring_implementation(&self, times: u32, loud: bool) -> u32 {
            1
        }
    }
}

mod alc0022 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_native_event)]
        fn ring(&self, times: u32) -> u32;
        fn ring_implementation(&self, times: u32) {}
    }
}

mod alc0117 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(imported, package = "Engine")]
    pub struct Actor {}

    #[uclass(imported)]
    impl Actor {
        #[ufunction(blueprint_native_event)]
        fn receive_tick(&self, delta: f32);
    }

    #[uclass(package = "Game", base = Actor)]
    #[derive(Default)]
    pub struct Cube {}

    #[uclass]
    impl Cube {
        #[overrides(Actor)]
        fn receive_tock(&mut self, delta: f32) {}
    }

    #[uclass(package = "Game", base = Cube)]
    #[derive(Default)]
    pub struct Small {}

    #[uclass]
    impl Small {
        #[overrides(Cube)]
        fn receive_tick(&mut self, delta: f32) {}

        #[overrides(Cube)]
        fn land(&mut self) {}
    }
}

fn main() {}
