//! Code that must compile: an example for each rule that applies only to native classes. A module has the id of its rule.
#![allow(unused, reason = "cases are compiled, not called")]

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
        #[begin_destroy]
        fn end(&mut self) {
            if cfg!(unix) {}
        }
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
        fn references(&self, visit: &mut dyn FnMut(ObjectHandle)) {}
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
        fn ring(&self, times: u32) {}
    }
}

mod alc0206 {
    use alcedo_runtime::native::uclass;

    #[uclass(package = "Engine")]
    #[derive(Default)]
    pub struct Thing {}
}

mod names_of_the_prelude {
    //! Variants in scope may have the names of the prelude.

    use alcedo_runtime::native::uclass;

    use self::Held::{None, Some};

    pub enum Held {
        None,
        Some(u32),
    }

    #[uclass(package = "Engine")]
    #[derive(Default)]
    pub struct Shelf {}

    #[uclass]
    impl Shelf {
        #[ufunction]
        fn held(&self, count: u32) -> u32 {
            match Some(count) {
                Some(count) => count,
                None => 0,
            }
        }
    }
}

mod names_of_one_letter {
    //! A class, and the type of a field, may have a name that is common for type parameters.

    use alcedo_runtime::native::{Object, uclass};

    #[derive(Default)]
    pub struct M(u32);

    #[uclass(package = "Engine")]
    pub struct Letters {
        first: M,
    }

    alcedo_runtime::host_class! {
        pub C: Object = "/Script/Game.C", members CMembers, extends [C];
        properties {}
        values {}
        delegates {}
        functions {}
        dynamic {}
    }
}
