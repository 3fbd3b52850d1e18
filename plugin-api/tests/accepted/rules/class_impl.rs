//! Rules of `#[uclass]` on an `impl` block. Each module must compile, and has the id of the rule that it follows.

mod alc0001 {
    use alcedo_plugin_api::prelude::*;

    pub struct Report;

    #[zmethods]
    impl Report {
        #[zmethod]
        fn count() -> u32 {
            1
        }
    }
}

mod alc0002 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        fn ring(&self) {}
    }
}

mod alc0003 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        fn ring(&self) {}
    }
}

mod alc0004 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[zmethod]
        fn ring() {}
    }
}

mod alc0005 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[cfg(unix)]
        #[red_constructor]
        fn new() -> Self {
            Self {}
        }

        #[cfg(not(unix))]
        #[red_constructor]
        fn new(_this: This<Self>) -> Self {
            Self {}
        }
    }
}

mod alc0006 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[red_constructor]
        fn new(this: This<Self>) -> Self {
            Self {}
        }
    }
}

mod alc0007 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[red_constructor]
        fn new(this: This<Self>) -> Self {
            Self {}
        }
    }
}

mod alc0008 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[red_constructor]
        fn new() -> Self {
            Self {}
        }

        #[ufunction]
        fn open(&mut self) -> Result<(), String> {
            Ok(())
        }
    }
}

mod alc0009 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[red_constructor]
        fn new() -> Self {
            Self {}
        }
    }
}

mod alc0010 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[cfg(unix)]
        #[class_constructor]
        fn one(&mut self) {}

        #[cfg(windows)]
        #[class_constructor]
        fn two(&mut self) {}

        #[cfg(unix)]
        #[post_init_properties]
        fn three(&mut self) {}

        #[cfg(not(unix))]
        #[post_init_properties]
        fn four(&self, _this: This<Self>) {}
    }
}

mod alc0011 {
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

mod alc0012 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_pure)]
        fn ring(&self) {}
    }
}

mod alc0023 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_pure)]
        fn ring(&self) {}
    }
}

mod alc0116 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_callable)]
        async fn length(this: Obj<Self>) -> u32 {
            0
        }
    }
}

mod alc0118 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        fn count(&self) -> u32 {
            1
        }
    }
}

mod alc0144 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", dll_bind = "Thing")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[dll_import(name = "Ring", no_cwd)]
        fn ring(&self);

        #[ufunction]
        fn twice(&self, this: This<Self>) {
            this.ring();
            this.ring();
        }
    }
}

mod alc0213 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty]
        speed: f64,
    }

    #[uclass]
    impl Thing {
        #[cfg(unix)]
        #[ufunction]
        fn ring(&self) {}

        #[cfg(not(unix))]
        #[ufunction]
        fn ring(&self, times: u32) {}

        #[ufunction]
        fn reset_speed(&self, this: This<Self>) -> Result<(), String> {
            this.try_set_speed(0.0).map_err(|error| error.to_string())
        }

        #[ufunction]
        fn try_reset_speed(&self, this: This<Self>) {
            this.set_speed(0.0);
        }
    }
}
