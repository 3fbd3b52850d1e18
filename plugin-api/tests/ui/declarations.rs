//! Contradictory declarations. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod derive_above_the_attribute {
    //! `#[ustruct(pod)]` and `#[uenum]` derive `Clone` and `Copy`, unless a `#[derive]` below the attribute does so.

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

mod every_error_of_an_item {
    //! All errors of an item are reported together.

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
    pub trait Heeds: Send {
        const COUNT: u32;
        fn hear(&self) {}
    }
}

mod function_forms_that_cannot_be {
    //! Functions whose attributes contradict each other or the signature.

    use alcedo_plugin_api::prelude::*;

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
}

mod implements_something_else {
    //! A class must list its interfaces by their types.

    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {}

    #[uclass(package = "Game", implements())]
    pub struct Empty {}

    #[uclass(package = "Game", implements = Heeds)]
    pub struct Assigned {}

    #[uclass(package = "Game", implements("/Script/Game.Heeds"))]
    pub struct Path {}

    #[uclass(imported, package = "Game", implements(Heeds))]
    pub struct Elsewhere {}
}

mod interface_that_is_a_class {
    //! A class is not accepted as an interface, nor an interface as a class.

    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {}

    #[uclass(package = "Game", implements(Object))]
    pub struct Ear {}

    pub fn anyone(_listener: &ScriptInterface<Ear>, _ear: &WeakObject<Heeds>) {}
}

mod interface_with_more_than_functions {
    //! An interface contains only functions without bodies.

    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Makes {
        fn make() -> u32;
    }

    #[uinterface(package = "Game")]
    pub trait Takes {
        fn take(&self, thing: std::time::Duration);
    }
}

mod methods_that_are_defined_twice {
    //! Two declarations cannot define the same method of a view.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Setter {
        #[uproperty]
        speed: f64,
    }

    #[uclass]
    impl Setter {
        #[ufunction]
        fn set_speed(&self, speed: f64) {}
    }

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Properties {
        #[uproperty]
        speed: f64,
        #[uproperty]
        set_speed: f64,
        #[uproperty]
        speed: f64,
    }

    #[uinterface(package = "Game")]
    pub trait Heeds {
        fn hear(&self);
        fn try_hear(&self);
    }

    #[ustruct(package = "Game")]
    pub struct Words {
        text: UString,
        set_text: UString,
    }
}

mod two_impl_blocks {
    //! A class has only one `#[uclass] impl` block.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Split {}

    #[uclass]
    impl Split {}

    #[uclass]
    impl Split {}
}

mod unknown_words {
    //! Rejects unknown specifiers, and lists the known specifiers.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Function {}

    #[uclass]
    impl Function {
        #[ufunction(callable)]
        fn call(&self) {}
    }

    #[uinterface(package = "Game", path = "/Script/Engine.Whistles")]
    pub trait Whistles {}
}

mod conditions_that_both_hold {
    //! Two declarations of one method need conditions that exclude each other.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Twice {}

    #[uclass]
    impl Twice {
        #[cfg(all())]
        #[ufunction]
        fn go(&self) {}

        #[cfg(not(any()))]
        #[ufunction]
        fn try_go(&self) {}
    }
}

mod impl_of_an_alias {
    //! The compiler reports an alias of a class at the name of the alias.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Named {}

    type Alias = Named;

    #[uclass]
    impl Alias {
        #[ufunction]
        fn ring(&self) {}
    }
}

mod alc0217 {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game")]
    pub struct Pass {
        is_expired: bool,
    }
}

fn main() {}
