//! Declares the functions of the library from Rust functions with doc comments.

use std::fmt::Display;
use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, function_flags, property_flags};
use alcedo_base::boundary::CallError;
use alcedo_base::handles::{Name, ObjectHandle};
use alcedo_reflect::World;
use alcedo_reflect::decl::{FunctionDecl, PropertyDecl, RESULT_NAME};
use alcedo_reflect::function::WILDCARDS;
use alcedo_reflect::hooks::HookContext;
use alcedo_reflect::thunk::{AnyArray, AnyMap, AnySet, AnyStruct, AnyValue, Frame, Param, function_of};
use alcedo_reflect::typed::FrameValue;
use alcedo_reflect::typed_values::words::SubclassOf;

use crate::cost;

/// Type of a parameter in the list that follows `library!`.
pub(super) trait Parameter {
    /// Argument in the body. For a wildcard, the argument is the location of the value.
    type Argument;

    /// Declares a parameter.
    fn declare(name: &str) -> PropertyDecl;

    /// Takes the next argument. For a string, adds the cost of one pass.
    fn take(frame: &mut Frame<'_>) -> Result<Self::Argument, CallError>;
}

/// Rust type of a parameter or result, with its property kind and type path.
pub(super) trait Declared: FrameValue {
    const KIND: PropertyKind;
    const PATH: &'static str = "";

    /// Returns the cost of one pass over the value, in rounds.
    fn cost(&self) -> u64 {
        0
    }
}

macro_rules! declared {
    ($($ty:ty => $kind:ident;)*) => {$(
        impl Declared for $ty {
            const KIND: PropertyKind = PropertyKind::$kind;
        }
    )*};
}
declared! {
    i32 => I32; f32 => F32; bool => BOOL; Name => NAME; ObjectHandle => OBJECT; SubclassOf => SUBCLASS_OF;
}

impl Declared for String {
    const KIND: PropertyKind = PropertyKind::STRING;

    fn cost(&self) -> u64 {
        cost::of_text(self.len())
    }
}

impl Declared for Vec<String> {
    const KIND: PropertyKind = PropertyKind::ARRAY;
    const PATH: &'static str = "String";

    fn cost(&self) -> u64 {
        self.len() as u64 + self.iter().map(Declared::cost).sum::<u64>()
    }
}

impl<T: Declared> Parameter for T {
    type Argument = T;

    /// Declares a parameter. A `String` parameter is declared `coerce`, so it accepts any value that converts to a string.
    fn declare(name: &str) -> PropertyDecl {
        let mut param = PropertyDecl::new(name, T::KIND).of_type(T::PATH);
        if T::KIND == PropertyKind::STRING {
            param.meta.push(("coerce".to_owned(), "true".to_owned()));
        }
        param
    }

    #[inline]
    fn take(frame: &mut Frame<'_>) -> Result<T, CallError> {
        let argument = frame.take::<T>()?;
        cost::add(argument.cost());
        Ok(argument)
    }
}

pub(super) fn problem(frame: &Frame<'_>, problem: impl Display) -> CallError {
    CallError::other(format!("{}: {problem}", function_of(frame).text))
}

pub(super) fn result<T: Declared>() -> PropertyDecl {
    PropertyDecl::result(T::KIND).of_type(T::PATH)
}

/// Wildcard with the element type of the array that the call receives.
pub(super) enum AnyItem {}

const CUSTOM_STRUCT: &str = WILDCARDS[0];

/// Declares the types of wildcard parameters. Each line contains the Rust type, the accepted values, the declared placeholder type, and the
/// metadata key. [`function`] moves the key from the parameter to the metadata of the function. A wildcard behind `&mut` is an out
/// parameter.
macro_rules! wildcards {
    ($($ty:ident, $category:ident: $kind:ident, $path:literal, $key:expr;)*) => {$(
        impl Parameter for $ty {
            type Argument = Param;

            fn declare(name: &str) -> PropertyDecl {
                let mut param = PropertyDecl::new(name, PropertyKind::$kind).of_type($path);
                if name == RESULT_NAME {
                    param.flags |= property_flags::RETURN;
                }
                param.meta.push(($key.to_owned(), String::new()));
                param
            }

            fn take(frame: &mut Frame<'_>) -> Result<Param, CallError> {
                frame.step_compiled_in::<$category>()
            }
        }

        impl Parameter for &mut $ty {
            type Argument = Param;

            fn declare(name: &str) -> PropertyDecl {
                <$ty as Parameter>::declare(name).with_flags(property_flags::OUT)
            }

            fn take(frame: &mut Frame<'_>) -> Result<Param, CallError> {
                frame.step_compiled_in_ref::<$category>()
            }
        }
    )*};
}
wildcards! {
    AnyArray, AnyArray: ARRAY, "i32", WILDCARDS[1];
    AnyItem, AnyValue: I32, "", WILDCARDS[2];
    AnyValue, AnyValue: I32, "", CUSTOM_STRUCT;
    AnySet, AnySet: SET, "i32", CUSTOM_STRUCT;
    AnyMap, AnyMap: MAP, "i32, i32", CUSTOM_STRUCT;
    AnyStruct, AnyStruct: STRUCT, "/Script/Script.AnyStruct", CUSTOM_STRUCT;
}

/// Body of a library function. In contrast to a thunk, receives the world instead of the hook context.
pub(super) type Body = fn(&World, &mut Frame<'_>) -> Result<(), CallError>;

/// Declares a function. A function with wildcards has a custom thunk, and lists the wildcards in its metadata. A function with a result and
/// without out parameters is declared as pure. Random functions are also pure, because their state is not part of the world.
pub(super) fn function(name: &str, doc: &str, mut params: Vec<PropertyDecl>, body: Body) -> FunctionDecl {
    let mut meta: Vec<(String, String)> = Vec::new();
    for param in &mut params {
        for (key, _) in param.meta.extract_if(.., |(key, _)| WILDCARDS.contains(&key.as_str())) {
            match meta.iter_mut().find(|(known, _)| *known == key) {
                Some((_, names)) => names.push_str(&format!(",{}", param.name)),
                None => meta.push((key, param.name.clone())),
            }
        }
    }
    let mut flags = function_flags::STATIC | function_flags::CALLABLE;
    if !meta.is_empty() {
        flags |= function_flags::CUSTOM_THUNK;
        meta.push(("custom_thunk".to_owned(), String::new()));
    }
    let has = |flag| params.iter().any(|param| param.flags & flag != 0);
    if has(property_flags::RETURN) && !has(property_flags::OUT) {
        flags |= function_flags::PURE;
    }
    let thunk = Rc::new(move |context: HookContext<'_>, frame: &mut Frame<'_>| body(World::of(context), frame));
    FunctionDecl { flags, params, meta, doc: doc.trim().to_owned(), ..FunctionDecl::new(name, thunk) }
}

/// Declares library functions. The two names before the functions denote the world and the frame in the bodies. A parameter may have a
/// default, as in `b: f32 = "1"`. `=>` precedes the wildcard of a result that the body itself writes to the frame.
macro_rules! library {
    (@return $frame:ident $body:block) => {{
        let () = $body;
        Ok(())
    }};
    (@return $frame:ident $body:block $result:ty) => {{
        let result: $result = $body;
        $frame.set_result(result)
    }};
    ($world:ident, $frame:ident: $(
        $(#[doc = $doc:literal])+
        fn $name:ident($($param:ident: $ty:ty $(= $default:literal)?),*) $(-> $result:ty)? $(=> $wildcard:ident)?
        $body:block
    )*) => {
        vec![$($crate::library::build::function(
            stringify!($name),
            concat!($($doc),+),
            vec![
                $(<$ty as $crate::library::build::Parameter>::declare(stringify!($param))$(.with_default($default))?,)*
                $($crate::library::build::result::<$result>(),)?
                $(<$wildcard as $crate::library::build::Parameter>::declare(alcedo_reflect::decl::RESULT_NAME),)?
            ],
            |$world, $frame| {
                let _ = $world;
                $(let $param = <$ty as $crate::library::build::Parameter>::take($frame)?;)*
                $frame.finish()?;
                $crate::library::build::library!(@return $frame $body $($result)?)
            },
        ),)*]
    };
}
pub(super) use library;
