//! The values that properties begin with. Apart from [`Value`], which knows nothing of types.

use std::sync::Arc;

use crate::property::PropertyType;
use crate::value::{Binding, LocalText, Value};
use alcedo_abi::value::LazyRaw;

impl Value {
    /// The value that zero bytes mean.
    pub fn zero(ty: &PropertyType) -> Self {
        match ty {
            PropertyType::Struct(of) => {
                Self::Struct(of.fields().iter().map(|field| (Arc::from(&*field.text), Self::zero(&field.ty))).collect())
            }
            PropertyType::Text => Self::Text(String::new()),
            PropertyType::Utf8Text => Self::Utf8(String::new()),
            PropertyType::AnsiText => Self::Ansi(String::new()),
            PropertyType::LocalText => Self::LocalText(LocalText::default()),
            PropertyType::LazyObject(_) => Self::LazyObject(LazyRaw::NONE),
            PropertyType::Array(_) => Self::Array(Vec::new()),
            PropertyType::Set(_) => Self::Set(Vec::new()),
            PropertyType::Map(_) => Self::Map(Vec::new()),
            PropertyType::Optional(_) => Self::Optional(None),
            PropertyType::Delegate(_) => Self::Delegate(Binding::default()),
            PropertyType::MulticastDelegate(_) => Self::Multicast(Vec::new()),
            PropertyType::SparseDelegate(_) => Self::Sparse(Vec::new()),
            word => Self::from_bits(word.kind(), 0).expect("every other type is a word"),
        }
    }

    /// The value a property starts with when its declaration names none: zero, but fields of structs at the defaults
    /// of the struct.
    pub fn initial(ty: &PropertyType) -> Self {
        match ty {
            PropertyType::Struct(of) => {
                let start = |default: &Option<Self>, ty| default.clone().unwrap_or_else(|| Self::initial(ty));
                Self::Struct(
                    of.fields()
                        .iter()
                        .map(|field| (Arc::from(&*field.text), start(&field.default, &field.ty)))
                        .collect(),
                )
            }
            scalar => Self::zero(scalar),
        }
    }
}
