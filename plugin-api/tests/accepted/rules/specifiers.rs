//! Rules of specifiers, defaults and conditions. Each module must compile, and has the id of the rule that it follows.

mod alc0034 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        #[cfg(any(unix, windows))]
        fn ring(&self) {}
    }
}

mod alc0035 {
    use alcedo_plugin_api::prelude::*;

    #[cfg(any(unix, windows))]
    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        held: u32,
    }
}

mod alc0036 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game")]
    #[repr(u8)]
    pub enum Side {
        Left,
        Right,
    }

    #[ustruct(package = "Game", pod)]
    pub struct Point {
        x: f64,
        y: f64,
        side: Side,
    }

    #[ustruct(package = "Game", pod)]
    pub struct Place {
        #[uproperty(default = (x = 1.0, side = "Right"))]
        at: Corner,
    }

    #[ustruct(package = "Game", pod)]
    pub struct Route {
        #[uproperty(default = (at = (x = -1.0)))]
        to: Place,
    }

    #[ustruct(package = "Game", pod)]
    pub struct Corner {
        x: f64,
        #[uproperty(default = "Left")]
        side: Side,
    }

    macro_rules! things {
        ($($name:ident: $x:expr),*) => {$(
            #[uclass(package = "Game")]
            #[derive(Default)]
            pub struct $name {
                #[uproperty(default = (x = $x, y = 2.0, side = "Right"))]
                at: Point,
                #[uproperty(default = (at = (x = $x, side = "Left")))]
                from: Place,
            }
        )*};
    }
    things! { Thing: 1.0, Captured: -1.5 }
}

mod alc0037 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(default = 4_294_967_295)]
        speed: u32,
    }
}

mod alc0081 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(meta(clamp_min = "0"))]
        speed: u32,
    }
}

mod alc0082 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(category = "Light")]
        speed: u32,
    }
}

mod alc0086 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(edit_anywhere)]
        speed: u32,
    }
}

mod alc0087 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(edit_anywhere)]
        speed: u32,
    }
}

mod alc0088 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(edit_anywhere)]
        speed: u32,
    }
}

mod alc0089 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(edit_anywhere)]
        speed: u32,
    }
}

mod alc0090 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(edit_anywhere)]
        speed: u32,
    }
}

mod alc0091 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", base = Object)]
    #[derive(Default)]
    pub struct Thing {}
}

mod alc0092 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {}

    #[uclass(package = "Game", implements(Heeds))]
    #[derive(Default)]
    pub struct Thing {}
}

mod alc0093 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {}

    #[uclass(package = "Game", implements(Heeds))]
    #[derive(Default)]
    pub struct Thing {}
}

mod alc0094 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(meta(units = "m/s"))]
        speed: u32,
    }
}

mod alc0095 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(meta(units = "m"))]
        speed: u32,
    }
}

mod alc0096 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(category = "Light")]
        speed: u32,
    }
}

mod alc0097 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}
}

mod alc0098 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}
}

mod alc0099 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty]
        speed: u32,
    }
}

mod alc0205 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", was = "Box, Block, Würfel")]
    pub struct Cube {
        #[uproperty(was = "weight")]
        mass: f64,
    }
}
