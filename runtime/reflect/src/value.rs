//! Owned, typed property values for tools, defaults and migrations. Code with a matching Rust type accesses property memory directly,
//! without these values.

use std::fmt::{self, Display};
use std::sync::Arc;

use alcedo_abi::value::{DelegateRaw, LazyRaw};
use alcedo_base::boundary::CallError;
use alcedo_base::handles::{Name, ObjectHandle};

use crate::kind_list::{each_kind, value_enum};

each_kind! { [value_enum] (
    /// Property value. Comparisons of floats compare their bits. A NaN is therefore equal to a NaN with equal bits.
    ///
    /// # Examples
    /// ```
    /// use alcedo_reflect::value::Value;
    ///
    /// let speed = Value::F64(2.5);
    /// assert!(matches!(speed, Value::F64(speed) if speed > 2.0));
    /// assert_eq!(Value::F64(f64::NAN), Value::F64(f64::NAN));
    /// assert_ne!(Value::F64(2.0), Value::I32(2));
    /// ```
    #[derive(Clone, Debug)]
    Value
) }

/// Value of an enum: the name of an entry, several names for flags, or a number without an entry.
///
/// # Examples
/// ```
/// use alcedo_reflect::value::EnumValue;
///
/// let access = EnumValue { text: "Read | Write".into(), number: 3 };
/// assert_eq!(access.to_string(), "Read | Write");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct EnumValue {
    /// Text of the value: `Red`, or `7` for a number without an entry. For flags: `Read | Write`, or `Read | 8` if one bit has no entry.
    pub text: Arc<str>,
    /// Number of the value, in the enum from which the value was read. Writes use the text and ignore the number.
    pub number: i128,
}

impl EnumValue {
    /// Creates the value of an entry from the entry's name. For flags, `|` separates several names.
    ///
    /// # Examples
    /// ```
    /// use alcedo_reflect::value::{EnumValue, Value};
    ///
    /// let color = Value::Enum(EnumValue::named("Red"));
    /// assert!(matches!(color, Value::Enum(entry) if &*entry.text == "Red"));
    /// ```
    #[must_use]
    pub fn named(text: &str) -> Self {
        Self { text: text.into(), number: 0 }
    }
}

impl Display for EnumValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Localizable text: the displayed string, and the namespace and key of its translation. If namespace and key are empty, the text is not
/// translated.
///
/// # Examples
/// ```
/// use alcedo_reflect::value::LocalText;
///
/// let title = LocalText { display: "Open the door".into(), ..LocalText::default() };
/// assert_eq!(title.namespace, title.key, "not translated");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct LocalText {
    /// Text in its source language.
    pub display: String,
    /// Namespace of the key.
    pub namespace: Name,
    /// Key in the namespace.
    pub key: Name,
}

/// Target of a delegate. The delegate is unbound if the object is `NONE`.
///
/// # Examples
/// ```
/// use alcedo_base::handles::{Name, ObjectHandle};
/// use alcedo_reflect::value::Binding;
///
/// let toggle = Binding { object: ObjectHandle::new(3, 1), function: Name(7) };
/// assert!(!toggle.object.is_none());
/// assert!(Binding::default().object.is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Binding {
    /// Called object.
    pub object: ObjectHandle,
    /// Name of the function in the object's class.
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

/// Checks if a string has only ISO 8859-1 characters, as `AnsiString` requires.
pub(crate) fn is_latin_1(text: &str) -> bool {
    text.chars().all(|letter| u8::try_from(letter).is_ok())
}

/// Checks if the value contains a handle that is not `NONE`.
pub fn names_object(value: &Value) -> bool {
    any_object(value, |object| !object.is_none())
}

/// Checks if the value contains a handle for which `is_match` returns true. The handle may be `NONE`.
pub fn any_object(value: &Value, is_match: impl Fn(ObjectHandle) -> bool) -> bool {
    let mut is_any = false;
    value.visit_objects(&mut |object, _| is_any |= is_match(object));
    is_any
}

/// Returns a copy of the value in which every object handle is replaced with the result of `map`. Not a method of [`Value`], because host
/// code uses values and must not have access to this operation.
///
/// # Examples
/// ```
/// use alcedo_base::handles::ObjectHandle;
/// use alcedo_reflect::value::{Value, with_objects};
///
/// let (old, new) = (ObjectHandle::new(3, 1), ObjectHandle::new(8, 1));
/// let target = Value::Object(old);
/// let moved = with_objects(&target, &mut |object| if object == old { new } else { object });
/// assert_eq!(moved, Value::Object(new));
/// ```
pub fn with_objects(value: &Value, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) -> Value {
    value.map_objects(map)
}

/// Error for a value that does not match the type of the written property.
///
/// # Examples
/// ```
/// use alcedo_reflect::owned::OwnedValue;
/// use alcedo_reflect::property::PropertyType;
/// use alcedo_reflect::value::Value;
///
/// let mut speed = OwnedValue::zero(PropertyType::F64);
/// let error = speed.write(&Value::Bool(true)).expect_err("not a number");
/// assert_eq!(error.to_string(), "a bool cannot be written to a f64: convert it first");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a {found} cannot be written to a {expected}: convert it first")]
pub struct WrongType {
    /// Kind of the value, or name of the unknown field of a struct.
    pub found: String,
    /// Type of the property.
    pub expected: String,
}

impl WrongType {
    /// Returns the error for a value that cannot be written to a type.
    pub(crate) fn of(found: &str, ty: &impl Display) -> Self {
        Self { found: found.to_owned(), expected: ty.to_string() }
    }

    /// Converts this error to a [`CallError`]. `name` is the location to which the call writes.
    pub(crate) fn in_call(self, name: String) -> CallError {
        CallError::Signature { name, found: self.expected, expected: self.found }
    }

    /// Checks that a container can hold `len` values.
    pub(crate) fn check_len(len: usize, ty: &impl Display) -> Result<(), Self> {
        if u32::try_from(len).is_ok() { Ok(()) } else { Err(Self::of("container with 2³² values", ty)) }
    }
}

#[cfg(test)]
mod tests {
    use alcedo_base::handles::{Name, ObjectHandle};

    use super::Value;
    use crate::owned::OwnedValue;
    use crate::property::PropertyType;

    #[test]
    fn scalars_round_trip_through_memory() {
        const OBJECT: &str = "/Script/Engine.Object";
        for (value, ty) in [
            (Value::U8(200), PropertyType::U8),
            (Value::U16(60_000), PropertyType::U16),
            (Value::U32(4_000_000_000), PropertyType::U32),
            (Value::U64(u64::MAX), PropertyType::U64),
            (Value::I8(-3), PropertyType::I8),
            (Value::I16(-300), PropertyType::I16),
            (Value::I32(-70_000), PropertyType::I32),
            (Value::I64(i64::MIN), PropertyType::I64),
            (Value::F32(-0.5), PropertyType::F32),
            (Value::F64(f64::NAN), PropertyType::F64),
            (Value::Bool(true), PropertyType::Bool),
            (Value::Name(Name(9)), PropertyType::Name),
            (Value::Object(ObjectHandle::new(3, 4)), PropertyType::Object { class: OBJECT.into() }),
            (Value::SubclassOf(Name(1)), PropertyType::SubclassOf(OBJECT.into())),
            (Value::SoftClass(Name(2)), PropertyType::SoftClass(OBJECT.into())),
            (Value::SoftObject(Name(3)), PropertyType::SoftObject(OBJECT.into())),
            (Value::FieldPath(Name(4)), PropertyType::FieldPath),
            (Value::WeakObject(ObjectHandle::new(5, 6)), PropertyType::WeakObject(OBJECT.into())),
            (Value::ScriptInterface(ObjectHandle::new(7, 8)), PropertyType::ScriptInterface(OBJECT.into())),
        ] {
            let mut own = OwnedValue::zero(ty);
            own.write(&value).unwrap();
            assert_eq!(own.read(), value);
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
    fn sets_and_maps_are_equal_in_any_order() {
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
