//! Rules of imported classes and of imported C libraries. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod alc0043 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(imported, package = "Game", base = Object)]
    pub struct Lamp {}

    #[uclass(imported)]
    impl Lamp {
        #[ufunction]
        fn shine(&self) {}
    }
}

mod alc0044 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(imported, package = "Game", base = Object)]
    pub struct Lamp {}

    #[uclass(imported)]
    impl Lamp {
        fn shine(&self);
    }
}

mod alc0045 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(imported, package = "Game", base = Object)]
    pub struct Lamp {}

    #[uclass(imported)]
    impl Lamp {
        #[ufunction]
        fn shine(&self, this: This<Self>);
    }
}

mod alc0140 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", dll_bind = "libThing.so")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass(package = "Game", dll_bind)]
    #[derive(Default)]
    pub struct Other {}
}

mod alc0141 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", dll_bind = "Thing", blueprintable)]
    #[derive(Default)]
    pub struct Thing {}
}

mod alc0142 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", dll_bind = "Thing")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass(package = "Game", base = Thing)]
    #[derive(Default)]
    pub struct Derived {}
}

mod alc0143 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[dll_import]
        fn ring(&self);
    }
}

mod alc0145 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", dll_bind = "Thing")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[dll_import]
        fn ring(&self, this: This<Self>);

        #[dll_import]
        fn call(&self) -> Result<i32, String>;

        #[dll_import]
        fn sort(&self, row: Borrowed<UArray<i32>>);
    }
}

mod alc0146 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", dll_bind = "Thing")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[dll_import]
        fn ring(&self, name: UName);

        #[dll_import]
        fn row(&self) -> Vec<i32>;
    }
}

mod alc0147 {
    use alcedo_plugin_api::prelude::*;

    const LEN: usize = 2;

    #[uclass(package = "Game", dll_bind = "Thing")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[dll_import]
        fn ring(&self, row: [i32; LEN]);
    }
}

mod alc0148 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", dll_bind = "Thing")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[dll_import(bool8)]
        fn ring(&self) -> u8;
    }
}

fn main() {}
