//! ZCalls with values instead of a static signature: for hosts, tools and tests. The callee's signature, in words,
//! says what the slots have to be.

use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::zcall::SlotValue;

use crate::border::CallError;
use crate::bridge::core::Core;
use crate::game_thread::GameThread;
use crate::handles::{Generation, Name, ObjectHandle, ZCallHandle};
use crate::object::property::PropertyType;
use crate::object::value::Value;
use crate::zcall::buffer::BufferMut;
use crate::zcall::chain::{Dispatcher, Implementer};
use crate::zcall::owned::DynBuffer;

/// A signature in words: `i32, String -> bool`. An object is `Object(/Script/Package.Class)`, a struct is its path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signature {
    parameters: Vec<Word>,
    result: Option<Word>,
}

/// One type of a signature: its kind, and the path of its class or struct.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Word {
    kind: PropertyKind,
    path: String,
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            PropertyKind::OBJECT => write!(f, "Object({})", self.path),
            PropertyKind::STRUCT => f.write_str(&self.path),
            plain => f.write_str(plain.text().unwrap_or("?")),
        }
    }
}

impl FromStr for Word {
    type Err = CallError;

    fn from_str(text: &str) -> Result<Self, CallError> {
        let text = text.trim();
        if let Some(path) = text.strip_prefix("Object(").and_then(|rest| rest.strip_suffix(')')) {
            return Ok(Self { kind: PropertyKind::OBJECT, path: path.to_owned() });
        }
        if text.starts_with('/') {
            return Ok(Self { kind: PropertyKind::STRUCT, path: text.to_owned() });
        }
        let plain = (1..PropertyKind::OBJECT.0).map(PropertyKind).find(|kind| kind.text() == Some(text));
        plain.map(|kind| Self { kind, path: String::new() }).ok_or_else(|| CallError::NotFound {
            message: format!(
                "`{text}` is no type of a signature: write `f64`, `String`, `Object(/Script/P.C)` or `/Script/P.S`"
            ),
        })
    }
}

impl FromStr for Signature {
    type Err = CallError;

    fn from_str(text: &str) -> Result<Self, CallError> {
        let (parameters, result) = match text.split_once("->") {
            Some((parameters, result)) => (parameters, Some(result.parse()?)),
            None => (text, None),
        };
        let parameters = parameters.split(',').map(str::trim).filter(|word| !word.is_empty());
        Ok(Self { parameters: parameters.map(str::parse).collect::<Result<_, _>>()?, result })
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.parameters.iter().map(Word::to_string).collect();
        f.write_str(&words.join(", "))?;
        match &self.result {
            Some(result) => write!(f, " -> {result}"),
            None => Ok(()),
        }
    }
}

impl Signature {
    /// As a module computes it.
    pub(crate) fn fingerprint(&self) -> u64 {
        const RESULT: u64 = 0xfeed; // tells `f(a) -> b` from `f(a, b)`
        let add = |print: Fingerprint, word: &Word| print.value(word.kind, &word.path);
        let print = self.parameters.iter().fold(Fingerprint::START, add);
        self.result.as_ref().map_or(print, |word| add(print.number(RESULT), word)).finish()
    }
}

/// Resolves `name` and calls it. For a function of an object the first argument is that object.
///
/// # Errors
/// When the name leads nowhere, the arguments do not fit the signature, or the callee fails.
pub(crate) fn zcall(core: &Core, name: &str, arguments: &[Value]) -> Result<Option<Value>, CallError> {
    call(core, resolve(core, name)?, arguments)
}

/// The handle of `name`, whatever its signature.
///
/// # Errors
/// When the name leads nowhere.
pub(crate) fn resolve(core: &Core, name: &str) -> Result<ZCallHandle, CallError> {
    core.zcalls.resolve(&core.chain, name, 0)
}

/// Calls through a handle. For a function of an object the first argument is that object.
///
/// # Errors
/// When the handle's generation is over, the arguments do not fit the signature, or the callee fails.
pub(crate) fn call(core: &Core, handle: ZCallHandle, arguments: &[Value]) -> Result<Option<Value>, CallError> {
    let (Some(name), Some(words)) = (core.zcalls.name(handle), core.zcalls.signature(handle)) else {
        // A dead handle, or none: the table says which, and touches no slot.
        return core.zcalls.dispatch(core.here(), handle, DynBuffer::with_len(0).lend()).1.map(|()| None);
    };
    let signature: Signature = words.parse()?;
    let receivers = match name.split_once(':') {
        Some(("up", _)) => return property(core, handle, &signature, arguments),
        _ => arguments.len().wrapping_sub(signature.parameters.len()),
    };
    if receivers > 1 {
        return Err(CallError::Buffer {
            message: format!("`{name}` ({words}) does not take {} arguments, the object included", arguments.len()),
        });
    }
    let receiver = Word { kind: PropertyKind::OBJECT, path: String::new() };
    let expected: Vec<_> = std::iter::repeat_n(&receiver, receivers).chain(&signature.parameters).collect();
    let mut buffer = DynBuffer::with_len(arguments.len() + usize::from(signature.result.is_some()));
    for (at, (argument, expected)) in arguments.iter().zip(expected).enumerate() {
        if argument.kind() != expected.kind {
            let found = argument.kind().text().unwrap_or("?");
            let message = format!("`{name}` ({words}): argument {at} is {found}, it must be {expected}");
            return Err(CallError::Buffer { message });
        }
        put(core, &mut buffer, at, argument, expected)?;
    }
    let last = arguments.len();
    if let Some(result) = &signature.result {
        await_result(core, &mut buffer, last, result)?;
    }
    let (_status, result) = core.zcalls.dispatch(core.here(), handle, buffer.lend());
    result?;
    signature.result.map(|word| take(core, &mut buffer, last, &word)).transpose()
}

/// `up`: one argument reads, a second one is written.
fn property(
    core: &Core,
    handle: ZCallHandle,
    signature: &Signature,
    arguments: &[Value],
) -> Result<Option<Value>, CallError> {
    const READ: u8 = 0;
    const WRITE: u8 = 1;
    let Some(word) = signature.parameters.first() else {
        return Err(CallError::other("a property without a type"));
    };
    let mut buffer = DynBuffer::with_len(3);
    match arguments {
        [Value::Object(object)] => {
            buffer.set(0, *object)?;
            buffer.set(1, READ)?;
            await_result(core, &mut buffer, 2, word)?;
        }
        [Value::Object(object), value] if value.kind() == word.kind => {
            buffer.set(0, *object)?;
            buffer.set(1, WRITE)?;
            put(core, &mut buffer, 2, value, word)?;
        }
        _ => {
            let message = format!("`up` takes the object, and to write also a {word}");
            return Err(CallError::Buffer { message });
        }
    }
    let (_status, result) = core.zcalls.dispatch(core.here(), handle, buffer.lend());
    result?;
    (arguments.len() == 1).then(|| take(core, &mut buffer, 2, word)).transpose()
}

/// Makes a slot wait for a result that comes through a pointer.
fn await_result(core: &Core, buffer: &mut DynBuffer<'_>, at: usize, word: &Word) -> Result<(), CallError> {
    match word.kind {
        PropertyKind::STRING => buffer.text_out(at),
        PropertyKind::STRUCT => buffer.struct_out(at, plain_struct(core, word)?.size()),
        _ => Ok(()),
    }
}

/// The struct a word names, when it can go by its bytes.
fn plain_struct(core: &Core, word: &Word) -> Result<PropertyType, CallError> {
    let layout = core.world.types.struct_by_path(&word.path).map(PropertyType::Struct);
    layout.filter(|ty| !ty.owns_memory()).ok_or_else(|| CallError::NotFound {
        message: format!("{word} is no struct that travels by value: it is not there, or holds text"),
    })
}

fn put<'a>(core: &Core, buffer: &mut DynBuffer<'a>, at: usize, value: &'a Value, word: &Word) -> Result<(), CallError> {
    match value {
        Value::Text(text) => buffer.text_in(at, text),
        Value::Struct(_) => border::put_struct(buffer, at, &plain_struct(core, word)?, value),
        plain => set_plain(buffer, at, plain),
    }
}

fn take(core: &Core, buffer: &mut DynBuffer<'_>, at: usize, word: &Word) -> Result<Value, CallError> {
    match word.kind {
        PropertyKind::STRUCT => border::take_struct(buffer, at, &plain_struct(core, word)?),
        PropertyKind::STRING => Ok(Value::Text(buffer.take_text(at)?)),
        plain => get_plain(buffer, at, plain),
    }
}

/// Slots that hold plain values: a caller's own, or those lent to a callee.
trait PlainSlots {
    fn get<T: SlotValue>(&self, at: usize) -> Result<T, CallError>;
    fn set<T: SlotValue>(&mut self, at: usize, value: T) -> Result<(), CallError>;
}

impl PlainSlots for DynBuffer<'_> {
    fn get<T: SlotValue>(&self, at: usize) -> Result<T, CallError> {
        Self::get(self, at)
    }

    fn set<T: SlotValue>(&mut self, at: usize, value: T) -> Result<(), CallError> {
        Self::set(self, at, value)
    }
}

impl PlainSlots for BufferMut<'_> {
    fn get<T: SlotValue>(&self, at: usize) -> Result<T, CallError> {
        Self::get(self, at)
    }

    fn set<T: SlotValue>(&mut self, at: usize, value: T) -> Result<(), CallError> {
        Self::set(self, at, value)
    }
}

fn get_plain(slots: &impl PlainSlots, at: usize, kind: PropertyKind) -> Result<Value, CallError> {
    Ok(match kind {
        PropertyKind::U8 => Value::U8(slots.get(at)?),
        PropertyKind::U16 => Value::U16(slots.get(at)?),
        PropertyKind::U32 => Value::U32(slots.get(at)?),
        PropertyKind::U64 => Value::U64(slots.get(at)?),
        PropertyKind::I8 => Value::I8(slots.get(at)?),
        PropertyKind::I16 => Value::I16(slots.get(at)?),
        PropertyKind::I32 => Value::I32(slots.get(at)?),
        PropertyKind::I64 => Value::I64(slots.get(at)?),
        PropertyKind::F32 => Value::F32(slots.get(at)?),
        PropertyKind::F64 => Value::F64(slots.get(at)?),
        PropertyKind::BOOL => Value::Bool(slots.get(at)?),
        PropertyKind::NAME => Value::Name(slots.get::<Name>(at)?),
        _ => Value::Object(slots.get::<ObjectHandle>(at)?),
    })
}

fn set_plain(slots: &mut impl PlainSlots, at: usize, value: &Value) -> Result<(), CallError> {
    match value {
        Value::U8(value) => slots.set(at, *value),
        Value::U16(value) => slots.set(at, *value),
        Value::U32(value) => slots.set(at, *value),
        Value::U64(value) => slots.set(at, *value),
        Value::I8(value) => slots.set(at, *value),
        Value::I16(value) => slots.set(at, *value),
        Value::I32(value) => slots.set(at, *value),
        Value::I64(value) => slots.set(at, *value),
        Value::F32(value) => slots.set(at, *value),
        Value::F64(value) => slots.set(at, *value),
        Value::Bool(value) => slots.set(at, *value),
        Value::Name(value) => slots.set(at, *value),
        Value::Object(value) => slots.set(at, *value),
        Value::Text(_) | Value::Struct(_) => {
            Err(CallError::Buffer { message: format!("slot {at}: text and structs do not lie in a slot itself") })
        }
    }
}

use border::{read, write};

/// A host function with values.
pub(crate) type Body = Rc<dyn Fn(&[Value]) -> Result<Option<Value>, CallError>>;

struct ValueDispatcher {
    signature: Signature,
    body: Body,
}

/// Registers a host function under `ex:/name`.
///
/// # Errors
/// When the name is taken or is no name.
pub(crate) fn register(core: &Core, name: &str, signature: Signature, body: Body) -> Result<(), CallError> {
    if let Some(word) =
        signature.parameters.iter().chain(&signature.result).find(|word| word.kind == PropertyKind::STRUCT)
    {
        return Err(CallError::other(format!(
            "`{name}`: {word} does not travel by value to a function registered with values: pass its fields"
        )));
    }
    let (fingerprint, words) = (signature.fingerprint(), signature.to_string());
    let dispatcher = Rc::new(ValueDispatcher { signature, body });
    Ok(core.explicit.register(name, Generation::HOST, Implementer::Host, fingerprint, words, dispatcher)?)
}

impl Dispatcher for ValueDispatcher {
    fn call(&self, _gt: GameThread<'_>, mut buffer: BufferMut<'_>) -> Result<(), CallError> {
        let count = self.signature.parameters.len();
        buffer.expect_len(count + usize::from(self.signature.result.is_some()))?;
        let arguments = self.signature.parameters.iter().enumerate();
        let arguments: Vec<_> = arguments.map(|(at, word)| read(&buffer, at, word.kind)).collect::<Result<_, _>>()?;
        let result = (self.body)(&arguments)?;
        match (&self.signature.result, result) {
            (None, None) => Ok(()),
            (Some(word), Some(value)) if value.kind() == word.kind => write(&mut buffer, count, &value),
            (wanted, found) => Err(CallError::other(format!(
                "the body was to return {wanted:?} and returned {:?}: mend its signature",
                found.map(|value| value.kind())
            ))),
        }
    }
}

mod border {
    //! The places where a pointer slot is followed for calls with values.
    #![expect(unsafe_code, reason = "follows the pointer slots of text and structs")]

    use super::{BufferMut, CallError, DynBuffer, PropertyKind, PropertyType, Value, get_plain, set_plain};
    use crate::object::memory;

    /// Lends a struct to the callee.
    pub(super) fn put_struct(
        buffer: &mut DynBuffer<'_>,
        at: usize,
        ty: &PropertyType,
        value: &Value,
    ) -> Result<(), CallError> {
        buffer.struct_out(at, ty.size())?;
        let memory = buffer.struct_at(at)?;
        // SAFETY: the buffer keeps as many zero bytes there, aligned for any struct, and zeros are a value of every type.
        unsafe { memory::write(memory, ty, value) }.map_err(|error| CallError::other(error.to_string()))
    }

    /// The struct that the callee gave.
    pub(super) fn take_struct(buffer: &mut DynBuffer<'_>, at: usize, ty: &PropertyType) -> Result<Value, CallError> {
        let memory = buffer.struct_at(at)?;
        // SAFETY: the buffer keeps a struct of this type there: zeros, or what the callee wrote by its signature.
        Ok(unsafe { memory::read(memory, ty) })
    }

    pub(super) fn read(buffer: &BufferMut<'_>, at: usize, kind: PropertyKind) -> Result<Value, CallError> {
        if kind == PropertyKind::STRING {
            // SAFETY: the signature has text here, and the caller was checked against it when it resolved the name.
            return Ok(Value::Text(unsafe { buffer.text(at) }?.to_owned()));
        }
        get_plain(buffer, at, kind)
    }

    pub(super) fn write(buffer: &mut BufferMut<'_>, at: usize, value: &Value) -> Result<(), CallError> {
        if let Value::Text(text) = value {
            // SAFETY: the signature has a text result, so the caller waits with a sink in this slot.
            return unsafe { buffer.give_text(at, text) };
        }
        set_plain(buffer, at, value)
    }
}

#[cfg(test)]
mod tests {
    use super::Signature;

    #[test]
    fn a_signature_reads_as_it_is_written() {
        for text in
            ["i32, String -> bool", "", " -> u64", "f64", "/Script/Engine.Vector -> Object(/Script/Engine.Actor)"]
        {
            let signature: Signature = text.parse().expect("a signature");
            assert_eq!(signature.to_string(), text);
        }
        assert!("i32, potato".parse::<Signature>().is_err());
    }
}
