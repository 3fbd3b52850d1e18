//! Performs ZCalls with dynamic values, for hosts, tools and tests. The signature string of the callee determines the slots.

use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;

use crate::boundary::{CallError, catch_panics, not_found};
use crate::bridge::core::{Core, alive};
use crate::bridge::delegates;
use crate::bridge::slots::{self, Source};
use crate::handles::ZCallHandle;
use crate::object::mode::Reach;
use crate::object::origin::Origin;
use crate::object::owned::OwnedValue;
use crate::object::property::PropertyType;
use crate::object::type_text::TypeText;
use crate::object::value::{Binding, Value};
use crate::signature::{self, Signature, Travel, travel};
use crate::zcall::buffer::BufferMut;
pub(crate) use crate::zcall::call::Effect;
use crate::zcall::call::{Call, Callee, Resolved, Slots};
use crate::zcall::owned::DynBuffer;

/// Resolves `name` and calls the function. For an object function, the first argument is the object. Returns an error if the name cannot be
/// resolved, the arguments do not match the signature, or the callee fails.
#[cfg(test)]
pub(crate) fn zcall(core: &Core, name: &str, arguments: &[Value]) -> Result<Option<Value>, CallError> {
    call(core, resolve(core, name)?, arguments)
}

/// Returns the handle of `name`, without a check of the signature. Returns an error if the name cannot be resolved.
pub(crate) fn resolve(core: &Core, name: &str) -> Result<ZCallHandle, CallError> {
    let _call = core.world.stack.enter(&format_args!("resolving `{name}`"))?;
    core.zcalls.resolve(&core.chain, name, 0)
}

/// Calls through a handle. For an object function, the first argument is the object. Returns an error if the handle's generation has ended,
/// the arguments do not match the signature, or the callee fails.
pub(crate) fn call(core: &Core, handle: ZCallHandle, arguments: &[Value]) -> Result<Option<Value>, CallError> {
    call_with_out_parameters(core, handle, arguments).map(|(result, _)| result)
}

/// Calls through a handle like [`call`], and also returns the out parameters in order. Returns the same errors.
pub(crate) fn call_with_out_parameters(
    core: &Core,
    handle: ZCallHandle,
    arguments: &[Value],
) -> Result<(Option<Value>, Vec<Value>), CallError> {
    core.world.slices.allow_change(&"a call by name")?;
    let Some(callee) = core.zcalls.callee(handle) else {
        // The handle is invalid. The dispatch accesses no slot, and returns the error for the handle.
        return core
            .zcalls
            .dispatch(core.here(), handle, DynBuffer::with_len(0).as_buffer_mut())
            .1
            .map(|()| (None, Vec::new()));
    };
    let _call = core.world.stack.enter(&format_args!("`{}`", callee.name()))?;
    let signature = signature::types(&callee)?;
    let receivers = match callee.slots() {
        Slots::Property => {
            return property(core, handle, &callee, signature, arguments).map(|value| (value, Vec::new()));
        }
        Slots::Delegate => return delegate(core, &callee, arguments).map(|value| (value, Vec::new())),
        Slots::Function => arguments.len().wrapping_sub(signature.0.arguments.len()),
    };
    let (name, words) = (callee.name(), callee.signature().text());
    if receivers > 1 {
        return Err(CallError::Buffer {
            message: format!("`{name}` ({words}) does not take {} arguments, the object included", arguments.len()),
        });
    }
    let expected: Vec<_> = std::iter::repeat_n(&RECEIVER, receivers).chain(&signature.0.arguments).collect();
    let mut values = Vec::new();
    let out_params: Vec<_> = signature.0.out_parameters.iter().map(|at| &signature.0.arguments[*at]).collect();
    let last = arguments.len() + out_params.len();
    let mut buffer = DynBuffer::with_len(last + usize::from(signature.0.result.is_some()));
    for (at, (argument, expected)) in arguments.iter().zip(expected).enumerate() {
        if argument.kind() != expected.kind() {
            let found = argument.kind().text().unwrap_or("?");
            let message = format!("`{name}` ({words}): argument {at} is {found}, it must be {expected}");
            return Err(CallError::Buffer { message });
        }
        let location = || format!("`{name}` ({words}): argument {at}");
        put(core, &mut buffer, at, argument, expected, &mut values, location)?;
    }
    let out_params = out_params.into_iter().zip(arguments.len()..);
    let out_params = out_params.map(|(word, at)| Ok((at, word, await_result(core, &mut buffer, at, word)?)));
    let out_params = out_params.collect::<Result<Vec<_>, CallError>>()?;
    let result = signature.0.result.as_deref();
    let awaited = result.map(|word| await_result(core, &mut buffer, last, word)).transpose()?.flatten();
    let (_status, outcome) = core.zcalls.dispatch(core.here(), handle, buffer.as_buffer_mut());
    outcome?;
    let out_params = out_params.into_iter().map(|(at, word, awaited)| take(&mut buffer, at, word, awaited));
    let out_params = out_params.collect::<Result<_, _>>()?;
    Ok((result.map(|word| take(&mut buffer, last, word, awaited)).transpose()?, out_params))
}

/// Calls a delegate value with the signature of its bound function.
fn delegate(core: &Core, callee: &Callee, arguments: &[Value]) -> Result<Option<Value>, CallError> {
    let Some((bound @ (Value::Delegate(_) | Value::Multicast(_) | Value::Sparse(_)), arguments)) =
        arguments.split_first()
    else {
        let message = format!("`{}` takes the delegate first, and then the arguments of the delegate", callee.name());
        return Err(CallError::Buffer { message });
    };
    let signature_of = |binding: &Binding| {
        let class = delegates::class_of(&core.world, binding)?;
        Some(delegates::bound_function(&core.world, &class, binding)?.signature_text().to_owned())
    };
    let unbound = || not_found("the delegate is not bound to a function of a living object: bind it first");
    let signature = delegates::bindings(bound).iter().find_map(signature_of).ok_or_else(unbound)?;
    let word = match bound {
        Value::Multicast(_) => "MulticastDelegate",
        Value::Sparse(_) => "SparseDelegate",
        _ => "Delegate",
    };
    let ty = PropertyType::parse(&format!("{word}({signature})"), &core.world.types)
        .map_err(|error| not_found(error.to_string()))?;
    let call = || catch_panics(|| delegates::call_with_values(&core.world, &ty, None, bound, arguments));
    core.zcalls.watched(callee.name().protocol(), "nd:/", call)
}

/// Type of the receiver of a function: an object of any class. The thunk of the callee checks the class.
pub(crate) static RECEIVER: TypeText = TypeText::Reference(PropertyKind::OBJECT, String::new());

/// Accesses a property: reads the property if there is one argument, and writes the property if there are two arguments.
fn property(
    core: &Core,
    handle: ZCallHandle,
    callee: &Callee,
    signature: &Signature,
    arguments: &[Value],
) -> Result<Option<Value>, CallError> {
    const READ: u8 = 0;
    const WRITE: u8 = 1;
    let Some(word) = signature.0.arguments.first() else {
        return Err(CallError::other("a property without a type"));
    };
    let mut values = Vec::new();
    let mut awaited = None;
    let mut buffer = DynBuffer::with_len(3);
    match arguments {
        [Value::Object(object)] => {
            buffer.set(0, *object)?;
            buffer.set(1, READ)?;
            awaited = await_result(core, &mut buffer, 2, word)?;
        }
        [Value::Object(object), value] if value.kind() == word.kind() => {
            buffer.set(0, *object)?;
            buffer.set(1, WRITE)?;
            let location = || format!("`{}`", callee.name());
            put(core, &mut buffer, 2, value, word, &mut values, location)?;
        }
        _ => {
            let message = format!("`{}` takes the object, and to write also a {word}", callee.name().protocol());
            return Err(CallError::Buffer { message });
        }
    }
    let (_status, result) = core.zcalls.dispatch(core.here(), handle, buffer.as_buffer_mut());
    result?;
    (arguments.len() == 1).then(|| take(&mut buffer, 2, word, awaited)).transpose()
}

/// Calls a function that needs no runtime. Arguments and results are strings and plain values. Callable on any thread. Returns an error if
/// the arguments do not match the signature, a value does not fit in a slot, or the callee fails.
pub(crate) fn call_plainly(
    name: &str,
    signature: &Signature,
    arguments: &[Value],
    callee: impl FnOnce(BufferMut<'_>) -> Result<(), CallError>,
) -> Result<Option<Value>, CallError> {
    let refuse = |message: String| CallError::Buffer { message: format!("`{name}` ({signature}){message}") };
    if arguments.len() != signature.0.arguments.len() {
        return Err(refuse(format!(" does not take {} arguments", arguments.len())));
    }
    signature.needs_no_runtime(name)?;
    let last = arguments.len();
    let mut buffer = DynBuffer::with_len(last + usize::from(signature.0.result.is_some()));
    for (at, (argument, expected)) in arguments.iter().zip(&signature.0.arguments).enumerate() {
        if argument.kind() != expected.kind() {
            let found = argument.kind().text().unwrap_or("?");
            return Err(refuse(format!(": argument {at} is {found}, it must be {expected}")));
        }
        match argument {
            Value::Text(text) => buffer.text_in(at, text)?,
            plain => set_plain(&mut buffer.as_buffer_mut(), at, plain)?,
        }
    }
    let result = signature.0.result.as_deref();
    if result.is_some_and(|word| word.kind() == PropertyKind::STRING) {
        buffer.text_out(last)?;
    }
    callee(buffer.as_buffer_mut())?;
    result.map(|word| take(&mut buffer, last, word, None)).transpose()
}

fn type_of(core: &Core, word: &TypeText) -> Result<PropertyType, CallError> {
    PropertyType::resolve(word, &core.world.types)
        .map_err(|error| not_found(format!("a {word} cannot be passed: {error}")))
}

/// Prepares a slot for a result. If the result does not fit in the slot, creates a value, stores the address of the value in the slot, and
/// returns the value. The callee then writes the result to this value.
fn await_result(
    core: &Core,
    buffer: &mut DynBuffer<'_>,
    at: usize,
    word: &TypeText,
) -> Result<Option<OwnedValue>, CallError> {
    match travel(word.kind()) {
        Travel::Text => buffer.text_out(at).map(|()| None),
        Travel::Slot => Ok(None),
        Travel::Address => {
            let value = OwnedValue::zero(type_of(core, word)?);
            slots::pass_value(buffer, at, &value)?;
            Ok(Some(value))
        }
    }
}

/// Checks that objects in the result of a host function match the registered signature. Returns [`CallError::WrongClass`] if an object is
/// not of the class in the signature. `name` is the full name of the function.
pub(crate) fn check_result(core: &Core, name: &str, signature: &Signature, value: &Value) -> Result<(), CallError> {
    match signature.0.result.as_deref() {
        Some(word) if value.kind() == word.kind() && may_name_objects(word) => {
            core.world.check_objects(&type_of(core, word)?, value, || format!("the result of `{name}`"))
        }
        _ => Ok(()),
    }
}

/// Checks if values of the type may contain objects. Numbers and strings contain no objects.
fn may_name_objects(word: &TypeText) -> bool {
    word.kind() == PropertyKind::OBJECT || matches!(travel(word.kind()), Travel::Address)
}

/// Writes an argument to a slot. If the argument does not fit in a slot, the argument is stored in `values` until the call returns.
fn put<'a>(
    core: &Core,
    buffer: &mut DynBuffer<'a>,
    at: usize,
    value: &'a Value,
    word: &TypeText,
    values: &mut Vec<OwnedValue>,
    location: impl FnOnce() -> String,
) -> Result<(), CallError> {
    match value {
        Value::Text(text) => buffer.text_in(at, text),
        // The signature states no class for the receiver. The thunk of the callee checks this class.
        Value::Object(object) if !object.is_none() && !word.path().is_empty() => {
            core.world.check_objects(&type_of(core, word)?, value, location)?;
            set_plain(&mut buffer.as_buffer_mut(), at, value)
        }
        plain if plain.kind().fits_slot() => set_plain(&mut buffer.as_buffer_mut(), at, plain),
        value => {
            let ty = type_of(core, word)?;
            core.world.check_objects(&ty, value, location)?;
            let mut own = OwnedValue::initial(ty);
            own.write(value).map_err(|error| CallError::other(error.to_string()))?;
            slots::pass_value(buffer, at, &own)?;
            values.push(own);
            Ok(())
        }
    }
}

fn take(
    buffer: &mut DynBuffer<'_>,
    at: usize,
    word: &TypeText,
    awaited: Option<OwnedValue>,
) -> Result<Value, CallError> {
    match (awaited, word.kind()) {
        (Some(value), _) => Ok(value.read()),
        (None, PropertyKind::STRING) => Ok(Value::Text(buffer.take_text(at)?)),
        (None, plain) => get_plain(&buffer.as_buffer_mut(), at, plain),
    }
}

/// Defines the functions that read and write values in slots. The arguments are the kind and the variant of each value type that fits in a
/// slot, except references.
macro_rules! plain_values {
    ($($kind:ident $variant:ident),*) => {
        pub(crate) fn get_plain(slots: &BufferMut<'_>, at: usize, kind: PropertyKind) -> Result<Value, CallError> {
            Ok(match kind {
                $(PropertyKind::$kind => Value::$variant(slots.get(at)?),)*
                _ => Value::Object(slots.get(at)?),
            })
        }

        pub(crate) fn set_plain(slots: &mut BufferMut<'_>, at: usize, value: &Value) -> Result<(), CallError> {
            match value {
                $(Value::$variant(value) => slots.set(at, *value),)*
                Value::Object(value) => slots.set(at, *value),
                other => {
                    let kind = other.kind().text().unwrap_or("?");
                    Err(CallError::Buffer { message: format!("slot {at}: a {kind} is not stored in a slot itself") })
                }
            }
        }
    };
}
plain_values! {
    U8 U8, U16 U16, U32 U32, U64 U64, I8 I8, I16 I16, I32 I32, I64 I64, F32 F32, F64 F64, BOOL Bool, NAME Name
}

/// Host function with dynamic arguments and results.
pub(crate) type Body = Rc<dyn Fn(&[Value]) -> Result<Option<Value>, CallError>>;

pub(crate) fn reach(effect: Effect) -> Reach {
    match effect {
        Effect::Pure => Reach::Pure,
        Effect::Any => Reach::Host,
    }
}

/// Registers a host function as `ex:/name`. Returns an error if the name is used or invalid, and the errors of [`host_function`].
pub(crate) fn register(
    core: &Rc<Core>,
    name: &str,
    signature: Signature,
    effect: Effect,
    body: Body,
) -> Result<(), CallError> {
    let function = host_function(core, format!("ex:/{name}"), signature, effect, body)?;
    core.explicit.register(name, function)
}

/// Creates a host function for calls by `path`. Returns an error if a type does not exist, or if a reload could change the fields of a
/// type.
pub(crate) fn host_function(
    core: &Rc<Core>,
    path: String,
    signature: Signature,
    effect: Effect,
    body: Body,
) -> Result<Resolved, CallError> {
    let name = path.strip_prefix("ex:/").unwrap_or(&path);
    let lasting = |word: &TypeText| {
        let ty = type_of(core, word)?;
        if ty.any_struct(&|of| of.origin != Origin::Native) {
            return Err(CallError::other(format!(
                "`{name}`: {word} may have other fields after a reload, so it cannot be passed to a function registered with \
                 values: pass its fields"
            )));
        }
        Ok(ty)
    };
    let params: Vec<PropertyType> = signature.0.arguments.iter().map(lasting).collect::<Result<_, _>>()?;
    let result = signature.0.result.as_deref().map(lasting).transpose()?;
    let is_of_module =
        |ty: &PropertyType| ty.any(&|ty| matches!(ty, PropertyType::Enum(of) if of.origin != Origin::Native));
    // A reload may change the numbers of a module's enum. If the signature contains such an enum, each call looks up the types.
    let lasts = !params.iter().chain(&result).any(is_of_module);
    let known = lasts.then_some((params, result));
    let host = Rc::downgrade(core);
    let (words, mode, types) = (signature.to_string(), core.world.mode.clone(), signature.0.clone());
    let call = move |call: Call<'_>| {
        let mut buffer = call.into_buffer();
        mode.may_call(&path, || reach(effect))?;
        let current;
        let (params, result) = match &known {
            Some(known) => known,
            None => {
                current = delegates::types_of(&types, &alive(&host)?.world)?;
                &current
            }
        };
        let count = params.len();
        buffer.expect_len(count + usize::from(result.is_some()))?;
        let arguments = params.iter().enumerate().map(|(at, ty)| read_argument(&buffer, at, ty));
        let arguments: Vec<_> = arguments.collect::<Result<_, _>>()?;
        let returned = body(&arguments)?;
        check_kind(&words, result.as_ref().map(PropertyType::kind), returned.as_ref())?;
        let returned = result.as_ref().zip(returned);
        returned.map_or(Ok(()), |(ty, value)| write_result(&mut buffer, count, ty, &value))
    };
    Ok(Resolved::new(signature, call))
}

fn check_kind(words: &str, expected: Option<PropertyKind>, result: Option<&Value>) -> Result<(), CallError> {
    let found = result.map(Value::kind);
    match expected == found {
        true => Ok(()),
        false => Err(CallError::other(format!(
            "the body of ({words}) returned {:?}: correct its signature",
            found.map(|kind| kind.text().unwrap_or("?"))
        ))),
    }
}

/// Host function for any thread. Reads its arguments from slots, and writes its result to the slot after the arguments.
pub(crate) type PlainBody = dyn Fn(&mut BufferMut<'_>) -> Result<(), CallError> + Send + Sync;

/// Creates a host function that any thread can call without a runtime. The returned function reads strings and plain values from slots, and
/// writes its result to a slot. Returns an error if a value of the signature does not fit in a slot.
pub(crate) fn plain_body(
    name: &str,
    signature: &Signature,
    body: impl Fn(&[Value]) -> Result<Option<Value>, CallError> + Send + Sync + 'static,
) -> Result<Box<PlainBody>, CallError> {
    signature.needs_no_runtime(name)?;
    let (types, words) = (signature.0.clone(), signature.to_string());
    Ok(Box::new(move |buffer: &mut BufferMut<'_>| {
        let (arguments, result) = (&types.arguments, types.result.as_deref());
        buffer.expect_len(arguments.len() + usize::from(result.is_some()))?;
        let mut values = Vec::with_capacity(arguments.len());
        for (at, word) in arguments.iter().enumerate() {
            values.push(match travel(word.kind()) {
                Travel::Slot => get_plain(buffer, at, word.kind())?,
                Travel::Text | Travel::Address => read_argument(buffer, at, &PropertyType::Text)?,
            });
        }
        let returned = body(&values)?;
        check_kind(&words, result.map(TypeText::kind), returned.as_ref())?;
        match returned {
            None => Ok(()),
            Some(Value::Text(text)) => slots::set_text(buffer, arguments.len(), &text),
            Some(plain) => set_plain(buffer, arguments.len(), &plain),
        }
    }))
}

fn read_argument(buffer: &BufferMut<'_>, at: usize, ty: &PropertyType) -> Result<Value, CallError> {
    match travel(ty.kind()) {
        Travel::Slot => get_plain(buffer, at, ty.kind()),
        Travel::Text | Travel::Address => Ok(match slots::source(buffer, at, ty)? {
            Source::Text(text) => Value::Text(text.to_owned()),
            Source::Value(value) => value.read(),
        }),
    }
}

fn write_result(buffer: &mut BufferMut<'_>, at: usize, ty: &PropertyType, value: &Value) -> Result<(), CallError> {
    match (travel(ty.kind()), value) {
        (Travel::Text, Value::Text(text)) => slots::set_text(buffer, at, text),
        (Travel::Address, value) => {
            let written = slots::target(buffer, at, ty)?.write(value);
            written.map_err(|error| CallError::other(error.to_string()))
        }
        (_, plain) => set_plain(buffer, at, plain),
    }
}

#[cfg(test)]
mod fuzz_tests;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::rc::Rc;

    use alcedo_abi::kinds::{PropertyKind, property_flags};

    use super::{Effect, Signature, call, register, resolve, zcall};
    use crate::boundary::CallError;
    use crate::bridge::core::Core;
    use crate::handles::ObjectHandle;
    use crate::object::World;
    use crate::object::decl::{Batch, ClassDecl, EnumDecl, FunctionDecl, PropertyDecl, StructDecl};
    use crate::object::enums::EnumEntry;
    use crate::object::origin::Origin;
    use crate::object::property::PropertyType;
    use crate::object::testing::native_thunk;
    use crate::object::thunk::Frame;
    use crate::object::value::Value;
    use crate::signature::READ;

    #[test]
    fn a_signature_reads_as_it_is_written() {
        for text in [
            "i32, String -> bool",
            "",
            "-> u64",
            "f64",
            "/Script/Engine.Vector -> Object(/Script/Engine.Actor)",
            "Map(String, Array(f64)), Delegate(f32 -> bool) -> Optional(u8)",
        ] {
            let signature: Signature = text.parse().expect("a signature");
            assert_eq!(signature.to_string(), text);
        }
        assert!("i32, potato".parse::<Signature>().is_err());
    }

    /// Creates a host with the class `/Script/Game.Thing`. The class has a property `notes: Map(String, Array(String))` and a function
    /// `shout(words: Array(String), counts: Map(String, u32)) -> Label`. The struct `Label` has the fields `(text: String, of:
    /// Array(u32))`.
    fn host() -> (Rc<Core>, ObjectHandle) {
        let core = Core::new().expect("a finalizer thread");
        core.world.types.declare_package("Game");
        let label = StructDecl {
            fields: vec![
                PropertyDecl::new("text", PropertyKind::STRING),
                PropertyDecl::new("of", PropertyKind::ARRAY).of_type("u32"),
            ],
            ..StructDecl::new("Game", "Label", Origin::Native)
        };
        let label_path = "/Script/Game.Label";
        let shout = FunctionDecl {
            params: vec![
                PropertyDecl::new("words", PropertyKind::ARRAY).of_type("String"),
                PropertyDecl::new("counts", PropertyKind::MAP).of_type("String, u32"),
                PropertyDecl::new("label", PropertyKind::STRUCT).of_type(label_path),
                PropertyDecl::new("result", PropertyKind::OPTIONAL)
                    .of_type(label_path)
                    .with_flags(property_flags::RETURN),
            ],
            ..FunctionDecl::new("shout", native_thunk(shout))
        };
        let notes = PropertyDecl::new("notes", PropertyKind::MAP).of_type("String, Array(String)");
        let thing = ClassDecl {
            functions: vec![shout],
            properties: vec![notes],
            ..ClassDecl::new("Game", "Thing", "", Origin::Native)
        };
        let batch = Batch { structs: vec![label], classes: vec![thing], ..Batch::default() };
        let class = core.world.types.declare(&core.world.names, &batch).expect("right types").classes.remove(0);
        let object = core.world.objects.allocate(&class, None, ObjectHandle::NONE, 0);
        (core, object)
    }

    /// Returns all strings in upper case, each repeated by its count. Returns `none` without strings.
    fn shout(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
        let words: Vec<String> = frame.take()?;
        let counts: BTreeMap<String, u32> = frame.take()?;
        let label = frame.take_value()?;
        frame.finish()?;
        let times = |word: &String| counts.get(word).copied().unwrap_or(1);
        let text: String = words.iter().map(|word| word.to_uppercase().repeat(times(word) as usize)).collect();
        let of = words.iter().map(|word| Value::U32(times(word))).collect();
        assert_eq!(label.print(&world.names), r#"(text="x", of=(1, 2))"#);
        let value = Value::Struct(vec![("text".into(), Value::Text(text)), ("of".into(), Value::Array(of))]);
        frame.set_result_value(&Value::Optional((!words.is_empty()).then(|| Box::new(value))))
    }

    fn value(core: &Core, ty: &str, text: &str) -> Value {
        let ty = PropertyType::parse(ty, &core.world.types).expect("it is a type");
        Value::parse(text, &ty, &core.world.names).expect("it is a value")
    }

    #[test]
    fn containers_and_owning_structs_round_trip_through_slots() {
        let (core, object) = host();
        let call = |words, counts| {
            let arguments = [
                Value::Object(object),
                value(&core, "Array(String)", words),
                value(&core, "Map(String, u32)", counts),
                value(&core, "/Script/Game.Label", "(text=x, of=(1, 2))"),
            ];
            let result = zcall(&core, "uf:/Script/Game.Thing:shout", &arguments).expect("it can be called");
            result.expect("it has a result").print(&core.world.names)
        };
        assert_eq!(call("(a, b)", "((b, 2))"), r#"some((text="ABB", of=(1, 2)))"#);
        assert_eq!(call("()", "()"), "none");
        let wrong =
            [Value::Object(object), Value::Array(vec![Value::U8(1)]), Value::Map(vec![]), Value::Struct(vec![])];
        let error = zcall(&core, "uf:/Script/Game.Thing:shout", &wrong).unwrap_err();
        assert_eq!(error.to_string(), "a u8 cannot be written to a String: convert it first");
    }

    #[test]
    fn signatures_are_parsed_at_resolution_and_never_by_a_call() {
        let (core, object) = host();
        register(
            &core,
            "nothing",
            "-> u32".parse().expect("a signature"),
            Effect::Any,
            Rc::new(|_| Ok(Some(Value::U32(1)))),
        )
        .expect("the name is free");
        let object = Value::Object(object);
        let words = value(&core, "Array(String)", "(a)");
        let label = value(&core, "/Script/Game.Label", "(text=x, of=(1, 2))");
        let counts = value(&core, "Map(String, u32)", "()");
        for (name, arguments) in [
            ("ex:/nothing", vec![]),
            ("uf:/Script/Game.Thing:shout", vec![object.clone(), words, counts, label]),
            ("up:/Script/Game.Thing:notes", vec![object]),
        ] {
            let before = READ.get();
            let handle = resolve(&core, name).expect(name);
            assert!(READ.get() - before <= 1, "{name}: read once, unless registration has read it");
            let resolved = READ.get();
            for _ in 0..3 {
                call(&core, handle, &arguments).expect(name);
            }
            assert_eq!(READ.get(), resolved, "{name}");
        }
    }

    #[test]
    fn a_property_of_any_kind_is_read_and_written_by_name() {
        let (core, object) = host();
        let notes = value(&core, "Map(String, Array(String))", "((a, (b, c)))");
        let name = "up:/Script/Game.Thing:notes";
        assert_eq!(zcall(&core, name, &[Value::Object(object), notes.clone()]), Ok(None));
        assert_eq!(zcall(&core, name, &[Value::Object(object)]), Ok(Some(notes)));
    }

    #[test]
    fn a_function_with_values_accepts_and_returns_any_kind() {
        let (core, _) = host();
        let total = |arguments: &[Value]| match arguments {
            [Value::Array(numbers)] => {
                let count = Value::U32(numbers.len() as u32);
                Ok(Some(Value::Map(vec![(Value::Text("count".into()), count)])))
            }
            other => panic!("{other:?}"),
        };
        let signature = "Array(f64) -> Map(String, u32)".parse().unwrap();
        register(&core, "total", signature, Effect::Any, Rc::new(total)).expect("the name is free");
        let result = zcall(&core, "ex:/total", &[value(&core, "Array(f64)", "(1, 2, 3)")]).unwrap().unwrap();
        assert_eq!(result.print(&core.world.names), r#"(("count", 3))"#);
    }

    #[test]
    fn a_function_with_values_follows_a_changed_enum_of_a_module() {
        let (core, _) = host();
        let types = &core.world.types;
        let declare = |underlying, entries: [&str; 2]| {
            let entry = |(number, name): (i128, &str)| EnumEntry {
                name: name.into(),
                number,
                display: "".into(),
                is_hidden: false,
                doc: "".into(),
            };
            let entries = (0..).zip(entries).map(entry).collect();
            let mood = EnumDecl { entries, ..EnumDecl::new("Game", "Mood", underlying, Origin::Dynamic) };
            let batch = Batch { enums: vec![mood], ..Batch::default() };
            types.declare(&core.world.names, &batch).expect("an enum");
        };
        let print = |arguments: &[Value]| match arguments {
            [Value::Enum(mood)] => Ok(Some(Value::Text(mood.to_string()))),
            other => panic!("{other:?}"),
        };
        declare(PropertyKind::U8, ["Calm", "Angry"]);
        let signature = "Enum(/Script/Game.Mood) -> String".parse().unwrap();
        register(&core, "print", signature, Effect::Any, Rc::new(print)).expect("the name is free");
        let call = || zcall(&core, "ex:/print", &[value(&core, "Enum(/Script/Game.Mood)", "Angry")]);
        assert_eq!(call(), Ok(Some(Value::Text("Angry".into()))));
        types.begin_shadow();
        types.hide_in_shadow(["/Script/Game.Mood"]);
        declare(PropertyKind::I32, ["Angry", "Calm"]);
        types.commit_shadow();
        assert_eq!(call(), Ok(Some(Value::Text("Angry".into()))));
    }
}
