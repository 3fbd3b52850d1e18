//! Helpers that declare the functions of the library.

use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, function_flags, property_flags};
use alcedo_base::boundary::CallError;
use alcedo_base::handles::Name;
use alcedo_reflect::World;
use alcedo_reflect::decl::{FunctionDecl, PropertyDecl, RESULT_NAME};
use alcedo_reflect::hooks::HookContext;
use alcedo_reflect::thunk::{ArgumentKind, Frame, function_of};

use crate::cost;

/// Rust type of a parameter, with its property kind and type path.
pub(super) trait Declared {
    const KIND: PropertyKind;
    const PATH: &'static str = "";

    /// Returns the cost of one pass over the value, in rounds.
    fn cost(&self) -> u64 {
        0
    }
}

macro_rules! declared {
    ($($ty:ty => $kind:ident $(, $path:literal)?;)*) => {$(
        impl Declared for $ty {
            const KIND: PropertyKind = PropertyKind::$kind;
            $(const PATH: &'static str = $path;)?
        }
    )*};
}
declared! {
    i32 => I32; f32 => F32; bool => BOOL; Name => NAME; u8 => U8;
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

pub(super) fn problem(frame: &Frame<'_>, problem: impl std::fmt::Display) -> CallError {
    CallError::other(format!("{}: {problem}", function_of(frame).text))
}

/// Declares a parameter of a Rust type. A `String` parameter is declared `coerce`, so it accepts any value that converts to a string.
pub(super) fn param<T: Declared>(name: &str) -> PropertyDecl {
    let mut param = PropertyDecl::new(name, T::KIND).of_type(T::PATH);
    if T::KIND == PropertyKind::STRING {
        param.meta.push(("coerce".to_owned(), "true".to_owned()));
    }
    param
}

pub(super) fn result<T: Declared>() -> PropertyDecl {
    PropertyDecl::result(T::KIND).of_type(T::PATH)
}

pub(super) fn out(param: PropertyDecl) -> PropertyDecl {
    param.with_flags(property_flags::OUT)
}

/// Metadata keys that list the wildcard parameters of a function. A wildcard parameter accepts several types.
const WILDCARDS: [&str; 3] = ["array_parm", "array_type_dependent_params", CUSTOM_STRUCT];
const CUSTOM_STRUCT: &str = "custom_struct_param";

/// Marks a parameter or result as a wildcard. [`custom`] moves the key to the metadata of the function.
fn wildcard(mut param: PropertyDecl, key: &str) -> PropertyDecl {
    if param.name == RESULT_NAME {
        param.flags |= property_flags::RETURN;
    }
    param.meta.push((key.to_owned(), String::new()));
    param
}

pub(super) fn any_array(name: &str) -> PropertyDecl {
    wildcard(PropertyDecl::new(name, PropertyKind::ARRAY).of_type("i32"), WILDCARDS[0])
}

/// Declares a parameter or result with the element type of the array.
pub(super) fn any_item(name: &str) -> PropertyDecl {
    wildcard(PropertyDecl::new(name, PropertyKind::I32), WILDCARDS[1])
}

/// Declares a parameter that accepts a key, a value or an item of the set or map that the call receives.
pub(super) fn any_value(name: &str) -> PropertyDecl {
    wildcard(PropertyDecl::new(name, PropertyKind::I32), CUSTOM_STRUCT)
}

pub(super) fn any_set(name: &str) -> PropertyDecl {
    wildcard(PropertyDecl::new(name, PropertyKind::SET).of_type("i32"), CUSTOM_STRUCT)
}

pub(super) fn any_map(name: &str) -> PropertyDecl {
    wildcard(PropertyDecl::new(name, PropertyKind::MAP).of_type("i32, i32"), CUSTOM_STRUCT)
}

pub(super) fn any_struct(name: &str) -> PropertyDecl {
    wildcard(PropertyDecl::new(name, PropertyKind::STRUCT).of_type("/Script/Script.AnyStruct"), CUSTOM_STRUCT)
}

/// Body of a library function. In contrast to a thunk, receives the world instead of the hook context.
pub(super) type Body = fn(&World, &mut Frame<'_>) -> Result<(), CallError>;

/// Declares a function with a custom thunk. The metadata of the function lists its wildcard parameters.
pub(super) fn custom(name: &str, doc: &str, mut params: Vec<PropertyDecl>, body: Body) -> FunctionDecl {
    let mut wildcards: Vec<(String, String)> = Vec::new();
    for param in &mut params {
        for (key, _) in param.meta.extract_if(.., |(key, _)| WILDCARDS.contains(&key.as_str())) {
            match wildcards.iter_mut().find(|(known, _)| *known == key) {
                Some((_, names)) => names.push_str(&format!(",{}", param.name)),
                None => wildcards.push((key, param.name.clone())),
            }
        }
    }
    let mut decl = pure(name, doc, params, body);
    decl.flags = function_flags::STATIC | function_flags::CALLABLE | function_flags::CUSTOM_THUNK;
    decl.meta = wildcards;
    decl.meta.push(("custom_thunk".to_owned(), String::new()));
    decl
}

/// Reads the only argument of a function, a container, and returns the number of the container's elements.
pub(super) fn stepped_len<K: ArgumentKind>(frame: &mut Frame<'_>) -> Result<u32, CallError> {
    let target = frame.step_compiled_in::<K>()?;
    frame.finish()?;
    Ok(frame.value(target).count().unwrap_or_default())
}

pub(super) fn length<K: ArgumentKind>(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let len = stepped_len::<K>(frame)?;
    frame.set_result(len as i32)
}

pub(super) fn is_empty<K: ArgumentKind>(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let len = stepped_len::<K>(frame)?;
    frame.set_result(len == 0)
}

/// Declares a function without side effects.
pub(super) fn pure(name: &str, doc: &str, params: Vec<PropertyDecl>, body: Body) -> FunctionDecl {
    let thunk = Rc::new(move |context: HookContext<'_>, frame: &mut Frame<'_>| body(World::of(context), frame));
    let mut decl = FunctionDecl::new(name, thunk);
    decl.flags = function_flags::STATIC | function_flags::CALLABLE | function_flags::PURE;
    decl.params = params;
    decl.doc = doc.to_owned();
    decl
}

/// Declares a function with side effects.
pub(super) fn action(name: &str, doc: &str, params: Vec<PropertyDecl>, body: Body) -> FunctionDecl {
    let mut decl = pure(name, doc, params, body);
    decl.flags &= !function_flags::PURE;
    decl
}

/// Declares a pure function whose parameters have Rust types: `plain!("name", "doc", |a: f32, b: f32| -> f32 { … })`. A name before the
/// parameters is bound to the world.
macro_rules! plain {
    ($name:literal, $doc:literal, || -> $result:ty $body:block) => {
        $crate::library::build::plain!($name, $doc, | | -> $result $body)
    };
    (
        $name:literal, $doc:literal, $($world:ident,)?
        |$($param:ident: $ty:ty $(= $default:literal)?),*| -> $result:ty $body:block
    ) => {
        $crate::library::build::pure(
            $name,
            $doc,
            vec![
                $($crate::library::build::param::<$ty>(stringify!($param))$(.with_default($default))?,)*
                $crate::library::build::result::<$result>(),
            ],
            |_world, frame| {
                $(let $world = _world;)?
                $(
                    let $param = frame.take::<$ty>()?;
                    $crate::cost::add($crate::library::build::Declared::cost(&$param));
                )*
                frame.finish()?;
                let result: $result = $body;
                frame.set_result(result)
            },
        )
    };
}
pub(super) use plain;
