//! Rules of `#[uclass]` on a struct and of its fields. Each module must compile, and has the id of the rule that it follows.

mod alc0024 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        held: u32,
    }
}

mod alc0025 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(imported, package = "Game", base = Object)]
    pub struct Lamp {
        #[uproperty]
        ticks: u32,
    }

    #[uclass(imported)]
    impl Lamp {}
}

mod alc0026 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(imported, package = "Game", base = Object)]
    pub struct Lamp {}

    #[uclass(imported)]
    impl Lamp {}
}

mod alc0027 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", blueprint_type)]
    #[derive(Default)]
    pub struct Thing {}
}

mod alc0028 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        held: u32,
    }
}

mod alc0029 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty]
        speed: u32,
    }
}

mod alc0030 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(default_subobject, root_component)]
        speed: Obj<Object>,
    }
}

mod alc0031 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(default_subobject)]
        speed: Obj<Object>,
    }
}

mod alc0032 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(default_subobject)]
        speed: Obj<Object>,
    }
}

mod alc0033 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty(default = 1)]
        speed: u32,
    }
}

mod alc0057 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}
}

mod alc0058 {
    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {}
}

mod alc0102 {
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
        fn hear(&self, what: String) -> u32 {
            1
        }
    }
}

mod alc0107 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[zmethod]
        fn ring() {}
    }

    impl Drop for Thing {
        fn drop(&mut self) {}
    }
}

mod alc0168 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game")]
    #[repr(u8)]
    pub enum Mood {
        Calm,
    }
}

mod alc0190 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", abstract)]
    #[derive(Default)]
    pub struct Thing {}
}

mod alc0191 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game")]
    #[repr(i32)]
    pub enum Channel {
        None,
        Far = 255,
    }

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Radio {
        #[uproperty(blueprint_read_write, enum_as_byte)]
        channel: Channel,
    }
}

mod alc0192 {
    use alcedo_plugin_api::prelude::*;

    #[uenum(package = "Game")]
    #[repr(i32)]
    pub enum Channel {
        None,
        Far = 30,
    }

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Radio {
        #[uproperty(blueprint_read, enum_as_byte)]
        channel: Channel,
    }
}

mod alc0198 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Mesh {
        #[uproperty(default = 1.0)]
        scale: f64,
    }

    #[uclass(package = "Game", base = Mesh)]
    pub struct FancyMesh {}

    #[uclass(package = "Game")]
    pub struct Cube {
        #[uproperty(default_subobject)]
        mesh: Obj<Mesh>,
    }

    #[uclass(package = "Game", base = Cube, subobjects(mesh = FancyMesh))]
    pub struct Fancy {}
}

mod alc0199 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Mesh {
        #[uproperty(default = 1.0)]
        scale: f64,
    }

    #[uclass(package = "Game", base = Mesh)]
    pub struct FancyMesh {}

    #[uclass(package = "Game")]
    pub struct Cube {
        #[uproperty(default_subobject)]
        mesh: Obj<Mesh>,
    }

    #[uclass(package = "Game", base = Cube, defaults(mesh.scale = 2.0))]
    pub struct Fast {
        #[uproperty(default = 2.0)]
        speed: f64,
    }
}
