//! A value of a property, owned and typed: what tools, defaults and migrations work with. Code that knows the Rust type
//! reads and writes memory directly instead.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::{DelegateRaw, LazyRaw};
use alcedo_base::handles::{Name, ObjectHandle};

/// A value. Two floats are equal when their bits are, as memory compares them: so a default of NaN is equal to itself.
#[derive(Clone, Debug)]
pub enum Value {
    /// A `u8`.
    U8(u8),
    /// A `u16`.
    U16(u16),
    /// A `u32`.
    U32(u32),
    /// A `u64`.
    U64(u64),
    /// An `i8`.
    I8(i8),
    /// An `i16`.
    I16(i16),
    /// An `i32`.
    I32(i32),
    /// An `i64`.
    I64(i64),
    /// An `f32`.
    F32(f32),
    /// An `f64`.
    F64(f64),
    /// A `bool`.
    Bool(bool),
    /// A text.
    Text(String),
    /// An interned name.
    Name(Name),
    /// A reference to an object, or none.
    Object(ObjectHandle),
    /// A struct: names and values of its fields.
    Struct(Vec<(Arc<str>, Value)>),
    /// A text that is kept apart from `String`.
    Utf8(String),
    /// A text of ISO 8859-1 letters.
    Ansi(String),
    /// A text for people.
    LocalText(LocalText),
    /// The name of the path of a class, or of nothing.
    SubclassOf(Name),
    /// The same, also while there is no such class.
    SoftClass(Name),
    /// The name of the path of an object, or of nothing.
    SoftObject(Name),
    /// The id of an object, or none.
    LazyObject(LazyRaw),
    /// A reference that keeps nothing alive.
    WeakObject(ObjectHandle),
    /// A reference to an object that implements an interface.
    ScriptInterface(ObjectHandle),
    /// Values in order.
    Array(Vec<Value>),
    /// Values, each once. Two are equal whatever the order.
    Set(Vec<Value>),
    /// Values by key. Two are equal whatever the order.
    Map(Vec<(Value, Value)>),
    /// A value or none.
    Optional(Option<Box<Value>>),
    /// A function of an object, or nothing.
    Delegate(Binding),
    /// Several of them.
    Multicast(Vec<Binding>),
    /// Several of them, where mostly there is none.
    Sparse(Vec<Binding>),
    /// The name of the path of a property, or of nothing.
    FieldPath(Name),
}

/// Text for people: what is shown, and what it is looked up by in a translation. Both names empty: it is not translated.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct LocalText {
    /// The text in the language it was written in.
    pub shown: String,
    /// Which set of texts the key belongs to.
    pub namespace: Name,
    /// The key in it.
    pub key: Name,
}

/// What a delegate calls; nothing when the object is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Binding {
    /// The object.
    pub object: ObjectHandle,
    /// The name of the function in the object's class.
    pub function: Name,
}

impl From<DelegateRaw> for Binding {
    fn from(DelegateRaw { object, function, .. }: DelegateRaw) -> Self {
        Self { object, function }
    }
}

impl From<Binding> for DelegateRaw {
    fn from(Binding { object, function }: Binding) -> Self {
        Self { object, function, reserved: 0 }
    }
}

/// Whether a text has letters of ISO 8859-1 only, and so fits an `AnsiString`.
pub(crate) fn is_latin_1(text: &str) -> bool {
    text.chars().all(|letter| u8::try_from(letter).is_ok())
}

/// The value with every object that it names by handle replaced by what `map` makes of it. Not a method, since hosts have
/// values in their hands.
pub fn with_objects(value: &Value, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) -> Value {
    value.map_objects(map)
}

impl Value {
    /// The kind of property that holds such a value.
    pub fn kind(&self) -> PropertyKind {
        match self {
            Self::U8(_) => PropertyKind::U8,
            Self::U16(_) => PropertyKind::U16,
            Self::U32(_) => PropertyKind::U32,
            Self::U64(_) => PropertyKind::U64,
            Self::I8(_) => PropertyKind::I8,
            Self::I16(_) => PropertyKind::I16,
            Self::I32(_) => PropertyKind::I32,
            Self::I64(_) => PropertyKind::I64,
            Self::F32(_) => PropertyKind::F32,
            Self::F64(_) => PropertyKind::F64,
            Self::Bool(_) => PropertyKind::BOOL,
            Self::Text(_) => PropertyKind::STRING,
            Self::Name(_) => PropertyKind::NAME,
            Self::Object(_) => PropertyKind::OBJECT,
            Self::Struct(_) => PropertyKind::STRUCT,
            Self::Utf8(_) => PropertyKind::UTF8_STRING,
            Self::Ansi(_) => PropertyKind::ANSI_STRING,
            Self::LocalText(_) => PropertyKind::TEXT,
            Self::SubclassOf(_) => PropertyKind::SUBCLASS_OF,
            Self::SoftClass(_) => PropertyKind::SOFT_CLASS,
            Self::SoftObject(_) => PropertyKind::SOFT_OBJECT,
            Self::LazyObject(_) => PropertyKind::LAZY_OBJECT,
            Self::WeakObject(_) => PropertyKind::WEAK_OBJECT,
            Self::ScriptInterface(_) => PropertyKind::SCRIPT_INTERFACE,
            Self::Array(_) => PropertyKind::ARRAY,
            Self::Set(_) => PropertyKind::SET,
            Self::Map(_) => PropertyKind::MAP,
            Self::Optional(_) => PropertyKind::OPTIONAL,
            Self::Delegate(_) => PropertyKind::DELEGATE,
            Self::Multicast(_) => PropertyKind::MULTICAST_DELEGATE,
            Self::Sparse(_) => PropertyKind::SPARSE_DELEGATE,
            Self::FieldPath(_) => PropertyKind::FIELD_PATH,
        }
    }

    /// Shows `visit` every object that the value names by handle, and whether it keeps the object alive.
    pub fn visit_objects(&self, visit: &mut dyn FnMut(ObjectHandle, bool)) {
        match self {
            Self::Object(object) | Self::ScriptInterface(object) => visit(*object, true),
            Self::WeakObject(object) => visit(*object, false),
            Self::Delegate(binding) => visit(binding.object, true),
            Self::Multicast(list) | Self::Sparse(list) => list.iter().for_each(|binding| visit(binding.object, true)),
            Self::Struct(fields) => fields.iter().for_each(|(_, value)| value.visit_objects(visit)),
            Self::Array(values) | Self::Set(values) => values.iter().for_each(|value| value.visit_objects(visit)),
            Self::Map(entries) => {
                for (key, value) in entries {
                    key.visit_objects(visit);
                    value.visit_objects(visit);
                }
            }
            Self::Optional(Some(value)) => value.visit_objects(visit),
            _ => {}
        }
    }

    /// The value with every object that it names by handle replaced by what `map` makes of it.
    fn map_objects(&self, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) -> Self {
        let mut of_binding = |binding: &Binding| Binding { object: map(binding.object), ..*binding };
        match self {
            Self::Delegate(binding) => Self::Delegate(of_binding(binding)),
            Self::Multicast(list) => Self::Multicast(list.iter().map(of_binding).collect()),
            Self::Sparse(list) => Self::Sparse(list.iter().map(of_binding).collect()),
            Self::Object(object) => Self::Object(map(*object)),
            Self::ScriptInterface(object) => Self::ScriptInterface(map(*object)),
            Self::WeakObject(object) => Self::WeakObject(map(*object)),
            Self::Struct(fields) => {
                Self::Struct(fields.iter().map(|(name, value)| (name.clone(), value.map_objects(map))).collect())
            }
            Self::Array(values) => Self::Array(values.iter().map(|value| value.map_objects(map)).collect()),
            Self::Set(values) => Self::Set(values.iter().map(|value| value.map_objects(map)).collect()),
            Self::Map(entries) => {
                let entry = |(key, value): &(Self, Self)| (key.map_objects(map), value.map_objects(map));
                Self::Map(entries.iter().map(entry).collect())
            }
            Self::Optional(value) => Self::Optional(value.as_ref().map(|value| Box::new(value.map_objects(map)))),
            other => other.clone(),
        }
    }

    /// The value of a number, name or handle whose bytes, zero-extended, are `bits`; `None` for all other kinds.
    pub(super) fn from_bits(kind: PropertyKind, bits: u64) -> Option<Self> {
        Some(match kind {
            PropertyKind::U8 => Self::U8(bits as u8),
            PropertyKind::U16 => Self::U16(bits as u16),
            PropertyKind::U32 => Self::U32(bits as u32),
            PropertyKind::U64 => Self::U64(bits),
            PropertyKind::I8 => Self::I8(bits as i8),
            PropertyKind::I16 => Self::I16(bits as i16),
            PropertyKind::I32 => Self::I32(bits as i32),
            PropertyKind::I64 => Self::I64(bits as i64),
            PropertyKind::F32 => Self::F32(f32::from_bits(bits as u32)),
            PropertyKind::F64 => Self::F64(f64::from_bits(bits)),
            PropertyKind::BOOL => Self::Bool(bits & 0xff != 0),
            PropertyKind::NAME => Self::Name(Name(bits as u32)),
            PropertyKind::OBJECT => Self::Object(ObjectHandle(bits)),
            PropertyKind::SUBCLASS_OF => Self::SubclassOf(Name(bits as u32)),
            PropertyKind::SOFT_CLASS => Self::SoftClass(Name(bits as u32)),
            PropertyKind::SOFT_OBJECT => Self::SoftObject(Name(bits as u32)),
            PropertyKind::FIELD_PATH => Self::FieldPath(Name(bits as u32)),
            PropertyKind::WEAK_OBJECT => Self::WeakObject(ObjectHandle(bits)),
            PropertyKind::SCRIPT_INTERFACE => Self::ScriptInterface(ObjectHandle(bits)),
            _ => return None,
        })
    }

    /// The bytes of a number, name or handle, zero-extended; `None` for all other kinds.
    pub(super) fn bits(&self) -> Option<u64> {
        Some(match *self {
            Self::U8(value) => value.into(),
            Self::U16(value) => value.into(),
            Self::U32(value) => value.into(),
            Self::U64(value) => value,
            Self::I8(value) => (value as u8).into(),
            Self::I16(value) => (value as u16).into(),
            Self::I32(value) => (value as u32).into(),
            Self::I64(value) => value as u64,
            Self::F32(value) => value.to_bits().into(),
            Self::F64(value) => value.to_bits(),
            Self::Bool(value) => value.into(),
            Self::Name(value)
            | Self::SubclassOf(value)
            | Self::SoftClass(value)
            | Self::SoftObject(value)
            | Self::FieldPath(value) => value.0.into(),
            Self::Object(value) | Self::WeakObject(value) | Self::ScriptInterface(value) => value.0,
            _ => return None,
        })
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(two))
            | (Self::Utf8(one), Self::Utf8(two))
            | (Self::Ansi(one), Self::Ansi(two)) => one == two,
            (Self::LocalText(one), Self::LocalText(two)) => one == two,
            (Self::LazyObject(one), Self::LazyObject(two)) => one == two,
            (Self::Struct(one), Self::Struct(two)) => one == two,
            (Self::Array(one), Self::Array(two)) => one == two,
            (Self::Set(one), Self::Set(two)) => same_in_any_order(one, two),
            (Self::Map(one), Self::Map(two)) => same_in_any_order(one, two),
            (Self::Optional(one), Self::Optional(two)) => one == two,
            (Self::Delegate(one), Self::Delegate(two)) => one == two,
            (Self::Multicast(one), Self::Multicast(two)) | (Self::Sparse(one), Self::Sparse(two)) => one == two,
            (one, two) => one.kind() == two.kind() && one.bits() == two.bits(),
        }
    }
}

/// Whether the two have the same things, each as often.
fn same_in_any_order<T: Hash + Eq>(one: &[T], two: &[T]) -> bool {
    let mut counts: HashMap<&T, isize> = HashMap::with_capacity(one.len());
    one.iter().for_each(|thing| *counts.entry(thing).or_default() += 1);
    two.iter().for_each(|thing| *counts.entry(thing).or_default() -= 1);
    counts.values().all(|count| *count == 0)
}

/// Equal values feed the same: of sets and maps only how many there are, since the order must not be felt.
impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind().hash(state);
        match self {
            Self::Text(text) | Self::Utf8(text) | Self::Ansi(text) => text.hash(state),
            Self::LocalText(text) => text.hash(state),
            Self::LazyObject(id) => id.hash(state),
            Self::Struct(fields) => fields.hash(state),
            Self::Array(values) => values.hash(state),
            Self::Set(values) => values.len().hash(state),
            Self::Map(entries) => entries.len().hash(state),
            Self::Optional(value) => value.hash(state),
            Self::Delegate(binding) => binding.hash(state),
            Self::Multicast(list) | Self::Sparse(list) => list.hash(state),
            word => word.bits().hash(state),
        }
    }
}

impl Eq for Value {}

#[cfg(test)]
mod tests {
    use alcedo_base::handles::{Name, ObjectHandle};

    use super::Value;

    #[test]
    fn every_scalar_is_the_same_after_a_way_through_its_bits() {
        for value in [
            Value::U8(200),
            Value::U16(60_000),
            Value::U32(4_000_000_000),
            Value::U64(u64::MAX),
            Value::I8(-3),
            Value::I16(-300),
            Value::I32(-70_000),
            Value::I64(i64::MIN),
            Value::F32(-0.5),
            Value::F64(f64::NAN),
            Value::Bool(true),
            Value::Name(Name(9)),
            Value::Object(ObjectHandle::new(3, 4)),
            Value::SubclassOf(Name(1)),
            Value::SoftClass(Name(2)),
            Value::SoftObject(Name(3)),
            Value::FieldPath(Name(4)),
            Value::WeakObject(ObjectHandle::new(5, 6)),
            Value::ScriptInterface(ObjectHandle::new(7, 8)),
        ] {
            assert_eq!(Value::from_bits(value.kind(), value.bits().unwrap()), Some(value));
        }
    }

    #[test]
    fn floats_are_compared_by_their_bits() {
        assert_eq!(Value::F64(f64::NAN), Value::F64(f64::NAN));
        assert_ne!(Value::F64(0.0), Value::F64(-0.0));
        assert_ne!(Value::F32(0.0), Value::F64(0.0));
        assert_ne!(Value::Text(String::new()), Value::Struct(Vec::new()));
    }
    #[test]
    fn sets_and_maps_are_equal_whatever_the_order() {
        let [a, b] = [Value::U8(1), Value::Text("b".into())];
        let pair = |one: &Value, two: &Value| vec![one.clone(), two.clone()];
        assert_eq!(Value::Set(pair(&a, &b)), Value::Set(pair(&b, &a)));
        assert_ne!(Value::Set(pair(&a, &b)), Value::Set(pair(&a, &a)));
        assert_ne!(Value::Array(pair(&a, &b)), Value::Array(pair(&b, &a)));
        let (one, two) = ((a.clone(), b.clone()), (b.clone(), a.clone()));
        assert_eq!(Value::Map(vec![one.clone(), two.clone()]), Value::Map(vec![two, one.clone()]));
        assert_ne!(Value::Map(vec![one.clone()]), Value::Map(vec![(a.clone(), a)]));
        assert_eq!(Value::Array(vec![Value::Map(vec![one.clone()])]), Value::Array(vec![Value::Map(vec![one])]));
    }
}
