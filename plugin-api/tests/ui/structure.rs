//! Rules of `#[ustruct]`. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod alc0078 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game", pod)]
    pub struct Point<T> {
        x: T,
    }
}

mod alc0079 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game", pod)]
    pub struct Point(f64);
}

mod alc0080 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game", pod)]
    pub struct Point {}
}

mod alc0085 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game")]
    pub struct Words {
        #[keep]
        text: UString,
    }
}

mod alc0180 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(pod, imported, package = "Game")]
    pub struct Size {
        #[uproperty(default = 1.0)]
        height: f64,
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
        base: f64,
    }
}

mod alc0182 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game")]
    pub struct Spot {
        name: UString,
    }

    #[ustruct(pod, package = "Game", base = Spot)]
    pub struct Place {
        height: f64,
    }
}

mod alc0183 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game", base = UString)]
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
        fn tall(height: f64) {}
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
        fn tall(&mut self, height: f64) -> Self {
            Size { height }
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
        fn sent(&mut self, archive: &mut NetArchive) -> bool {
            archive.number(&mut self.height);
            true
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
        #[net_serialize]
        fn sent(&mut self, archive: &mut NetArchive, _map: &mut NetMap) -> (bool, bool) {
            (true, true)
        }

        #[net_serialize]
        fn read(&mut self, archive: &mut NetArchive, _map: &mut NetMap) -> (bool, bool) {
            (true, true)
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
    pub fn size() -> Size {
        Size { height: 1.0 }
    }
}

mod alc0214 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game")]
    #[derive(Hash)]
    pub struct Words {
        text: UString,
    }
}

mod alc0215 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(pod, package = "Game")]
    #[derive(Default)]
    pub struct Size {
        pub height: f64,
    }

    #[ustruct]
    impl Size {
        #[constructor]
        async fn tall(&mut self, height: f64) {
            self.height = height;
        }
    }
}

fn main() {}
