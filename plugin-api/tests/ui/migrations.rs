//! Rules of `#[migrate]`. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod alc0207 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty]
        #[migrate(from = "f64")]
        level: i32,
    }
}

mod alc0208 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty]
        #[migrate(from = "f64 or f32", with = Self::of_number)]
        level: i32,
    }
}

mod alc0209 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty]
        #[migrate(from = "f64", with = Self::of_number)]
        #[migrate(from = "f64", with = Self::of_other)]
        level: i32,
    }
}

mod alc0210 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty]
        #[migrate(from = "f64", with = Self::of_number)]
        level: f64,
    }

    impl Thing {
        fn of_number(level: f64) -> f64 {
            level
        }
    }
}

mod alc0211 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[keep]
        #[migrate(from = "f64", with = Self::of_number)]
        level: i32,
    }
}

fn main() {}
