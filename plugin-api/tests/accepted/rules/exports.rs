//! Rules of exported functions. Each module must compile, and has the id of the rule that it follows.

mod alc0038 {
    use alcedo_plugin_api::prelude::*;

    #[zcall(ex = "math.add")]
    fn add(one: u32) -> u32 {
        one
    }
}

mod alc0039 {
    use alcedo_plugin_api::prelude::*;

    #[zcall(ex = "math.add")]
    fn add(one: u32) -> u32 {
        one
    }
}

mod alc0040 {
    use alcedo_plugin_api::prelude::*;

    #[zcall(ex = "math.add")]
    fn add() -> u32 {
        1
    }
}

mod alc0041 {
    use alcedo_plugin_api::prelude::*;

    pub struct Report;

    #[zmethods]
    impl Report {
        #[zmethod]
        fn count() -> u32 {
            1
        }

        #[cfg_attr(unix, allow(dead_code, reason = "only one platform calls the function"))]
        fn helper() {}
    }
}

mod alc0042 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[zmethod]
        fn count() -> u32 {
            1
        }
    }
}

mod alc0112 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[zmethod]
        fn half(number: u32) -> u32 {
            number / 2
        }
    }
}
