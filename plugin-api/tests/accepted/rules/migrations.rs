//! Rules of `#[migrate]`. Each module must compile, and has the id of the rule that it follows.

mod alc0207 {
    use alcedo_plugin_api::prelude::*;

    /// Properties of an earlier door.
    #[ustruct(pod, package = "Game")]
    pub struct DoorV1 {
        width: f64,
        height: f64,
    }

    /// Properties of a door.
    #[ustruct(pod, package = "Game")]
    pub struct DoorV2 {
        area: f64,
    }

    #[uclass(package = "Game")]
    #[migrate(from = "DoorV1", to = "DoorV2", with = Self::of_v1)]
    #[derive(Default)]
    pub struct Door {
        #[uproperty]
        area: f64,
    }

    impl Door {
        fn of_v1(earlier: DoorV1) -> DoorV2 {
            DoorV2 { area: earlier.width * earlier.height }
        }
    }
}

mod alc0208 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty]
        #[migrate(from = "Borrowed<UArray<f64>>", with = sum)]
        level: f64,
        #[uproperty]
        #[migrate(from = "UArray<UName>", with = count)]
        names: u32,
    }

    fn sum(levels: Borrowed<'_, UArray<f64>>) -> f64 {
        levels.iter().sum()
    }

    fn count(_names: UArray<UName>) -> u32 {
        1
    }
}

mod alc0209 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(default = 3)]
        #[migrate(from = "f64", with = Self::of_number)]
        #[migrate(from = "String", with = Self::of_text)]
        level: i32,
    }

    #[uclass]
    impl Thing {
        fn of_number(level: f64) -> i32 {
            level.round() as i32
        }

        fn of_text(level: String) -> Result<i32, String> {
            level.parse().map_err(|error| format!("{level:?}: {error}"))
        }
    }
}

mod alc0210 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty]
        #[migrate(from = "f32", with = Self::of_number)]
        level: f64,
    }

    impl Thing {
        fn of_number(level: f32) -> f64 {
            f64::from(level) * 100.0
        }
    }
}

mod alc0211 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[keep]
        level: i32,
    }
}
