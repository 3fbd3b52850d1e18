//! Passes invalid arguments to hidden macros and functions. Safe code can pass such arguments.
#![allow(dead_code, missing_docs, unused_macros, unused_imports, reason = "each feature uses its own part of this")]

use alcedo_plugin_api::__private;
use alcedo_plugin_api::prelude::*;

use crate::Steady;

/// Declares a class without the attribute macro.
macro_rules! class {
    ($class:ident $view:ident: $base:ty, $package:literal, $name:literal $(, $property:tt)*) => {
        pub struct $class {}
        __private::class! {
            declared pub $class $view "The view.", base: $base,
            package: $package, name: $name, flags: 0, doc: "",
            properties: [$($property)*],
            kept: [],
            fields: [],
            implements: [],
            subobjects: [],
            defaults: [],
            checks: {},
        }
    };
}

#[cfg(feature = "cycle")]
mod case {
    use super::*;
    class! { Hen HenView: Egg, "Game", "Hen" }
    class! { Egg EggView: Hen, "Game", "Egg" }
}

#[cfg(feature = "own-base")]
mod case {
    use super::*;
    class! { Ego EgoView: Ego, "Game", "Ego" }
}

#[cfg(feature = "described-twice")]
mod case {
    use super::*;
    static CELL: __private::ClassCell<Steady> = __private::ClassCell::new();
    __private::register! {
        CLASSES: __private::ClassDesc = __private::class_description(
            ("Game", "Steady"), 0, "", &[], __private::Body::EMPTY, &CELL, (&[], &[], &[]),
        )
    }
}

#[cfg(feature = "path-twice")]
mod case {
    use super::*;
    class! { Twin TwinView: Object, "Game", "Twin" }
    class! { OtherTwin OtherTwinView: Object, "Game", "Twin" }
}

#[cfg(feature = "name-of-a-native")]
mod case {
    use super::*;
    class! { Actor ActorView: Object, "Engine", "Actor" }
}

#[cfg(feature = "class-of-another")]
mod case {
    use super::*;
    class! { MagicCube MagicCubeView: Object, "Game", "MagicCube" }
}

#[cfg(feature = "interface-of-another")]
mod case {
    use super::*;
    #[uinterface(package = "Game")]
    pub trait Rings {}
}

#[cfg(feature = "package-of-nobody")]
mod case {
    use super::*;
    class! { Stray StrayView: Object, "Nobody", "Stray" }
}

#[cfg(feature = "package-that-hides")]
mod case {
    use super::*;
    class! { Stray StrayView: Object, "Game\u{202e}", "Stray" }
}

#[cfg(feature = "interface-and-class")]
mod case {
    use super::*;
    class! { Both BothView: Object, "Game", "Both" }
    __private::interface! { declared pub IBoth IBothView "The view.", package: "Game", name: "Both", doc: "", functions: [], }
}

#[cfg(feature = "interface-twice")]
mod case {
    use super::*;
    __private::interface! { declared pub One OneView "The view.", package: "Game", name: "Heeds", doc: "", functions: [], }
    __private::interface! { declared pub Two TwoView "The view.", package: "Game", name: "Heeds", doc: "", functions: [], }
}

#[cfg(feature = "property-twice")]
mod case {
    use super::*;
    class! { Pair PairView: Object, "Game", "Pair",
        { one: u64, u64 = value, { ONE 0 set_one try_set_one value, name: "speed", flags: 0, default: "", metadata: __private::Metadata::NONE } },
        { two: UString, UString = value, { TWO 1 set_two try_set_two value, name: "speed", flags: 0, default: "", metadata: __private::Metadata::NONE } }
    }
}

#[cfg(feature = "hides-the-base")]
mod case {
    use super::*;
    class! { Base BaseView: Object, "Game", "Base",
        { one: u64, u64 = value, { ONE 0 set_one try_set_one value, name: "speed", flags: 0, default: "", metadata: __private::Metadata::NONE } }
    }
    class! { Derived DerivedView: Base, "Game", "Derived",
        { two: u32, u32 = value, { TWO 0 set_two try_set_two value, name: "speed", flags: 0, default: "", metadata: __private::Metadata::NONE } }
    }
}

#[cfg(feature = "default-of-another-type")]
mod case {
    use super::*;
    class! { Odd OddView: Object, "Game", "Odd",
        { one: u64, u64 = value, { ONE 0 set_one try_set_one value, name: "speed", flags: 0, default: "a\0b", metadata: __private::Metadata::NONE } }
    }
}

#[cfg(feature = "subobject-of-itself")]
mod case {
    use super::*;
    class! { Doll DollView: Object, "Game", "Doll",
        { one: Obj<Doll>, Obj<Doll> = value, { ONE 0 set_one try_set_one value, name: "inner",
          flags: __private::property_flags::DEFAULT_SUBOBJECT, default: "", metadata: __private::Metadata::NONE } }
    }
}

#[cfg(feature = "subobjects-in-a-circle")]
mod case {
    use super::*;
    class! { Hand HandView: Object, "Game", "Hand",
        { one: Obj<Other>, Obj<Other> = value, { ONE 0 set_one try_set_one value, name: "draws",
          flags: __private::property_flags::DEFAULT_SUBOBJECT, default: "", metadata: __private::Metadata::NONE } }
    }
    class! { Other OtherView: Object, "Game", "Other",
        { two: Obj<Hand>, Obj<Hand> = value, { TWO 0 set_two try_set_two value, name: "draws",
          flags: __private::property_flags::DEFAULT_SUBOBJECT, default: "", metadata: __private::Metadata::NONE } }
    }
}

#[cfg(feature = "struct-in-itself")]
mod case {
    use super::*;
    __private::structure! {
        declared pub Snake SnakeView "The view.", package: "Game", name: "Snake", doc: "",
        [{ tail set_tail try_set_tail: UArray<Snake>, value: UArray<Snake> = value, name: "tail",
           default: "", doc: "", is_base: false }]
    }
}

/// Class with a function declared without the attribute macro.
#[cfg(any(
    feature = "property-and-function",
    feature = "many-functions",
    feature = "overrides-nothing",
    feature = "overrides-a-text",
    feature = "parameter-twice",
))]
mod case {
    use super::*;
    use __private::{Body, Function, FunctionCell, function_flags};

    class! { Maker MakerView: Object, "Game", "Maker",
        { one: u64, u64 = value, { ONE 0 set_one try_set_one value, name: "speed", flags: 0, default: "", metadata: __private::Metadata::NONE } }
    }

    enum Names {}

    const PARAMETERS: &[&str] = if cfg!(feature = "parameter-twice") { &["a", "a"] } else { &["a", "b"] };

    impl __private::Methods for Names {
        type Class = Maker;
        const NAMES: &'static [__private::MethodNames] =
            &[("speed", PARAMETERS, &[], &[]), ("again", PARAMETERS, &[], &[]), ("turn", PARAMETERS, &[], &[])];
    }

    static CELL: FunctionCell<Maker, (u64, u64), ()> = FunctionCell::new();

    /// Describes the function at position `AT` in the table of names.
    const fn make<const AT: usize>(flags: u64, overrides: &'static str) -> Function<Maker> {
        __private::method::<Names, AT, __private::Shared, (u64, u64), (), (), _>(
            (flags, &CELL, __private::Metadata::NONE),
            overrides,
            |_part, _this, _args| (),
        )
    }

    #[cfg(feature = "property-and-function")]
    const FUNCTIONS: &[Function<Maker>] = &[make::<0>(0, "")];
    #[cfg(feature = "many-functions")]
    const FUNCTIONS: &[Function<Maker>] = {
        const ONE: Function<Maker> = make::<1>(function_flags::CALLABLE, "");
        &[ONE; 20_000]
    };
    #[cfg(feature = "overrides-nothing")]
    const FUNCTIONS: &[Function<Maker>] = &[make::<2>(function_flags::OVERRIDE, "/Script/Game.Nowhere")];
    #[cfg(feature = "overrides-a-text")]
    const FUNCTIONS: &[Function<Maker>] = &[make::<2>(function_flags::OVERRIDE, "/Script/Game.A), B(\n")];
    #[cfg(feature = "parameter-twice")]
    const FUNCTIONS: &[Function<Maker>] = &[make::<2>(function_flags::CALLABLE, "")];

    impl Maker {
        const ONE_UCLASS_IMPL_BLOCK_PER_CLASS: Body<Self> = Body::new(FUNCTIONS, None, None);
    }
}

#[cfg(feature = "import-of-nothing")]
mod case {
    use super::*;
    static CELL: __private::FunctionCell<Steady, (), u32> = __private::FunctionCell::new();
    __private::register! {
        IMPORTS: __private::ImportDesc =
            __private::import_function::<Steady, (), u32>("/Script/Game.Steady:nothing", &CELL)
    }
}

#[cfg(feature = "import-of-another-type")]
mod case {
    use super::*;
    static CELL: __private::FunctionCell<Steady, (UString,), UString> = __private::FunctionCell::new();
    __private::register! {
        IMPORTS: __private::ImportDesc =
            __private::import_function::<Steady, (UString,), UString>("/Script/Game.Steady:query", &CELL)
    }
}

#[cfg(feature = "import-that-is-no-name")]
mod case {
    use super::*;
    static CELL: __private::FunctionCell<Steady, (), u32> = __private::FunctionCell::new();
    __private::register! {
        IMPORTS: __private::ImportDesc =
            __private::import_function::<Steady, (), u32>("/Script/Game.Steady:\u{202e}ksa", &CELL)
    }
}

/// Exports a name that the module exports twice, or that the host already has.
macro_rules! export {
    ($type_path:literal, $name:literal, $result:literal) => {
        __private::export! {
            type_path: $type_path, name: $name,
            () -> u32, returns: u32, location: __private::SourceLocation { file: "", line: 0, column: 0 }, || $result
        }
    };
}

#[cfg(feature = "exports-twice")]
mod case {
    use super::*;
    export! { "", "twice", 1 }
    export! { "", "twice", 2 }
}

#[cfg(feature = "methods-twice")]
mod case {
    use super::*;
    export! { "Steady", "twice", 1 }
    export! { "Steady", "twice", 2 }
}

#[cfg(feature = "call-of-another")]
mod case {
    use super::*;
    export! { "", "switchboard.add", 1 }
}

#[cfg(feature = "name-of-the-hosts")]
mod case {
    use super::*;
    export! { "", "of_the_host", 1 }
}

#[cfg(feature = "record-that-is-no-path")]
__private::type_record!(CLASS "Game", "Some\u{1b}[2J");

#[cfg(feature = "record-of-nothing")]
__private::type_record!(CLASS "Game", "Nothing");
