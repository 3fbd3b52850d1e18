//! Rules of `#[ufunction]`. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod alc0059 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        fn ring(&self, times: u32, this: This<Self>) {}
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
        fn ring(&self, words: &str) {}
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
        fn ring(&self, (one, two): (u32, u32)) {}
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
        fn ring(&self, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8) {}
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
        fn ring(this: This<Self>) {}
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
        fn construct(&mut self, count: u32) {}
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
        fn construct(&mut self) -> u32 {
            1
        }
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
        fn ring(self) {}
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
        async fn new(this: This<Self>) -> Self {
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
        fn ring<T>(&self, what: T) {}
    }
}

mod alc0083 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(defaults(tims = 3))]
        fn ring(&self, times: u32) {}
    }
}

mod alc0084 {
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction(defaults(times = 3))]
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
        fn fill(&self, list: &mut Borrowed<UArray<f64>>) {}
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
        async fn ring(&self, times: u32) {}

        #[ufunction]
        async fn hear(this: This<Self>) {}

        #[ufunction]
        async fn rest() {}
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
        async fn sort(this: Obj<Self>, list: Borrowed<UArray<u32>>, count: &mut u32) {}
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
        #[ufunction(blueprint_callable, custom_thunk = Self::exec_ring)]
        fn ring(times: u32) -> f64 {
            0.0
        }

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
        #[ufunction(blueprint_callable, custom_thunk)]
        fn ring(times: u32) -> f64;

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
        #[ufunction(blueprint_callable, array_parm = "times")]
        fn ring(times: Vec<u32>) -> f64 {
            0.0
        }

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
        #[ufunction(blueprint_callable, custom_thunk = Self::exec_ring, array_parm = "tims")]
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
        #[ufunction(blueprint_native_event, custom_thunk = Self::exec_ring)]
        fn ring(&self, times: u32) -> f64;

        fn exec_ring(frame: &mut Frame<'_>) -> Result<(), CallError> {
            let times = frame.step()?;
            frame.finish()?;
            frame.set_result(frame.number(times, "")?)
        }
    }
}

fn main() {}
