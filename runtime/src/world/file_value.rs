//! Value in a world file. The value is valid in any process, because it contains strings instead of interned names, and file indices
//! instead of object handles. If the type of a property has changed, its saved value can be converted.

use std::borrow::Cow;
use std::collections::HashSet;

use alcedo_abi::value::LazyRaw;
use serde::{Deserialize, Serialize};

use crate::handles::{Name, ObjectHandle};
use crate::object::enums::EnumValue;
use crate::object::names::Names;
use crate::object::property::PropertyType;
use crate::object::value::{Binding, LocalText, Value};

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub(crate) enum FileValue<'a> {
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
    Text(Cow<'a, str>),
    /// Enum entry by name, with the number that the entry had when the value was saved.
    Enum(Box<(Cow<'a, str>, Cow<'a, str>)>),
    #[serde(rename = "Utf8String")]
    Utf8(Cow<'a, str>),
    #[serde(rename = "AnsiString")]
    Ansi(Cow<'a, str>),
    #[serde(rename = "Text")]
    LocalText(Box<FileText<'a>>),
    Name(Cow<'a, str>),
    Object(FileReference<'a>),
    Struct(Vec<(Cow<'a, str>, FileValue<'a>)>),
    SubclassOf(Cow<'a, str>),
    SoftClass(Cow<'a, str>),
    SoftObject(Cow<'a, str>),
    LazyObject(u64, u64),
    WeakObject(FileReference<'a>),
    ScriptInterface(FileReference<'a>),
    Array(Vec<FileValue<'a>>),
    Set(Vec<FileValue<'a>>),
    Map(Vec<(FileValue<'a>, FileValue<'a>)>),
    Optional(Option<Box<FileValue<'a>>>),
    Delegate(Box<FileBinding<'a>>),
    #[serde(rename = "MulticastDelegate")]
    Multicast(Vec<FileBinding<'a>>),
    #[serde(rename = "SparseDelegate")]
    Sparse(Vec<FileBinding<'a>>),
    FieldPath(Cow<'a, str>),
    /// Value of a kind that has no variant in this enum: the name of the kind, and the value as a string.
    #[serde(rename = "printed")]
    Printed(Box<(Cow<'a, str>, Cow<'a, str>)>),
}

// Limits the size of a value, because a load keeps the values of all objects in one list. Rare large values are stored behind a pointer.
const _: () = assert!(size_of::<FileValue<'static>>() <= 32);

impl FileValue<'_> {
    /// Returns the number of nested CBOR items in the value. The general reader also counts each variant as an item.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::Struct(fields) => 2 + deepest(fields.iter().map(|(_, value)| 1 + value.depth())),
            Self::Array(values) | Self::Set(values) => 2 + deepest(values.iter().map(Self::depth)),
            Self::Map(entries) => 2 + deepest(entries.iter().map(|(key, value)| 1 + key.depth().max(value.depth()))),
            Self::Optional(value) => 1 + deepest(value.iter().map(|value| value.depth())),
            Self::Multicast(bindings) | Self::Sparse(bindings) => 2 + deepest(bindings.iter().map(|_| 2)),
            Self::Delegate(_) => 3,
            Self::Enum(_) | Self::Printed(_) | Self::LocalText(_) | Self::LazyObject(..) => 2,
            Self::Object(_) | Self::WeakObject(_) | Self::ScriptInterface(_) => 2,
            _ => 1,
        }
    }
}

fn deepest(depths: impl Iterator<Item = usize>) -> usize {
    depths.max().unwrap_or_default()
}

/// Value of the kind `Text`.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(crate) struct FileText<'a> {
    #[serde(rename = "shown")]
    pub(crate) display: Cow<'a, str>,
    pub(crate) namespace: Cow<'a, str>,
    pub(crate) key: Cow<'a, str>,
}

/// Binding of a delegate.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(crate) struct FileBinding<'a> {
    /// Bound object; `None` if the delegate is unbound.
    pub(crate) object: FileReference<'a>,
    pub(crate) function: Cow<'a, str>,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(crate) enum FileReference<'a> {
    /// Empty reference, or reference to a destroyed object.
    #[serde(rename = "none")]
    None,
    /// Reference to the object with this index in the file.
    #[serde(rename = "in")]
    In(u32),
    /// Path of an object that is not saved, because code creates the object. Such an object is a class default object, or an object inside
    /// a class default object.
    #[serde(rename = "path")]
    Path(Cow<'a, str>),
}

/// Converts between [`Value`] and [`FileValue`], which have variants of the same names. The arguments with `=>` in the second line of a
/// call convert the names, objects, nested values and bindings in a variant. The arms after these arguments convert the variants whose
/// contents differ.
macro_rules! converted {
    (
        $value:expr, $from:ident => $to:ident;
        $name:ident => $named:expr, $object:ident => $referred:expr, $inner:ident => $nested:expr, $binding:ident => $bound:expr;
        $($arms:tt)*
    ) => {
        match $value {
            $from::U8(value) => $to::U8(*value),
            $from::U16(value) => $to::U16(*value),
            $from::U32(value) => $to::U32(*value),
            $from::U64(value) => $to::U64(*value),
            $from::I8(value) => $to::I8(*value),
            $from::I16(value) => $to::I16(*value),
            $from::I32(value) => $to::I32(*value),
            $from::I64(value) => $to::I64(*value),
            $from::Bool(value) => $to::Bool(*value),
            $from::Text(text) => $to::Text(text.clone().into()),
            $from::Utf8(text) => $to::Utf8(text.clone().into()),
            $from::Ansi(text) => $to::Ansi(text.clone().into()),
            $from::Name($name) => $to::Name($named),
            $from::SubclassOf($name) => $to::SubclassOf($named),
            $from::SoftClass($name) => $to::SoftClass($named),
            $from::SoftObject($name) => $to::SoftObject($named),
            $from::FieldPath($name) => $to::FieldPath($named),
            $from::Object($object) => $to::Object($referred),
            $from::WeakObject($object) => $to::WeakObject($referred),
            $from::ScriptInterface($object) => $to::ScriptInterface($referred),
            $from::Array(values) => $to::Array(values.iter().map(|$inner| $nested).collect()),
            $from::Optional(value) => $to::Optional(value.as_deref().map(|$inner| Box::new($nested))),
            $from::Delegate($binding) => $to::Delegate($bound.into()),
            $from::Multicast(bindings) => $to::Multicast(bindings.iter().map(|$binding| $bound).collect()),
            $from::Sparse(bindings) => $to::Sparse(bindings.iter().map(|$binding| $bound).collect()),
            $($arms)*
        }
    };
}

impl FileValue<'static> {
    /// Converts a value to its form in the file. `to` returns the saved reference for an object.
    pub(crate) fn of(value: &Value, names: &Names, to: &impl Fn(ObjectHandle) -> FileReference<'static>) -> Self {
        let text = |name: &Name| -> Cow<'static, str> { names.text(*name).to_string().into() };
        converted! {
            value, Value => FileValue;
            name => text(name),
            object => to(*object),
            inner => Self::of(inner, names, to),
            binding => FileBinding { object: to(binding.object), function: text(&binding.function) };
            Value::F32(value) if needs_bits(f64::from(*value)) => Self::F32Bits(value.to_bits()),
            Value::F32(value) => Self::F32(*value),
            Value::F64(value) if needs_bits(*value) => Self::F64Bits(value.to_bits()),
            Value::F64(value) => Self::F64(*value),
            Value::Set(keys) => Self::Set(keys.iter().map(|key| Self::of(key, names, to)).collect()),
            Value::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| (Self::of(key, names, to), Self::of(value, names, to)));
                Self::Map(entries.collect())
            }
            Value::Struct(fields) => {
                let fields = fields.iter().map(|(name, value)| (name.to_string().into(), Self::of(value, names, to)));
                Self::Struct(fields.collect())
            }
            Value::Enum(value) => {
                Self::Enum(Box::new((value.text.to_string().into(), value.number.to_string().into())))
            }
            Value::LocalText(LocalText { display, namespace, key }) => {
                let (namespace, key) = (text(namespace), text(key));
                Self::LocalText(Box::new(FileText { display: display.clone().into(), namespace, key }))
            }
            Value::LazyObject(id) => Self::LazyObject(id.high, id.low),
            // Writes values as strings if their kind has no variant.
            #[allow(unreachable_patterns, reason = "only kinds for tests have no arm of their own")]
            other => Self::Printed(Box::new((other.kind_name().into(), other.print(names).into()))),
        }
    }
}

impl FileValue<'_> {
    /// Converts the value from its form in the file.
    pub(crate) fn value(&self, names: &Names, from: &mut impl FnMut(&FileReference<'_>) -> ObjectHandle) -> Value {
        converted! {
            self, FileValue => Value;
            name => names.intern(name),
            object => from(object),
            inner => inner.value(names, from),
            binding => binding.binding(names, from);
            Self::F32(value) => Value::F32(*value),
            Self::F64(value) => Value::F64(*value),
            Self::F32Bits(bits) => Value::F32(f32::from_bits(*bits)),
            Self::F64Bits(bits) => Value::F64(f64::from_bits(*bits)),
            Self::Set(keys) => {
                Value::Set(first_of_equal(keys.iter().map(|key| key.value(names, from)).collect(), |key| key))
            }
            Self::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| (key.value(names, from), value.value(names, from)));
                Value::Map(first_of_equal(entries.collect(), |(key, _)| key))
            }
            Self::Struct(fields) => {
                let fields = fields.iter().map(|(name, value)| ((&**name).into(), value.value(names, from)));
                Value::Struct(fields.collect())
            }
            Self::Enum(entry) => {
                let (text, number) = &**entry;
                Value::Enum(EnumValue { text: (&**text).into(), number: number.parse().unwrap_or_default() })
            }
            Self::LocalText(text) => Value::LocalText(LocalText {
                display: text.display.clone().into(),
                namespace: names.intern(&text.namespace),
                key: names.intern(&text.key),
            }),
            Self::Printed(printed) => {
                let (kind, text) = &**printed;
                let parsed = PropertyType::plain_named(kind).and_then(|ty| Value::parse(text, &ty, names).ok());
                // Keeps a value of an unknown kind as a string, so that reports can print the value.
                parsed.unwrap_or_else(|| Value::Text(text.clone().into()))
            }
            Self::LazyObject(high, low) => Value::LazyObject(LazyRaw { high: *high, low: *low }),
        }
    }

    /// Returns the first object index in the value that is out of range. `objects` is the number of objects in the file.
    pub(crate) fn object_beyond(&self, objects: usize) -> Option<u32> {
        let beyond = |reference: &FileReference<'_>| match reference {
            FileReference::In(index) => Some(*index).filter(|index| *index as usize >= objects),
            FileReference::None | FileReference::Path(_) => None,
        };
        self.find(&mut |value| match value {
            Self::Object(reference) | Self::WeakObject(reference) | Self::ScriptInterface(reference) => {
                beyond(reference)
            }
            Self::Delegate(binding) => beyond(&binding.object),
            Self::Multicast(bindings) | Self::Sparse(bindings) => {
                bindings.iter().find_map(|binding| beyond(&binding.object))
            }
            _ => None,
        })
    }

    /// Calls `check` with the value, and then with each value inside the value. Returns the first result that is not `None`.
    pub(crate) fn find<'v, T>(&'v self, check: &mut impl FnMut(&'v Self) -> Option<T>) -> Option<T> {
        check(self).or_else(|| match self {
            Self::Array(values) | Self::Set(values) => values.iter().find_map(|value| value.find(check)),
            Self::Map(entries) => entries.iter().find_map(|(key, value)| key.find(check).or_else(|| value.find(check))),
            Self::Optional(value) => value.as_deref().and_then(|value| value.find(check)),
            Self::Struct(fields) => fields.iter().find_map(|(_, value)| value.find(check)),
            _ => None,
        })
    }
}

impl FileBinding<'_> {
    fn binding(&self, names: &Names, from: &mut impl FnMut(&FileReference<'_>) -> ObjectHandle) -> Binding {
        let object = from(&self.object);
        // An unbound delegate has no function name.
        let function = if object.is_none() { Name::default() } else { names.intern(&self.function) };
        Binding { object, function }
    }
}

/// Removes each entry whose key equals an earlier key. Keys that referred to different objects are equal after a load if these objects do
/// not exist any more.
fn first_of_equal<T>(mut entries: Vec<T>, key: impl Fn(&T) -> &Value) -> Vec<T> {
    let are_first: Vec<bool> = {
        let mut known = HashSet::new();
        entries.iter().map(|entry| known.insert(key(entry))).collect()
    };
    let mut are_first = are_first.into_iter();
    entries.retain(|_| are_first.next().unwrap_or(true));
    entries
}

/// Checks if a number must be saved as its bits, because CBOR preserves neither the bits of a NaN nor the sign of a zero.
fn needs_bits(value: f64) -> bool {
    value.is_nan() || (value == 0.0 && value.is_sign_negative())
}
