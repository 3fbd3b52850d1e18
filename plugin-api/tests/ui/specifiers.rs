//! Rules of specifiers, defaults and conditions. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod alc0034 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        #[cfg_attr(unix, doc = "x")]
        fn ring(&self) {}
    }
}

mod alc0035 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[cfg(unix)]
        held: u32,
    }
}

mod alc0036 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game", pod)]
    pub struct Point {
        x: f64,
        y: f64,
    }

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(default = (1 = 1.0, y = 2.0))]
        at: Point,
    }
}

mod alc0037 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(default = u32::MAX)]
        speed: u32,
    }
}

mod alc0081 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(meta(clamp_min = 0))]
        speed: u32,
    }
}

mod alc0082 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(category = "Light", meta(category = "Dark"))]
        speed: u32,
    }
}

mod alc0086 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty = "edit_anywhere"]
        speed: u32,
    }
}

mod alc0087 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(edit_anywere)]
        speed: u32,
    }
}

mod alc0088 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(edit_anywhere, edit_anywhere)]
        speed: u32,
    }
}

mod alc0089 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(edit_anywhere = true)]
        speed: u32,
    }
}

mod alc0090 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(edit_anywhere(always))]
        speed: u32,
    }
}

mod alc0091 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", base = "Object")]
    #[derive(Default)]
    pub struct Thing {}
}

mod alc0092 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {}

    #[uclass(package = "Game", implements)]
    #[derive(Default)]
    pub struct Thing {}
}

mod alc0093 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {}

    #[uclass(package = "Game", implements(Heeds, Heeds))]
    #[derive(Default)]
    pub struct Thing {}
}

mod alc0094 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(meta(units))]
        speed: u32,
    }
}

mod alc0095 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(meta(units = "m", units = "s"))]
        speed: u32,
    }
}

mod alc0096 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(category = 1)]
        speed: u32,
    }
}

mod alc0097 {
    use alcedo_plugin_api::prelude::*;

    #[uclass()]
    #[derive(Default)]
    pub struct Thing {}
}

mod alc0098 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "/Script/Game")]
    #[derive(Default)]
    pub struct Thing {}
}

mod alc0099 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty]
        #[uproperty]
        speed: u32,
    }
}

mod alc0205 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", was = "/Script/Game.Box")]
    pub struct Cube {
        #[uproperty]
        mass: f64,
    }
}

fn main() {}
