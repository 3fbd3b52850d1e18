//! What a property is: the type of its value, and where, under which name and with which default it lies.

use std::fmt;
use std::rc::Rc;

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::TextRaw;

use crate::handles::Name;
use crate::object::structs::StructType;
use crate::object::value::Value;

/// The type of a property, a struct field or a parameter.
#[derive(Clone, Debug)]
pub enum PropertyType {
    /// One byte, unsigned.
    U8,
    /// Two bytes, unsigned.
    U16,
    /// Four bytes, unsigned.
    U32,
    /// Eight bytes, unsigned.
    U64,
    /// One byte, signed.
    I8,
    /// Two bytes, signed.
    I16,
    /// Four bytes, signed.
    I32,
    /// Eight bytes, signed.
    I64,
    /// Four bytes, IEEE 754.
    F32,
    /// Eight bytes, IEEE 754.
    F64,
    /// One byte, 0 or 1.
    Bool,
    /// UTF-8 text owned by the host. Its kind is `PropertyKind::STRING`.
    Text,
    /// An interned name.
    Name,
    /// A strong reference to an object.
    Object {
        /// Path of the class the declaration names, as it is written there.
        class: Rc<str>,
    },
    /// A struct by value.
    Struct(Rc<StructType>),
}

/// A property of a class, a field of a struct or a parameter of a function.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name.
    pub name: Name,
    /// Its name as text.
    pub text: Rc<str>,
    /// Its name as people read it: `rotation_speed` is `Rotation Speed`.
    pub display: Rc<str>,
    /// What it holds.
    pub ty: PropertyType,
    /// Bits of [`alcedo_abi::kinds::property_flags`].
    pub flags: u64,
    /// Its default; without one it starts at zero.
    pub default: Option<Value>,
    /// The doc comment.
    pub doc: Rc<str>,
    /// Bytes from the start of the object, struct or parameter block.
    pub offset: u32,
    /// Path of the class, struct or function it belongs to.
    pub owner: Rc<str>,
}

impl PropertyType {
    /// The type of a kind that needs no path; `None` for objects, structs and unknown numbers.
    pub fn plain(kind: PropertyKind) -> Option<Self> {
        Some(match kind {
            PropertyKind::U8 => Self::U8,
            PropertyKind::U16 => Self::U16,
            PropertyKind::U32 => Self::U32,
            PropertyKind::U64 => Self::U64,
            PropertyKind::I8 => Self::I8,
            PropertyKind::I16 => Self::I16,
            PropertyKind::I32 => Self::I32,
            PropertyKind::I64 => Self::I64,
            PropertyKind::F32 => Self::F32,
            PropertyKind::F64 => Self::F64,
            PropertyKind::BOOL => Self::Bool,
            PropertyKind::STRING => Self::Text,
            PropertyKind::NAME => Self::Name,
            _ => return None,
        })
    }

    /// Its kind number.
    pub fn kind(&self) -> PropertyKind {
        match self {
            Self::U8 => PropertyKind::U8,
            Self::U16 => PropertyKind::U16,
            Self::U32 => PropertyKind::U32,
            Self::U64 => PropertyKind::U64,
            Self::I8 => PropertyKind::I8,
            Self::I16 => PropertyKind::I16,
            Self::I32 => PropertyKind::I32,
            Self::I64 => PropertyKind::I64,
            Self::F32 => PropertyKind::F32,
            Self::F64 => PropertyKind::F64,
            Self::Bool => PropertyKind::BOOL,
            Self::Text => PropertyKind::STRING,
            Self::Name => PropertyKind::NAME,
            Self::Object { .. } => PropertyKind::OBJECT,
            Self::Struct(_) => PropertyKind::STRUCT,
        }
    }

    /// Path of the struct or class of the value; empty for plain kinds.
    pub fn type_path(&self) -> &str {
        match self {
            Self::Object { class } => class,
            Self::Struct(of) => &of.path,
            _ => "",
        }
    }

    /// Bytes of a value.
    pub fn size(&self) -> usize {
        match self {
            Self::U8 | Self::I8 | Self::Bool => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 | Self::Name => 4,
            Self::U64 | Self::I64 | Self::F64 | Self::Object { .. } => 8,
            Self::Text => size_of::<TextRaw>(),
            Self::Struct(of) => of.size(),
        }
    }

    /// Alignment of a value in bytes.
    pub fn align(&self) -> usize {
        match self {
            Self::Text => align_of::<TextRaw>(),
            Self::Struct(of) => of.align(),
            scalar => scalar.size(),
        }
    }

    /// Whether values own memory of their own, which must be freed with them.
    pub fn owns_memory(&self) -> bool {
        match self {
            Self::Text => true,
            Self::Struct(of) => of.nature().owns_memory,
            _ => false,
        }
    }

    /// Whether values hold references to objects, directly or in a struct.
    pub fn holds_objects(&self) -> bool {
        match self {
            Self::Object { .. } => true,
            Self::Struct(of) => of.nature().holds_objects,
            _ => false,
        }
    }

    /// The fingerprint that imports of a property are compared by.
    pub fn fingerprint(&self) -> u64 {
        Fingerprint::START.value(self.kind(), self.type_path()).finish()
    }
}

/// The type as signatures, reports and errors show it: `f64`, `Object(/Script/Engine.Actor)`, `/Script/Engine.Rotator`.
impl fmt::Display for PropertyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object { class } => write!(f, "Object({class})"),
            Self::Struct(of) => f.write_str(&of.path),
            plain => f.write_str(plain.kind().text().unwrap_or("?")),
        }
    }
}

/// Structs are the same when path and all fields are: two generations may well have a struct of one path.
impl PartialEq for PropertyType {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Struct(one), Self::Struct(two)) => Rc::ptr_eq(one, two) || one.same_layout(two),
            (Self::Object { class: one }, Self::Object { class: two }) => one == two,
            (one, two) => one.kind() == two.kind(),
        }
    }
}

impl Eq for PropertyType {}

/// A name as people read it: words of an identifier, each with a capital.
pub(crate) fn display_name(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty()).map(|word| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use alcedo_abi::fingerprint::Fingerprint;
    use alcedo_abi::kinds::PropertyKind;

    use super::{PropertyType, display_name};

    #[test]
    fn every_plain_kind_has_a_type_of_its_own() {
        for number in 0..=u8::MAX {
            let kind = PropertyKind(number);
            match PropertyType::plain(kind) {
                Some(ty) => assert_eq!((ty.kind(), ty.to_string().as_str()), (kind, kind.text().unwrap())),
                None => assert!(!(1..=13).contains(&number), "{number}"),
            }
        }
    }

    #[test]
    fn size_and_alignment_are_those_of_the_rust_type() {
        let sizes: Vec<_> = (1..=13)
            .map(|number| PropertyType::plain(PropertyKind(number)).unwrap())
            .map(|ty| (ty.to_string(), ty.size(), ty.align()))
            .collect();
        let shown: Vec<_> = sizes.iter().map(|(text, size, align)| format!("{text} {size}/{align}")).collect();
        assert_eq!(
            shown.join(", "),
            "u8 1/1, u16 2/2, u32 4/4, u64 8/8, i8 1/1, i16 2/2, i32 4/4, i64 8/8, f32 4/4, f64 8/8, bool 1/1, \
             String 24/8, Name 4/4"
        );
    }

    #[test]
    fn a_reference_shows_its_class_and_is_fingerprinted_with_it() {
        let ty = PropertyType::Object { class: "/Script/Engine.Actor".into() };
        assert_eq!(ty.to_string(), "Object(/Script/Engine.Actor)");
        let expected = Fingerprint::START.value(PropertyKind::OBJECT, "/Script/Engine.Actor").finish();
        assert_eq!(ty.fingerprint(), expected);
    }

    #[test]
    fn a_display_name_has_words() {
        for (name, shown) in [("rotation_speed", "Rotation Speed"), ("x", "X"), ("_a__b", "A B"), ("_", "")] {
            assert_eq!(display_name(name), shown);
        }
    }
}
