//! Items that the macros usually generate, written by hand. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod body_of_another_class {
    //! A description of one class cannot be used for another class, because that class has another plugin part.

    use alcedo_plugin_api::__private;
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct One {
        text: String,
    }

    #[uclass]
    impl One {
        #[ufunction]
        fn length(&self) -> u64 {
            self.text.len() as u64
        }
    }

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Two {
        number: u64,
    }

    impl Two {
        const ONE_UCLASS_IMPL_BLOCK_PER_CLASS: __private::Body<One> = One::ONE_UCLASS_IMPL_BLOCK_PER_CLASS;
    }
}

mod borrow_by_hand {
    //! The borrow of a plugin part follows from the receiver alone: with a borrow chosen by hand, a `&mut self` method
    //! could overlap with a `&self` method.

    use std::sync::Mutex;

    use alcedo_plugin_api::__private;
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Breaker {
        list: Mutex<Vec<u64>>,
    }

    struct Grow;

    impl __private::Method for Grow {
        type Class = Breaker;
        type Args = ();
        type Result = u64;
        type Returned = u64;
        type Receiver = __private::Exclusive;
        const NAME: &'static str = "grow";
        const HOLDER: &'static __private::Holder = &__private::Holder::sharing("grow");
        const LOCATION: __private::SourceLocation = __private::SourceLocation { file: "", line: 1, column: 1 };

        fn run<'f>(part: &mut Breaker, this: This<'f, Breaker>, (): ()) -> u64 {
            let list = part.list.get_mut().unwrap();
            list.push(7);
            let first = &mut list[0];
            let _cleared = this.zcall::<(), ()>("uf:/Script/Game.Breaker:look", ());
            *first
        }
    }
}

mod engine_call_in_drop {
    //! A finalizer has no `This`, so it cannot call the engine.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Chatty {
        count: u32,
    }

    #[uclass]
    impl Chatty {
        #[class_constructor]
        fn construct(&mut self, this: This<Self>) {
            self.count = this.name().len() as u32;
        }
    }

    impl Drop for Chatty {
        fn drop(&mut self) {
            let name = self.name();
            drop(this.name() + &name);
        }
    }
}

mod field_by_hand {
    //! Handwritten field descriptions: for a field of another struct, and with a type that differs from the field's type.

    use alcedo_plugin_api::__private::{Field, FieldPlace, Stored, Value, blank};
    use alcedo_plugin_api::prelude::*;

    #[ustruct(package = "Game")]
    pub struct Crate {
        title: UString,
        count: u64,
    }

    const ONE: &<Crate as Value>::Raw = &blank::<Crate>();
    const OTHER: &(<Crate as Value>::Raw, <Crate as Value>::Raw) = &(blank::<Crate>(), blank::<Crate>());

    struct OfAnother;

    impl FieldPlace for OfAnother {
        type Struct = Crate;
        type Type = u64;
        const AT: (&'static <Crate as Value>::Raw, &'static Stored<u64>) = (ONE, &OTHER.0.0.count);
    }

    struct OfTheNext;

    impl FieldPlace for OfTheNext {
        type Struct = Crate;
        type Type = u64;
        const AT: (&'static <Crate as Value>::Raw, &'static Stored<u64>) = (&OTHER.0, &OTHER.1.0.count);
    }

    struct OfAnotherType;

    impl FieldPlace for OfAnotherType {
        type Struct = Crate;
        type Type = u64;
        const AT: (&'static <Crate as Value>::Raw, &'static Stored<u64>) = (ONE, &ONE.0.title);
    }

    const OF_ANOTHER: Field<Crate, u64> = Field::of::<OfAnother>();
    const OF_THE_NEXT: Field<Crate, u64> = Field::of::<OfTheNext>();
}

mod function_of_another_class {
    //! A handwritten import must belong to the class of the object.

    use alcedo_plugin_api::__private;
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Breaker {
        #[uproperty]
        speed: u64,
    }

    static CELL: __private::FunctionCell<Breaker, (), u64> = __private::FunctionCell::new();

    static OF_ANOTHER: __private::Declared<__private::ImportDesc> =
        __private::import_function("/Script/Game.Larger:far", &CELL);
}

mod hidden_patterns_by_hand {
    //! Handwritten calls of internal macros: with a handwritten cell for a property, and with an expression that needs `unsafe`.

    use alcedo_plugin_api::__private;
    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    #[derive(Default)]
    pub struct Breaker {
        #[uproperty]
        speed: u64,
    }

    static MINE: __private::Cell = __private::Cell::new();

    __private::properties! { BreakerView by read_member write_member { stolen set_stolen try_set_stolen: u64, value: u64 = value, (MINE) } }

    static CALL: __private::FunctionCell<Breaker, (u64,), u64> = __private::FunctionCell::new();

    __private::calls! { BreakerView endings: [], calls: [{ by invoke_member peek try_peek(at: u64 = *(at as *const u64)) -> u64, "", (CALL), "peek" }] }
}

mod pod_with_a_layout_of_its_own {
    //! A struct that is passed by value has the C layout.

    use alcedo_plugin_api::prelude::*;

    #[ustruct(pod, package = "Game")]
    #[repr(align(16))]
    pub struct Apart {
        at: f64,
    }
}

mod traits_implemented_by_hand {
    //! Generated code relies on implementations of these traits, so each needs `unsafe`, which `forbid(unsafe_code)` rejects.

    use alcedo_plugin_api::__private::{PtrMut, Slot};
    use alcedo_plugin_api::prelude::*;
    use alcedo_plugin_api::{AnyArgument, Interface, IntoHost, Value};

    pub struct Evil;

    impl Interface for Evil {
        const PATH: &'static str = "/Script/Game.Innocent), Delegate(Array(u8";
    }

    impl IntoHost<UArray<u64>> for Evil {
        fn host_address(&self) -> Result<Option<*const <UArray<u64> as Value>::Raw>, CallError> {
            Ok(Some(std::ptr::without_provenance(0x4141)))
        }

        fn put(&self, _target: PtrMut<'_, UArray<u64>>) -> Result<(), CallError> {
            Ok(())
        }
    }

    impl AnyArgument for Evil {
        fn slot(&self) -> Slot {
            Slot::EMPTY
        }
    }
}

mod value_of_another_kind {
    //! Plugin code cannot change the kind of an owned value, even if it names hidden parts or is in the same module.

    use alcedo_plugin_api::prelude::*;
    use alcedo_plugin_api::{Kind, Value};

    #[ustruct(package = "Game")]
    pub struct Words {
        a: u64,
    }

    #[ustruct(package = "Game")]
    pub struct Others {
        a: String,
    }

    fn by_the_trait() -> Words {
        Kind::from_owned(<UArray<u64> as Value>::out())
    }

    fn by_the_private_field(others: Others) -> Words {
        Words(others.0)
    }
}

fn main() {}
