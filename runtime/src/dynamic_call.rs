//! ZCalls with values instead of a static signature: for hosts, tools and tests. The callee's signature, in words,
//! says what the slots have to be.

use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::PropertyKind;

use crate::border::CallError;
use crate::bridge::core::Core;
use crate::game_thread::GameThread;
use crate::handles::{Generation, Name, ObjectHandle};
use crate::object::value::Value;
use crate::zcall::buffer::BufferMut;
use crate::zcall::chain::{Dispatcher, Implementer};
use crate::zcall::owned::DynBuffer;

/// A signature of plain values, text and objects, written `i32, String -> bool`; an object is `Object`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signature {
    parameters: Vec<PropertyKind>,
    result: Option<PropertyKind>,
}

impl FromStr for Signature {
    type Err = CallError;

    fn from_str(text: &str) -> Result<Self, CallError> {
        let (parameters, result) = match text.split_once("->") {
            Some((parameters, result)) => (parameters, Some(kind(result)?)),
            None => (text, None),
        };
        let parameters = parameters.split(',').map(str::trim).filter(|word| !word.is_empty());
        Ok(Self { parameters: parameters.map(kind).collect::<Result<_, _>>()?, result })
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.parameters.iter().map(|kind| kind.text().unwrap_or("?")).collect();
        f.write_str(&words.join(", "))?;
        match self.result {
            Some(result) => write!(f, " -> {}", result.text().unwrap_or("?")),
            None => Ok(()),
        }
    }
}

impl Signature {
    /// As a module computes it; objects of a certain class cannot be named here, and are not compared then.
    fn fingerprint(&self) -> u64 {
        const RESULT: u64 = 0xfeed;
        if self.parameters.iter().chain(&self.result).any(|kind| *kind == PropertyKind::OBJECT) {
            return 0;
        }
        let print = self.parameters.iter().fold(Fingerprint::START, |print, kind| print.value(*kind, ""));
        self.result.map_or(print, |kind| print.number(RESULT).value(kind, "")).finish()
    }
}

fn kind(word: &str) -> Result<PropertyKind, CallError> {
    let word = word.trim();
    if word.starts_with("Object") {
        return Ok(PropertyKind::OBJECT);
    }
    (1..=PropertyKind::OBJECT.0).map(PropertyKind).find(|kind| kind.text() == Some(word)).ok_or_else(|| {
        CallError::NotFound {
            message: format!("`{word}` cannot be called with values: call it from code that knows the type"),
        }
    })
}

/// Resolves `name` and calls it. For a function of an object the first argument is that object.
///
/// # Errors
/// When the name leads nowhere, the arguments do not fit the signature, or the callee fails.
pub fn zcall(core: &Core, name: &str, arguments: &[Value]) -> Result<Option<Value>, CallError> {
    let handle = core.zcalls.resolve(&core.chain, name, 0)?;
    let words = core.zcalls.signature(handle).unwrap_or_default();
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
    let expected = std::iter::repeat_n(PropertyKind::OBJECT, receivers).chain(signature.parameters.iter().copied());
    let mut buffer = DynBuffer::with_len(arguments.len() + usize::from(signature.result.is_some()));
    for (at, (argument, expected)) in arguments.iter().zip(expected).enumerate() {
        if argument.kind() != expected {
            return Err(CallError::Buffer {
                message: format!(
                    "`{name}` ({words}): argument {at} is {}, it must be {}",
                    argument.kind().text().unwrap_or("?"),
                    expected.text().unwrap_or("?")
                ),
            });
        }
        put(&mut buffer, at, argument)?;
    }
    let last = arguments.len();
    if signature.result == Some(PropertyKind::STRING) {
        buffer.text_out(last)?;
    }
    let (_status, result) = core.zcalls.dispatch(core.here(), handle, buffer.lend());
    result?;
    signature.result.map(|kind| take(&mut buffer, last, kind)).transpose()
}

/// `up`: one argument reads, a second one is written.
fn property(
    core: &Core,
    handle: crate::handles::ZCallHandle,
    signature: &Signature,
    arguments: &[Value],
) -> Result<Option<Value>, CallError> {
    const READ: u8 = 0;
    const WRITE: u8 = 1;
    let kind = *signature.parameters.first().unwrap_or(&PropertyKind::OBJECT);
    let mut buffer = DynBuffer::with_len(3);
    match arguments {
        [Value::Object(object)] => {
            buffer.set(0, *object)?;
            buffer.set(1, READ)?;
            if kind == PropertyKind::STRING {
                buffer.text_out(2)?;
            }
        }
        [Value::Object(object), value] if value.kind() == kind => {
            buffer.set(0, *object)?;
            buffer.set(1, WRITE)?;
            put(&mut buffer, 2, value)?;
        }
        _ => {
            return Err(CallError::Buffer {
                message: format!("`up` takes the object, and to write also a {}", kind.text().unwrap_or("?")),
            });
        }
    }
    let (_status, result) = core.zcalls.dispatch(core.here(), handle, buffer.lend());
    result?;
    (arguments.len() == 1).then(|| take(&mut buffer, 2, kind)).transpose()
}

fn put<'a>(buffer: &mut DynBuffer<'a>, at: usize, value: &'a Value) -> Result<(), CallError> {
    match value {
        Value::U8(value) => buffer.set(at, *value),
        Value::U16(value) => buffer.set(at, *value),
        Value::U32(value) => buffer.set(at, *value),
        Value::U64(value) => buffer.set(at, *value),
        Value::I8(value) => buffer.set(at, *value),
        Value::I16(value) => buffer.set(at, *value),
        Value::I32(value) => buffer.set(at, *value),
        Value::I64(value) => buffer.set(at, *value),
        Value::F32(value) => buffer.set(at, *value),
        Value::F64(value) => buffer.set(at, *value),
        Value::Bool(value) => buffer.set(at, *value),
        Value::Name(value) => buffer.set(at, *value),
        Value::Object(value) => buffer.set(at, *value),
        Value::Text(text) => buffer.text_in(at, text),
        Value::Struct(_) => Err(CallError::Buffer { message: format!("argument {at}: a struct does not go by value here") }),
    }
}

fn take(buffer: &mut DynBuffer<'_>, at: usize, kind: PropertyKind) -> Result<Value, CallError> {
    Ok(match kind {
        PropertyKind::U8 => Value::U8(buffer.get(at)?),
        PropertyKind::U16 => Value::U16(buffer.get(at)?),
        PropertyKind::U32 => Value::U32(buffer.get(at)?),
        PropertyKind::U64 => Value::U64(buffer.get(at)?),
        PropertyKind::I8 => Value::I8(buffer.get(at)?),
        PropertyKind::I16 => Value::I16(buffer.get(at)?),
        PropertyKind::I32 => Value::I32(buffer.get(at)?),
        PropertyKind::I64 => Value::I64(buffer.get(at)?),
        PropertyKind::F32 => Value::F32(buffer.get(at)?),
        PropertyKind::F64 => Value::F64(buffer.get(at)?),
        PropertyKind::BOOL => Value::Bool(buffer.get(at)?),
        PropertyKind::NAME => Value::Name(buffer.get::<Name>(at)?),
        PropertyKind::STRING => Value::Text(buffer.take_text(at)?),
        _ => Value::Object(buffer.get::<ObjectHandle>(at)?),
    })
}

use border::{read, write};

/// A host function with values.
pub type Body = Rc<dyn Fn(&[Value]) -> Result<Option<Value>, CallError>>;

struct ValueDispatcher {
    signature: Signature,
    body: Body,
}

/// Registers a host function under `ex:/name`.
///
/// # Errors
/// When the name is taken or is no name.
pub fn register(core: &Core, name: &str, signature: Signature, body: Body) -> Result<(), CallError> {
    let (fingerprint, words) = (signature.fingerprint(), signature.to_string());
    let dispatcher = Rc::new(ValueDispatcher { signature, body });
    Ok(core.explicit.register(name, Generation::HOST, Implementer::Host, fingerprint, words, dispatcher)?)
}

impl Dispatcher for ValueDispatcher {
    fn call(&self, _gt: GameThread<'_>, mut buffer: BufferMut<'_>) -> Result<(), CallError> {
        let count = self.signature.parameters.len();
        buffer.expect_len(count + usize::from(self.signature.result.is_some()))?;
        let arguments = self.signature.parameters.iter().enumerate();
        let arguments: Vec<_> = arguments.map(|(at, kind)| read(&buffer, at, *kind)).collect::<Result<_, _>>()?;
        let result = (self.body)(&arguments)?;
        match (self.signature.result, result) {
            (None, None) => Ok(()),
            (Some(kind), Some(value)) if value.kind() == kind => write(&mut buffer, count, &value),
            (wanted, found) => Err(CallError::other(format!(
                "the body was to return {wanted:?} and returned {:?}: mend its signature",
                found.map(|value| value.kind())
            ))),
        }
    }
}

mod border {
    //! The two places where a pointer slot is followed for a host function with values.
    #![expect(unsafe_code, reason = "follows the pointer slots of text")]

    use super::{BufferMut, CallError, Name, ObjectHandle, PropertyKind, Value};

    pub(super) fn read(buffer: &BufferMut<'_>, at: usize, kind: PropertyKind) -> Result<Value, CallError> {
        Ok(match kind {
            PropertyKind::U8 => Value::U8(buffer.get(at)?),
            PropertyKind::U16 => Value::U16(buffer.get(at)?),
            PropertyKind::U32 => Value::U32(buffer.get(at)?),
            PropertyKind::U64 => Value::U64(buffer.get(at)?),
            PropertyKind::I8 => Value::I8(buffer.get(at)?),
            PropertyKind::I16 => Value::I16(buffer.get(at)?),
            PropertyKind::I32 => Value::I32(buffer.get(at)?),
            PropertyKind::I64 => Value::I64(buffer.get(at)?),
            PropertyKind::F32 => Value::F32(buffer.get(at)?),
            PropertyKind::F64 => Value::F64(buffer.get(at)?),
            PropertyKind::BOOL => Value::Bool(buffer.get(at)?),
            PropertyKind::NAME => Value::Name(buffer.get::<Name>(at)?),
            // SAFETY: the signature has text here, and the caller was checked against it when it resolved the name.
            PropertyKind::STRING => Value::Text(unsafe { buffer.text(at) }?.to_owned()),
            _ => Value::Object(buffer.get::<ObjectHandle>(at)?),
        })
    }

    pub(super) fn write(buffer: &mut BufferMut<'_>, at: usize, value: &Value) -> Result<(), CallError> {
        match value {
            Value::U8(value) => buffer.set(at, *value),
            Value::U16(value) => buffer.set(at, *value),
            Value::U32(value) => buffer.set(at, *value),
            Value::U64(value) => buffer.set(at, *value),
            Value::I8(value) => buffer.set(at, *value),
            Value::I16(value) => buffer.set(at, *value),
            Value::I32(value) => buffer.set(at, *value),
            Value::I64(value) => buffer.set(at, *value),
            Value::F32(value) => buffer.set(at, *value),
            Value::F64(value) => buffer.set(at, *value),
            Value::Bool(value) => buffer.set(at, *value),
            Value::Name(value) => buffer.set(at, *value),
            Value::Object(value) => buffer.set(at, *value),
            // SAFETY: the signature has a text result, so the caller waits with a sink in this slot.
            Value::Text(text) => unsafe { buffer.give_text(at, text) },
            Value::Struct(_) => Err(CallError::other("a struct does not go by value here")),
        }
    }
}


#[cfg(test)]
mod tests {
    use super::Signature;

    #[test]
    fn a_signature_reads_as_it_is_written() {
        for text in ["i32, String -> bool", "", " -> u64", "f64"] {
            let signature: Signature = text.parse().expect("a signature");
            assert_eq!(signature.to_string(), text);
        }
        assert!("i32, potato".parse::<Signature>().is_err());
    }
}
