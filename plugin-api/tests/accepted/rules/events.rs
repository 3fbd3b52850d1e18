//! Rules of events and of overrides. Each module must compile, and has the id of the rule that it follows.

mod alc0013 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_native_event)]
        fn ring(&self, times: u32) -> u32;
        fn ring_implementation(&self, times: u32) -> u32 {
            times
        }
    }
}

mod alc0014 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_implementable_event)]
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
        fn ring(&self);
        fn ring_implementation(&self, this: This<Self>) {}
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
        fn ring(&self) -> u32;
    }
}

mod alc0017 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[cfg(not(unix))]
        #[ufunction(blueprint_native_event)]
        fn ring(&self, loud: bool);
        #[cfg(not(unix))]
        fn ring_implementation(&self, loud: bool) {}

        #[cfg(unix)]
        #[ufunction(blueprint_native_event)]
        fn ring(&self, times: u32) -> u32;
        #[cfg(unix)]
        fn ring_implementation(&mut self, times: u32) -> u32 {
            times
        }
    }
}

mod alc0018 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", blueprintable)]
    #[derive(Default)]
    pub struct Bell {}

    #[uclass]
    impl Bell {
        #[ufunction(blueprint_native_event)]
        fn ring(&self, times: u32) -> u32;
        fn ring_implementation(&self, times: u32) -> u32 {
            times
        }
    }

    #[uclass(package = "Game", base = Bell)]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[overrides(Bell)]
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
        fn ring_implementation(&self, times: u32) -> u32 {
            times
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
        fn ring_implementation(&self, times: u32) -> u32 {
            times
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
        fn ring_implementation(&self, times: u32) -> u32 {
            times
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
        fn ring_implementation(&self, times: u32) -> u32 {
            times
        }
    }
}

mod alc0117 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", blueprintable)]
    #[derive(Default)]
    pub struct Bell {}

    #[uclass]
    impl Bell {
        #[ufunction(blueprint_native_event)]
        fn ring(&self, times: &mut u32) -> u32;
        fn ring_implementation(&self, times: &mut u32) -> u32 {
            *times
        }
    }

    #[uclass(package = "Game", base = Bell)]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[overrides(Bell)]
        fn ring(&self, times: &mut u32) -> u32 {
            *times + 1
        }
    }
}
