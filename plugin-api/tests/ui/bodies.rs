//! Function bodies and layouts that constants compare at compile time. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod interface_with_bodies_that_differ {
    //! Bodies that differ from the declaration of the interface, each in one respect.

    use alcedo_plugin_api::prelude::*;

    #[uinterface(package = "Game")]
    pub trait Heeds {
        fn hear(&self, what: String) -> u32;
        fn hush(&self);
    }

    #[uclass(package = "Game", implements(Heeds))]
    #[derive(Default)]
    pub struct Half {}

    #[uclass]
    impl Heeds for Half {
        fn hear(&self, _what: String) -> u32 {
            1
        }
    }

    #[uclass(package = "Game", implements(Heeds))]
    #[derive(Default)]
    pub struct Misspelled {}

    #[uclass]
    impl Heeds for Misspelled {
        fn hear(&self, _what: String) -> u32 {
            1
        }

        fn hush(&self) {}

        fn hsuh(&self) {}
    }
}

mod state_that_another_attribute_changes {
    //! An attribute below `#[uclass]` may change fields of the plugin part. The rule applies to the final type of a field.

    use alcedo_plugin_api::prelude::*;
    use alcedo_test_attributes::counters_are_shared;

    #[uclass(package = "Game")]
    #[counters_are_shared]
    pub struct Shared {
        counter: u32,
    }
}

fn main() {}
