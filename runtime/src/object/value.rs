//! A value of a property, owned and typed: what tools, defaults and migrations work with. Code that knows the Rust type
//! reads and writes memory directly instead.

use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;

use crate::handles::{Name, ObjectHandle};
use crate::object::property::PropertyType;

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
    Struct(Vec<(Rc<str>, Value)>),
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
        }
    }

    /// The value that zero bytes mean.
    pub fn zero(ty: &PropertyType) -> Self {
        match ty {
            PropertyType::Struct(of) => {
                Self::Struct(of.fields().iter().map(|field| (field.text.clone(), Self::zero(&field.ty))).collect())
            }
            scalar => Self::from_bits(scalar.kind(), 0).unwrap_or_else(|| Self::Text(String::new())),
        }
    }

    /// The value a property starts with when its declaration names none: zero, but fields of structs at the defaults
    /// of the struct.
    pub fn initial(ty: &PropertyType) -> Self {
        match ty {
            PropertyType::Struct(of) => {
                let start = |default: &Option<Self>, ty| default.clone().unwrap_or_else(|| Self::initial(ty));
                Self::Struct(
                    of.fields().iter().map(|field| (field.text.clone(), start(&field.default, &field.ty))).collect(),
                )
            }
            scalar => Self::zero(scalar),
        }
    }

    /// The value of a scalar kind whose bytes, zero-extended, are `bits`; `None` for texts and structs.
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
            _ => return None,
        })
    }

    /// The bytes of a scalar, zero-extended; `None` for texts and structs.
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
            Self::Name(value) => value.0.into(),
            Self::Object(value) => value.0,
            Self::Text(_) | Self::Struct(_) => return None,
        })
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(two)) => one == two,
            (Self::Struct(one), Self::Struct(two)) => one == two,
            (one, two) => one.kind() == two.kind() && one.bits() == two.bits(),
        }
    }
}

impl Eq for Value {}

#[cfg(test)]
mod tests {
    use super::Value;
    use crate::handles::{Name, ObjectHandle};

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
}
