//! Types of values that the host does not have. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod default_of_another_type {
    //! A default must have the type of its property.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Odd {
        #[uproperty(default = "fast")]
        speed: f64,
    }
}

mod delegate_without_a_signature {
    //! A delegate type must have a signature.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Caller {
        #[uproperty]
        decide: Delegate<bool>,
    }
}

mod error_without_words {
    //! The error type cannot be converted to a message for the caller.

    use alcedo_plugin_api::prelude::*;

    pub struct Hoarse;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Singer {}

    #[uclass]
    impl Singer {
        #[ufunction]
        fn sing(&self) -> Result<u32, Hoarse> {
            Err(Hoarse)
        }
    }

    #[zcall(ex = "singers.count")]
    fn count() -> Result<u32, Hoarse> {
        Ok(1)
    }
}

mod kept_without_serde {
    //! A kept field needs serde.

    use alcedo_plugin_api::prelude::*;

    #[derive(Default)]
    pub struct Opaque;

    #[uclass(package = "Game")]
    pub struct Keeper {
        #[keep]
        opaque: Opaque,
    }
}

mod alias_of_a_result {
    //! The name of an alias does not state that the function may fail.

    use alcedo_plugin_api::prelude::*;

    type Answer = Result<u32, String>;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Oracle {}

    #[uclass]
    impl Oracle {
        #[ufunction]
        fn answer(&self) -> Answer {
            Ok(42)
        }
    }
}

mod borrowed_as_a_result {
    //! A view cannot be a result; an owned value can.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Giver {
        #[uproperty]
        list: UArray<f64>,
    }

    #[uclass]
    impl Giver {
        #[ufunction]
        fn give(&self, this: This<Self>) -> Borrowed<'static, UArray<f64>> {
            this.list()
        }
    }
}

mod borrowed_in_a_field {
    //! A view cannot be kept in the plugin part: an owned copy, from `to_owned()`, can.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Hoarder {
        #[uproperty]
        list: UArray<f64>,

        kept: Option<Borrowed<'static, UArray<f64>>>,
    }

    #[uclass]
    impl Hoarder {
        #[class_constructor]
        fn construct(&mut self, this: This<Self>) {
            self.kept = Some(this.list());
        }
    }
}

mod no_default_and_no_red_constructor {
    //! Without a red constructor, every field must have a default.

    use alcedo_plugin_api::prelude::*;

    pub struct Made(u32);

    #[uclass(package = "Game")]
    pub struct Needy {
        made: Made,
    }
}

mod override_with_another_signature {
    //! An override must have the signature of the event.

    use alcedo_plugin_api::prelude::*;

    #[uclass(imported, package = "Engine")]
    pub struct Actor {
        #[uproperty]
        seed: u32,
    }

    #[uclass(imported)]
    impl Actor {
        #[ufunction(blueprint_native_event)]
        fn receive_tick(&self, delta: f32);
    }

    #[uclass(package = "Game", base = Actor)]
    pub struct Cube {}

    #[uclass]
    impl Cube {
        #[overrides(Actor)]
        fn receive_tick(&mut self, delta: f64) {
            let _ = delta;
        }
    }
}

mod result_of_an_unknown_type {
    //! The value type of a `Result` must be a type that the host knows.

    use alcedo_plugin_api::prelude::*;

    pub struct Song;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Singer {}

    #[uclass]
    impl Singer {
        #[ufunction]
        fn sing(&self) -> Result<Song, String> {
            Ok(Song)
        }
    }
}

mod slice_of_what_is_not_plain {
    //! Slices need elements with the same layout in Rust and in the host; `cargo check` reports a violation at the call.

    use alcedo_plugin_api::prelude::*;

    #[ustruct(pod, package = "Game")]
    pub struct Spot {
        at: f64,
        is_lit: bool,
    }

    fn count(texts: Borrowed<'_, UArray<UString>>, flags: Borrowed<'_, UArray<bool>>, spots: Borrowed<'_, UArray<Spot>>) -> usize {
        texts.with_slice(|texts| texts.len())
            + flags.with_slice_mut(|flags| flags.len())
            + spots.try_with_slice(|spots| spots.len()).unwrap_or_default()
    }
}

mod struct_with_an_unknown_field {
    //! A field of a struct must have a type that the host knows.

    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game")]
    pub struct Stats {
        strength: f64,
        letter: char,
    }
}

mod unsupported_property {
    //! A property must have a type that the host knows.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Odd {
        #[uproperty]
        pair: (u8, u8),
    }
}

mod value_given_for_another {
    //! An argument must have the type of the parameter.

    use alcedo_plugin_api::prelude::*;

    fn add(names: &Borrowed<UArray<String>>) {
        names.push(1.0);
    }

    fn uses() {
        let _ = add;
    }
}

fn main() {}
