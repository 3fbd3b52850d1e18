//! Rules of `#[uinterface]` and of implementations. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod alc0046 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {
        const COUNT: u32;
    }
}

mod alc0047 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {
        fn hear(&self) {}
    }
}

mod alc0048 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {
        #[cfg(unix)]
        fn hear(&self);
    }
}

mod alc0049 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {
        fn hear(&self, this: This<Self>);
    }
}

mod alc0050 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds: Send {}
}

mod alc0051 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds<T> {}
}

mod alc0052 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds
    where
        Self: Sized,
    {
    }
}

mod alc0053 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub unsafe trait Heeds {}
}

mod alc0054 {
    use alcedo_plugin_api::prelude::*;

    macro_rules! of_its_own {
        ($($tokens:tt)*) => {
            #[uinterface(package = "Game")]
            $($tokens)*
        };
    }
    of_its_own! { pub auto trait Heeds {} }
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
        const COUNT: u32 = 1;
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
        #[ufunction]
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
    impl Heeds for Thing {}
}

mod alc0104 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {
        fn hear(&self, what: String) -> u32;
    }

    #[uclass(package = "Game")]
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
        fn heer(&self, what: String) -> u32 {
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
        fn hear(&self, what: f64) -> u32 {
            1
        }
    }
}

fn main() {}
