//! Value in a world file. The value is valid in any process, because it contains strings instead of interned names, and file indices
//! instead of object handles. If the type of a property has changed, its saved value can be converted.

use alcedo_abi::value::LazyRaw;
use serde::{Deserialize, Serialize};

use crate::handles::{Name, ObjectHandle};
use crate::object::enums::EnumValue;
use crate::object::names::Names;
use crate::object::property::PropertyType;
use crate::object::value::{Binding, LocalText, Value};

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub(crate) enum FileValue {
    #[serde(rename = "u8")]
    U8(u8),
    #[serde(rename = "u16")]
    U16(u16),
    #[serde(rename = "u32")]
    U32(u32),
    #[serde(rename = "u64")]
    U64(u64),
    #[serde(rename = "i8")]
    I8(i8),
    #[serde(rename = "i16")]
    I16(i16),
    #[serde(rename = "i32")]
    I32(i32),
    #[serde(rename = "i64")]
    I64(i64),
    #[serde(rename = "f32")]
    F32(f32),
    #[serde(rename = "f64")]
    F64(f64),
    /// Bits of an `f32` that is NaN or negative zero. CBOR does not preserve these bits.
    #[serde(rename = "f32 bits")]
    F32Bits(u32),
    /// Bits of an `f64` that is NaN or negative zero.
    #[serde(rename = "f64 bits")]
    F64Bits(u64),
    #[serde(rename = "bool")]
    Bool(bool),
    #[serde(rename = "String")]
    Text(String),
    /// Enum entry by name, with the number that the entry had when the value was saved.
    Enum(String, String),
    #[serde(rename = "Utf8String")]
    Utf8(String),
    #[serde(rename = "AnsiString")]
    Ansi(String),
    #[serde(rename = "Text")]
    LocalText {
        #[serde(rename = "shown")]
        display: String,
        namespace: String,
        key: String,
    },
    Name(String),
    Object(FileReference),
    Struct(Vec<(String, FileValue)>),
    SubclassOf(String),
    SoftClass(String),
    SoftObject(String),
    LazyObject(u64, u64),
    WeakObject(FileReference),
    ScriptInterface(FileReference),
    Array(Vec<FileValue>),
    Set(Vec<FileValue>),
    Map(Vec<(FileValue, FileValue)>),
    Optional(Option<Box<FileValue>>),
    Delegate(FileBinding),
    #[serde(rename = "MulticastDelegate")]
    Multicast(Vec<FileBinding>),
    #[serde(rename = "SparseDelegate")]
    Sparse(Vec<FileBinding>),
    FieldPath(String),
    /// Value of a kind that has no variant in this enum: the name of the kind, and the value as a string.
    #[serde(rename = "printed")]
    Printed(String, String),
}

/// Binding of a delegate.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(crate) struct FileBinding {
    /// Bound object; `None` if the delegate is unbound.
    pub(crate) object: FileReference,
    pub(crate) function: String,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(crate) enum FileReference {
    /// Empty reference, or reference to a destroyed object.
    #[serde(rename = "none")]
    None,
    /// Reference to the object with this index in the file.
    #[serde(rename = "in")]
    In(u32),
    /// Path of an object that is not saved, because code creates the object. Such an object is a class default object, or an object inside
    /// a class default object.
    #[serde(rename = "path")]
    Path(String),
}

impl FileValue {
    /// Converts a value to its form in the file. `to` returns the saved reference for an object.
    pub(crate) fn of(value: &Value, names: &Names, to: &impl Fn(ObjectHandle) -> FileReference) -> Self {
        let text = |name: &Name| names.text(*name).to_string();
        let all = |values: &[Value]| values.iter().map(|value| Self::of(value, names, to)).collect::<Vec<_>>();
        let bound = |binding: &Binding| FileBinding { object: to(binding.object), function: text(&binding.function) };
        match value {
            Value::U8(value) => Self::U8(*value),
            Value::U16(value) => Self::U16(*value),
            Value::U32(value) => Self::U32(*value),
            Value::U64(value) => Self::U64(*value),
            Value::I8(value) => Self::I8(*value),
            Value::I16(value) => Self::I16(*value),
            Value::I32(value) => Self::I32(*value),
            Value::I64(value) => Self::I64(*value),
            Value::F32(value) if needs_bits(f64::from(*value)) => Self::F32Bits(value.to_bits()),
            Value::F32(value) => Self::F32(*value),
            Value::F64(value) if needs_bits(*value) => Self::F64Bits(value.to_bits()),
            Value::F64(value) => Self::F64(*value),
            Value::Bool(value) => Self::Bool(*value),
            Value::Text(text) => Self::Text(text.clone()),
            Value::Name(name) => Self::Name(names.text(*name).to_string()),
            Value::Object(object) => Self::Object(to(*object)),
            Value::Enum(value) => Self::Enum(value.text.to_string(), value.number.to_string()),
            Value::Utf8(text) => Self::Utf8(text.clone()),
            Value::Ansi(text) => Self::Ansi(text.clone()),
            Value::LocalText(LocalText { display, namespace, key }) => {
                let (namespace, key) = (text(namespace), text(key));
                Self::LocalText { display: display.clone(), namespace, key }
            }
            Value::SubclassOf(path) => Self::SubclassOf(text(path)),
            Value::SoftClass(path) => Self::SoftClass(text(path)),
            Value::SoftObject(path) => Self::SoftObject(text(path)),
            Value::FieldPath(path) => Self::FieldPath(text(path)),
            Value::LazyObject(id) => Self::LazyObject(id.high, id.low),
            Value::WeakObject(object) => Self::WeakObject(to(*object)),
            Value::ScriptInterface(object) => Self::ScriptInterface(to(*object)),
            Value::Array(values) => Self::Array(all(values)),
            Value::Set(values) => Self::Set(all(values)),
            Value::Map(entries) => {
                let entry = |(key, value): &(_, _)| (Self::of(key, names, to), Self::of(value, names, to));
                Self::Map(entries.iter().map(entry).collect())
            }
            Value::Optional(value) => {
                Self::Optional(value.as_deref().map(|value| Box::new(Self::of(value, names, to))))
            }
            Value::Delegate(binding) => Self::Delegate(bound(binding)),
            Value::Multicast(bindings) => Self::Multicast(bindings.iter().map(bound).collect()),
            Value::Sparse(bindings) => Self::Sparse(bindings.iter().map(bound).collect()),
            Value::Struct(fields) => Self::Struct(
                fields.iter().map(|(name, value)| (name.to_string(), Self::of(value, names, to))).collect(),
            ),
            // Writes values as strings if their kind has no variant.
            #[allow(unreachable_patterns, reason = "every kind has one, but for those that only tests have")]
            other => Self::Printed(other.kind_name().to_owned(), other.print(names)),
        }
    }

    /// Converts the value from its form in the file.
    pub(crate) fn value(&self, names: &Names, from: &mut impl FnMut(&FileReference) -> ObjectHandle) -> Value {
        match self {
            Self::U8(value) => Value::U8(*value),
            Self::U16(value) => Value::U16(*value),
            Self::U32(value) => Value::U32(*value),
            Self::U64(value) => Value::U64(*value),
            Self::I8(value) => Value::I8(*value),
            Self::I16(value) => Value::I16(*value),
            Self::I32(value) => Value::I32(*value),
            Self::I64(value) => Value::I64(*value),
            Self::F32(value) => Value::F32(*value),
            Self::F64(value) => Value::F64(*value),
            Self::F32Bits(bits) => Value::F32(f32::from_bits(*bits)),
            Self::F64Bits(bits) => Value::F64(f64::from_bits(*bits)),
            Self::Bool(value) => Value::Bool(*value),
            Self::Text(text) => Value::Text(text.clone()),
            Self::Name(name) => Value::Name(names.intern(name)),
            Self::Object(reference) => Value::Object(from(reference)),
            Self::Enum(text, number) => {
                Value::Enum(EnumValue { text: text.as_str().into(), number: number.parse().unwrap_or_default() })
            }
            Self::Utf8(text) => Value::Utf8(text.clone()),
            Self::Ansi(text) => Value::Ansi(text.clone()),
            Self::LocalText { display, namespace, key } => Value::LocalText(LocalText {
                display: display.clone(),
                namespace: names.intern(namespace),
                key: names.intern(key),
            }),
            Self::SubclassOf(path) => Value::SubclassOf(names.intern(path)),
            Self::SoftClass(path) => Value::SoftClass(names.intern(path)),
            Self::SoftObject(path) => Value::SoftObject(names.intern(path)),
            Self::FieldPath(path) => Value::FieldPath(names.intern(path)),
            Self::Printed(kind, text) => {
                let parsed = PropertyType::plain_named(kind).and_then(|ty| Value::parse(text, &ty, names).ok());
                // Converts a value of an unknown kind to a string. Reports can format the string.
                parsed.unwrap_or_else(|| Value::Text(text.clone()))
            }
            Self::LazyObject(high, low) => Value::LazyObject(LazyRaw { high: *high, low: *low }),
            Self::WeakObject(reference) => Value::WeakObject(from(reference)),
            Self::ScriptInterface(reference) => Value::ScriptInterface(from(reference)),
            Self::Array(values) => Value::Array(values.iter().map(|value| value.value(names, from)).collect()),
            Self::Set(values) => Value::Set(values.iter().map(|value| value.value(names, from)).collect()),
            Self::Map(entries) => {
                let entry = |(key, value): &(Self, Self)| (key.value(names, from), value.value(names, from));
                Value::Map(entries.iter().map(entry).collect())
            }
            Self::Optional(value) => Value::Optional(value.as_ref().map(|value| Box::new(value.value(names, from)))),
            Self::Delegate(binding) => Value::Delegate(binding.binding(names, from)),
            Self::Multicast(bindings) => {
                Value::Multicast(bindings.iter().map(|binding| binding.binding(names, from)).collect())
            }
            Self::Sparse(bindings) => {
                Value::Sparse(bindings.iter().map(|binding| binding.binding(names, from)).collect())
            }
            Self::Struct(fields) => Value::Struct(
                fields.iter().map(|(name, value)| (name.as_str().into(), value.value(names, from))).collect(),
            ),
        }
    }

    /// Returns the first object index in the value that is out of range. `objects` is the number of objects in the file.
    pub(crate) fn object_beyond(&self, objects: usize) -> Option<u32> {
        match self {
            Self::Object(reference) | Self::WeakObject(reference) | Self::ScriptInterface(reference) => {
                reference.beyond(objects)
            }
            Self::Array(values) | Self::Set(values) => values.iter().find_map(|value| value.object_beyond(objects)),
            Self::Map(entries) => entries
                .iter()
                .find_map(|(key, value)| key.object_beyond(objects).or_else(|| value.object_beyond(objects))),
            Self::Optional(value) => value.as_ref().and_then(|value| value.object_beyond(objects)),
            Self::Delegate(binding) => binding.object.beyond(objects),
            Self::Multicast(bindings) | Self::Sparse(bindings) => {
                bindings.iter().find_map(|binding| binding.object.beyond(objects))
            }
            Self::Struct(fields) => fields.iter().find_map(|(_, value)| value.object_beyond(objects)),
            _ => None,
        }
    }
}

impl FileBinding {
    fn binding(&self, names: &Names, from: &mut impl FnMut(&FileReference) -> ObjectHandle) -> Binding {
        let object = from(&self.object);
        // An unbound delegate has no function name.
        let function = if object.is_none() { Name::default() } else { names.intern(&self.function) };
        Binding { object, function }
    }
}

impl FileReference {
    fn beyond(&self, objects: usize) -> Option<u32> {
        match self {
            Self::In(index) => Some(*index).filter(|index| *index as usize >= objects),
            Self::None | Self::Path(_) => None,
        }
    }
}

/// Checks if a number must be saved as its bits, because CBOR preserves neither the bits of a NaN nor the sign of a zero.
fn needs_bits(value: f64) -> bool {
    value.is_nan() || (value == 0.0 && value.is_sign_negative())
}
