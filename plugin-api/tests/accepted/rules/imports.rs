//! Rules of imported classes and of imported C libraries. Each module must compile, and has the id of the rule that it follows.

mod alc0043 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(imported, package = "Game", base = Object)]
    pub struct Lamp {}

    #[uclass(imported)]
    impl Lamp {
        #[ufunction]
        fn shine(&self);
    }
}

mod alc0044 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(imported, package = "Game", base = Object)]
    pub struct Lamp {}

    #[uclass(imported)]
    impl Lamp {
        #[ufunction]
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
        fn shine(&self);
    }
}

mod alc0140 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", dll_bind = "Thing-2_x")]
    #[derive(Default)]
    pub struct Thing {}
}

mod alc0141 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", dll_bind = "Thing", blueprint_type)]
    #[derive(Default)]
    pub struct Thing {}
}

mod alc0142 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", dll_bind = "Thing")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Holder {
        #[uproperty]
        thing: Obj<Thing>,
    }
}

mod alc0143 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", dll_bind = "Thing")]
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
        fn call(&self) -> i32;

        #[dll_import]
        fn sort(&self, row: &mut [i32; 8]);

        #[ufunction]
        fn tried(&self, this: This<Self>) -> Result<i32, CallError> {
            let mut row = [3, 1, 2, 0, 0, 0, 0, 0];
            this.try_sort(&mut row)?;
            this.try_call()
        }
    }
}

mod alc0146 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game")]
    pub struct Row {
        numbers: UArray<i32>,
        name: String,
    }

    #[uclass(package = "Game", dll_bind = "Thing")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[dll_import]
        fn ring(&self, name: String, a: u8, b: i64, c: f32, rows: [f64; 3]) -> bool;

        #[dll_import]
        fn row(&self, row: &mut Row, more: &mut [u16; 4], text: &mut String, number: &mut f64) -> String;
    }
}

mod alc0147 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", dll_bind = "Thing")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[dll_import]
        fn ring(&self, row: [i32; 2]);
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
        fn ring(&self) -> bool;
    }
}
