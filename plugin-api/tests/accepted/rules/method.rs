//! Rules of `#[ufunction]`. Each module must compile, and has the id of the rule that it follows.

mod alc0059 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        fn ring(&self, this: This<Self>, times: u32) {}
    }
}

mod alc0060 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        fn ring(&self, words: String) {}
    }
}

mod alc0061 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        fn ring(&self, one: u32, two: u32) {}
    }
}

mod alc0062 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        fn ring(&self, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8) {}
    }
}

mod alc0063 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        fn ring(&self, this: This<Self>) {}
    }
}

mod alc0064 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[class_constructor]
        fn construct(&mut self) {}
    }
}

mod alc0065 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[class_constructor]
        fn construct(&mut self) {}
    }
}

mod alc0066 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        fn ring(&self) {}
    }
}

mod alc0067 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[red_constructor]
        fn new(this: This<Self>) -> Self {
            Self {}
        }
    }
}

mod alc0068 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        fn ring(&self, what: u32) {}
    }
}

mod alc0083 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(defaults(times = 3))]
        fn ring(&self, times: u32) {}

        #[ufunction(defaults(r#type = 3))]
        fn buzz(&self, r#type: u32) {}
    }
}

mod alc0084 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(defaults(times = 3, loud = true))]
        fn ring(&self, times: u32, loud: bool) {}
    }
}

mod alc0111 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        fn fill(&self, list: &mut UArray<f64>) {}
    }
}

mod alc0113 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        async fn ring(this: Obj<Self>, times: u32) {}

        #[ufunction]
        async fn hear(this: Obj<Self>) {}
    }
}

mod alc0114 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        async fn sort(this: Obj<Self>, list: UArray<u32>) -> u32 {
            0
        }
    }
}

mod alc0200 {
    use alcedo_plugin_api::prelude::*;
    use alcedo_plugin_api::thunk::Frame;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_callable, custom_thunk = Self::exec_ring, array_parm = "times")]
        fn ring(times: Vec<u32>) -> f64;

        fn exec_ring(frame: &mut Frame<'_>) -> Result<(), CallError> {
            let times = frame.step()?;
            frame.finish()?;
            frame.set_result(frame.number(times, "")?)
        }
    }
}

mod alc0201 {
    use alcedo_plugin_api::prelude::*;
    use alcedo_plugin_api::thunk::Frame;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_callable, custom_thunk = Self::exec_ring, array_parm = "times")]
        fn ring(times: Vec<u32>) -> f64;

        fn exec_ring(frame: &mut Frame<'_>) -> Result<(), CallError> {
            let times = frame.step()?;
            frame.finish()?;
            frame.set_result(frame.number(times, "")?)
        }
    }
}

mod alc0202 {
    use alcedo_plugin_api::prelude::*;
    use alcedo_plugin_api::thunk::Frame;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_callable, custom_thunk = Self::exec_ring, array_parm = "times")]
        fn ring(times: Vec<u32>) -> f64;

        fn exec_ring(frame: &mut Frame<'_>) -> Result<(), CallError> {
            let times = frame.step()?;
            frame.finish()?;
            frame.set_result(frame.number(times, "")?)
        }
    }
}

mod alc0203 {
    use alcedo_plugin_api::prelude::*;
    use alcedo_plugin_api::thunk::Frame;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_callable, custom_thunk = Self::exec_ring, array_parm = "times")]
        fn ring(times: Vec<u32>) -> f64;

        fn exec_ring(frame: &mut Frame<'_>) -> Result<(), CallError> {
            let times = frame.step()?;
            frame.finish()?;
            frame.set_result(frame.number(times, "")?)
        }
    }
}

mod alc0204 {
    use alcedo_plugin_api::prelude::*;
    use alcedo_plugin_api::thunk::Frame;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(blueprint_callable, custom_thunk = Self::exec_ring, array_parm = "times")]
        fn ring(times: Vec<u32>) -> f64;

        fn exec_ring(frame: &mut Frame<'_>) -> Result<(), CallError> {
            let times = frame.step()?;
            frame.finish()?;
            frame.set_result(frame.number(times, "")?)
        }
    }
}
