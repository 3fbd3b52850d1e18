//! Properties that are accessed like fields. Each module must compile, and has the id of the rule that it follows.

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
        fn ring(&self, this: This<Self>) -> u32 {
            this.speed()
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
            this.set_speed(1);
        }
    }
}

mod alc0216 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Thing {
        #[uproperty(default = 1)]
        speed: u32,
        turns: u32,
    }

    #[uclass]
    impl Thing {
        #[red_constructor]
        fn new() -> Self {
            struct Speed {
                speed: u32,
            }
            let Speed { speed } = Speed { speed: 1 };
            Self { turns: speed }
        }
    }
}
