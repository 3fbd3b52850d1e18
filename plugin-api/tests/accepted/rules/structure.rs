//! Rules of `#[ustruct]`. Each module must compile, and has the id of the rule that it follows.

mod alc0078 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game", pod)]
    pub struct Point {
        x: f64,
    }
}

mod alc0079 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game", pod)]
    pub struct Point {
        x: f64,
    }
}

mod alc0080 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game", pod)]
    pub struct Point {
        x: f64,
    }
}

mod alc0085 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game")]
    pub struct Words {
        text: UString,
    }
}

mod alc0180 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(pod, package = "Game")]
    pub struct Size {
        #[uproperty(default = 1.0)]
        height: f64,
        width: f64,
    }

    #[ustruct(pod, package = "Game")]
    pub struct Boxed {
        #[uproperty(default = (height = -2.5))]
        size: Size,
    }

    #[ustruct(package = "Game")]
    pub struct Words {
        #[uproperty(default = "none")]
        text: UString,
        #[uproperty(default = (height = 3.0, width = 1.0))]
        size: Size,
    }
}

mod alc0181 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game")]
    pub struct Spot {
        name: UString,
    }

    #[ustruct(package = "Game", base = Spot)]
    pub struct Place {
        height: f64,
    }

    #[ustruct(package = "Game")]
    pub struct Column {
        base: f64,
    }
}

mod alc0182 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(pod, package = "Game")]
    pub struct Spot {
        x: f64,
    }

    #[ustruct(pod, package = "Game")]
    pub struct Place {
        spot: Spot,
        height: f64,
    }

    #[ustruct(package = "Game", base = Spot)]
    pub struct Extended {
        height: f64,
    }
}

mod alc0183 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game")]
    pub struct Spot {
        name: UString,
    }

    #[ustruct(package = "Game", base = Spot)]
    pub struct Place {
        height: f64,
    }
}

mod alc0193 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(pod, package = "Game")]
    #[derive(Default)]
    pub struct Size {
        pub height: f64,
    }

    #[ustruct]
    impl Size {
        #[constructor]
        fn tall(&mut self, height: f64) {
            self.height = height;
        }
    }
}

mod alc0194 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(pod, package = "Game")]
    #[derive(Default)]
    pub struct Size {
        pub height: f64,
    }

    #[ustruct]
    impl Size {
        #[constructor]
        fn tall(&mut self, height: f64) {
            *self = Size { height };
        }
    }
}

mod alc0195 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(pod, package = "Game")]
    #[derive(Default)]
    pub struct Size {
        pub height: f64,
    }

    #[ustruct]
    impl Size {
        #[net_serialize]
        fn sent(&mut self, archive: &mut NetArchive, _map: &mut NetMap) -> (bool, bool) {
            archive.number(&mut self.height);
            (true, true)
        }
    }
}

mod alc0196 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(pod, package = "Game")]
    #[derive(Default)]
    pub struct Size {
        pub height: f64,
    }

    #[ustruct]
    impl Size {
        #[cfg(not(unix))]
        #[net_serialize]
        fn sent(&mut self, _archive: &mut NetArchive, _map: &mut NetMap) -> (bool, bool) {
            (false, true)
        }

        #[cfg(unix)]
        #[net_serialize]
        fn sent(&mut self, archive: &mut NetArchive, _map: &mut NetMap) -> (bool, bool) {
            match archive.is_saving() {
                true => (true, true),
                false => (false, true),
            }
        }
    }
}

mod alc0197 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(pod, package = "Game")]
    #[derive(Default)]
    pub struct Size {
        pub height: f64,
    }

    #[ustruct]
    impl Size {
        pub fn size() -> Size {
            Size { height: 1.0 }
        }
    }
}

mod alc0214 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game")]
    pub struct Words {
        text: UString,
    }

    fn copied(words: &Words) -> Option<Words> {
        let copy = words.clone();
        (copy == *words && copy != Words::default()).then_some(copy)
    }
}

mod alc0215 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(pod, package = "Game")]
    #[derive(Default)]
    pub struct Size {
        pub height: f64,
    }

    #[ustruct(package = "Game")]
    pub struct Parcel {
        height: f64,
    }

    #[ustruct]
    impl Size {
        /// Creates a size. The name `value` of the parameter does not conflict with a variable of the generated constructor.
        #[constructor]
        fn tall<T>(&mut self, value: T)
        where
            T: Into<f64>,
        {
            self.height = value.into();
        }
    }

    #[ustruct]
    impl Parcel {
        #[constructor]
        fn tall(parcel: Borrowed<'_, Self>, value: impl Into<f64>) {
            parcel.set_height(value.into());
        }
    }

    fn made() -> (Size, Parcel) {
        (Size::tall(2.0_f32), Parcel::tall(3.0_f32))
    }
}

mod alc0217 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game")]
    pub struct Pass {
        #[uproperty(was = "is_expired")]
        is_over: bool,
    }
}
