//! Rules of `#[uclass]` on an `impl` block. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod alc0001 {
    use alcedo_plugin_api::prelude::*;

    #[zmethods]
    impl Default for Report {
        fn default() -> Self {
            Self
        }
    }
    pub struct Report;
}

mod alc0002 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl<T> Thing {}
}

mod alc0003 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl self::Thing {}
}

mod alc0004 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
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
        #[red_constructor]
        fn new() -> Self {
            Self {}
        }

        #[red_constructor]
        fn again() -> Self {
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
        fn new(&self) -> Self {
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
        fn new(this: This<Self>, count: u32) -> Self {
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
        fn new() -> Result<Self, String> {
            Ok(Self {})
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
        fn new() {}
    }
}

mod alc0010 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[class_constructor]
        fn one(&mut self) {}

        #[class_constructor]
        fn two(&mut self) {}
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
        fn ring(&self) {}
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
        fn ring(&mut self) {}
    }
}

mod alc0023 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_pure, blueprint_callable)]
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
        #[ufunction(blueprint_pure)]
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

    impl Thing {
        #[class_constructor]
        fn construct(&mut self, this: This<Self>) {}

        #[ufunction(blueprint_native_event)]
        fn ring(&self, times: u32);

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
        #[dll_import]
        fn ring(&self) {}
    }
}

mod alc0213 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        fn ring(&self) {}

        #[ufunction]
        fn try_ring(&self) {}
    }
}

fn main() {}
