//! Declarations that contradict themselves. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod derive_above_the_attribute {
    //! `#[ustruct(pod)]` and `#[uenum]` derive `Clone` and `Copy`, unless the author does so below them.

    use alcedo_plugin_api::prelude::*;

    #[derive(Clone, Copy)]
    #[ustruct(pod, package = "Game")]
    pub struct Above {
        height: f64,
    }

    #[ustruct(pod, package = "Game")]
    #[derive(Clone, Copy)]
    pub struct Below {
        height: f64,
    }
}

mod event_with_a_body {
    //! An event is declared without a body.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Eager {}

    #[uclass]
    impl Eager {
        #[ufunction(blueprint_native_event)]
        fn say_hello(&self) {}
    }
}

mod every_error_of_an_item {
    //! All that is wrong with an item is said at once.

    use alcedo_plugin_api::prelude::*;

    #[uclass(pakage = "Game", blueprintable, blueprint_type)]
    pub struct Many<T> {
        #[uproperty(edit_anywere)]
        one: u32,
        #[uproperty(default = f())]
        two: u32,
        #[keep(always)]
        three: T,
    }

    #[uclass]
    impl Many {
        #[ufunction]
        fn first(&self, words: &str, (a, b): (u32, u32)) {}

        #[ufunction(blueprint_pure)]
        fn second(&mut self) {}

        #[ufunction(blueprint_native_event)]
        fn third(&self);

        #[ufunction]
        async fn fourth<T>(self) {}
    }

    #[uinterface]
    pub trait Hears: Send {
        const COUNT: u32;
        fn hear(&self) {}
    }
}

mod function_forms_that_cannot_be {
    //! Forms of functions that contradict themselves.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Unknown {}

    #[uclass]
    impl Unknown {
        #[ufunction(defaults(tims = 3))]
        fn blink(&self, times: u32) {}
    }

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Gap {}

    #[uclass]
    impl Gap {
        #[ufunction(defaults(times = 3))]
        fn blink(&self, times: u32, color: String) {}
    }

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct OtherType {}

    #[uclass]
    impl OtherType {
        #[ufunction(defaults(times = "often"))]
        fn blink(&self, times: u32) {}
    }

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Both {}

    #[uclass]
    impl Both {
        #[ufunction(blueprint_native_event, blueprint_implementable_event)]
        fn blink(&self);
    }

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Fails {}

    #[uclass]
    impl Fails {
        #[ufunction(blueprint_implementable_event)]
        fn blink(&self) -> Result<u32, String>;
    }

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Said {
        #[uproperty(category = "Light", meta(category = "Dark"))]
        bright: u32,
    }

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Number {
        #[uproperty(meta(clamp_min = 0))]
        bright: u32,
    }

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Bare {
        #[uproperty(meta)]
        bright: u32,
    }
}

mod implementation_that_differs {
    //! The default body has the signature of its event.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Confused {}

    #[uclass]
    impl Confused {
        #[ufunction(blueprint_native_event)]
        fn say(&self, what: String);
        fn say_implementation(&self, what: u32) {
            let _ = what;
        }
    }
}

mod implements_without_interfaces {
    //! A class lists the interfaces that it implements, each once.

    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Hears {}

    #[uclass(package = "Game", implements)]
    pub struct Nothing {}

    #[uclass(package = "Game", implements())]
    pub struct Empty {}

    #[uclass(package = "Game", implements = Hears)]
    pub struct Assigned {}

    #[uclass(package = "Game", implements("/Script/Game.Hears"))]
    pub struct Path {}

    #[uclass(package = "Game", implements(Hears, Hears))]
    pub struct Twice {}

    #[uclass(imported, package = "Game", implements(Hears))]
    pub struct Elsewhere {}

    #[uclass(package = "Game", blueprintable(Hears))]
    pub struct Parentheses {}
}

mod interface_that_is_a_class {
    //! A class is no interface, and an interface no class.

    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Hears {}

    #[uclass(package = "Game", implements(Object))]
    pub struct Ear {}

    pub fn anyone(_listener: &ScriptInterface<Ear>, _ear: &WeakObject<Hears>) {}
}

mod interface_that_is_more_than_a_name {
    //! The host knows an interface by one path, and nothing else.

    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Hears: Send {}

    #[uinterface(package = "Game")]
    pub trait Sings<Song> {}

    #[uinterface(package = "Game")]
    pub trait Hums
    where
        Self: Sized,
    {
    }

    #[uinterface(package = "Game")]
    pub unsafe trait Shouts {}

    #[uinterface]
    pub trait Homeless {}

    #[uinterface(package = "Game", path = "/Script/Engine.Whistles")]
    pub trait Whistles {}

    #[uinterface(package = "Game")]
    pub struct Talks;
}

mod interface_with_more_than_functions {
    //! An interface has functions that are declared, and nothing else.

    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Keeps {
        const COUNT: u32;
    }

    #[uinterface(package = "Game")]
    pub trait Does {
        fn act(&self) {}
    }

    #[uinterface(package = "Game")]
    pub trait Makes {
        fn make() -> u32;
    }

    #[uinterface(package = "Game")]
    pub trait Asks {
        fn ask(&self, this: This<Self>);
    }

    #[uinterface(package = "Game")]
    pub trait Says {
        #[cfg(unix)]
        fn say(&self);
    }

    #[uinterface(package = "Game")]
    pub trait Takes {
        fn take(&self, thing: std::time::Duration);
    }

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Thing {}

    #[uclass]
    impl Keeps for Thing {
        const COUNT: u32 = 1;
    }

    #[uclass]
    impl Does for Thing {
        #[ufunction]
        fn act(&self) {}
    }
}

mod two_class_constructors {
    //! A class has one class constructor.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Twice {}

    #[uclass]
    impl Twice {
        #[class_constructor]
        fn first(&mut self) {}

        #[class_constructor]
        fn second(&mut self) {}
    }
}

mod two_impl_blocks {
    //! A class has one `#[uclass] impl` block.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Split {}

    #[uclass]
    impl Split {}

    #[uclass]
    impl Split {}
}

mod two_red_constructors {
    //! A class has one red constructor.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Twice {}

    #[uclass]
    impl Twice {
        #[red_constructor]
        fn new() -> Self {
            Self {}
        }

        #[red_constructor]
        fn renew(_this: This<Self>) -> Self {
            Self {}
        }
    }
}

mod unknown_words {
    //! Unknown words are refused, and the known ones listed.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game", blueprint)]
    pub struct Typo {}

    #[uclass(package = "Game")]
    pub struct Property {
        #[uproperty(edit_everywhere)]
        speed: f64,
    }

    #[uclass(package = "Game")]
    pub struct Function {}

    #[uclass]
    impl Function {
        #[ufunction(callable)]
        fn call(&self) {}
    }
}

fn main() {}
