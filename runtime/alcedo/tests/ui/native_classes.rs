//! Rules that only native classes can break. Each module breaks one.
#![allow(unused)]
#![forbid(unsafe_code)]

mod alc0108 {
    use alcedo_runtime::ObjectHandle;
    use alcedo_runtime::native::{This, uclass};

    #[uclass(package = "Engine")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[add_references]
        fn references(&self, visit: &mut dyn FnMut(ObjectHandle)) {}

        #[add_references]
        fn others(&self, visit: &mut dyn FnMut(ObjectHandle)) {}
    }
}

mod alc0109 {
    use alcedo_runtime::ObjectHandle;
    use alcedo_runtime::native::{This, uclass};

    #[uclass(package = "Engine")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[cfg(unix)]
        #[begin_destroy]
        fn end(&mut self) {}
    }
}

mod alc0110 {
    use alcedo_runtime::ObjectHandle;
    use alcedo_runtime::native::{This, uclass};

    #[uclass(package = "Engine")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[add_references]
        fn references(&mut self, visit: &mut dyn FnMut(ObjectHandle)) {}
    }
}

mod alc0115 {
    use alcedo_runtime::native::{This, uclass};

    #[uclass(package = "Engine")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Thing {
        #[ufunction]
        async fn ring(this: This<Self>, times: u32) {}
    }
}

mod alc0206 {
    use alcedo_runtime::native::uclass;

    #[uclass(package = "Engine", imported)]
    pub struct Thing {}
}

mod function_with_the_name_of_an_accessor {
    //! A property and a function cannot define the same method of a view.

    use alcedo_runtime::native::uclass;

    #[uclass(package = "Engine")]
    #[derive(Default)]
    pub struct Thing {
        #[uproperty]
        speed: f64,
    }

    #[uclass]
    impl Thing {
        #[ufunction]
        fn set_speed(&self, speed: f64) {}
    }
}

fn main() {}
