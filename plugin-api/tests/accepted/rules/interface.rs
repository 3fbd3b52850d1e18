//! Rules of `#[uinterface]` and of implementations. Each module must compile, and has the id of the rule that it follows.

mod alc0046 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {
        fn hear(&self);
    }
}

mod alc0047 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {
        fn hear(&self);
    }
}

mod alc0048 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {
        /// Heeds.
        fn hear(&self);
    }
}

mod alc0049 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {
        fn hear(&self);
    }
}

mod alc0050 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {}
}

mod alc0051 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {}
}

mod alc0052 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {}
}

mod alc0053 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {}
}

mod alc0054 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {}
}

mod alc0055 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {
        fn hear(&self, what: String) -> u32;
    }

    #[uclass(package = "Game", implements(Heeds))]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Heeds for Thing {
        fn hear(&self, what: String) -> u32 {
            1
        }
    }
}

mod alc0056 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {
        fn hear(&self, what: String) -> u32;
    }

    #[uclass(package = "Game", implements(Heeds))]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Heeds for Thing {
        fn hear(&self, what: String) -> u32 {
            1
        }
    }
}

mod alc0103 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {
        fn hear(&self, what: String) -> u32;
    }

    #[uclass(package = "Game", implements(Heeds))]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Heeds for Thing {
        fn hear(&self, what: String) -> u32 {
            1
        }
    }
}

mod alc0104 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {
        fn hear(&self, what: String) -> u32;
    }

    #[uclass(package = "Game", implements(Heeds))]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Heeds for Thing {
        fn hear(&self, what: String) -> u32 {
            1
        }
    }
}

mod alc0105 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {
        fn hear(&self, what: String) -> u32;
    }

    #[uclass(package = "Game", implements(Heeds))]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Heeds for Thing {
        fn hear(&self, what: String) -> u32 {
            1
        }
    }
}

mod alc0106 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {
        fn hear(&self, what: String) -> u32;
    }

    #[uclass(package = "Game", implements(Heeds))]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Heeds for Thing {
        fn hear(&self, what: String) -> u32 {
            1
        }
    }
}
