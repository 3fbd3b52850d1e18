//! What a property is: the type of its value, and where, under which name and with which default it lies.

use std::fmt;
use std::rc::Rc;

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::{ArrayRaw, DelegateRaw, LazyRaw, LocalTextRaw, MapRaw, SparseRaw, TextRaw};
use alcedo_base::handles::Name;

use crate::nested::{ElementType, EntryType, OptionalType, Row};
use crate::structs::StructType;
use crate::value::Value;

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
    /// UTF-8 text, kept apart from `String` because other code tells the two apart.
    Utf8Text,
    /// Text of one byte a character, ISO 8859-1.
    AnsiText,
    /// Text for people, with the key it is translated by.
    LocalText,
    /// A class, by the name of its path: the one of this path or a subclass.
    SubclassOf(Rc<str>),
    /// The same, also while there is no such class.
    SoftClass(Rc<str>),
    /// An object of the class of this path, by the name of its own path.
    SoftObject(Rc<str>),
    /// An object of the class of this path, by an id that no other ever has.
    LazyObject(Rc<str>),
    /// A reference to an object of the class of this path that keeps nothing alive.
    WeakObject(Rc<str>),
    /// A strong reference to an object that implements the interface of this path.
    ScriptInterface(Rc<str>),
    /// A row of values.
    Array(Rc<ElementType>),
    /// Values, each once.
    Set(Rc<ElementType>),
    /// Values by key.
    Map(Rc<EntryType>),
    /// A value or none.
    Optional(Rc<OptionalType>),
    /// A function of an object, to be called later, with the signature in words.
    Delegate(Rc<str>),
    /// Any number of delegates.
    MulticastDelegate(Rc<ElementType>),
    /// The same where there mostly is none.
    SparseDelegate(Rc<ElementType>),
    /// A property, by the name of its path.
    FieldPath,
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
    /// The type of a kind that needs no more words; `None` for all others and for unknown numbers.
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
            PropertyKind::UTF8_STRING => Self::Utf8Text,
            PropertyKind::ANSI_STRING => Self::AnsiText,
            PropertyKind::TEXT => Self::LocalText,
            PropertyKind::FIELD_PATH => Self::FieldPath,
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
            Self::Utf8Text => PropertyKind::UTF8_STRING,
            Self::AnsiText => PropertyKind::ANSI_STRING,
            Self::LocalText => PropertyKind::TEXT,
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
            Self::MulticastDelegate(_) => PropertyKind::MULTICAST_DELEGATE,
            Self::SparseDelegate(_) => PropertyKind::SPARSE_DELEGATE,
            Self::FieldPath => PropertyKind::FIELD_PATH,
        }
    }

    /// What belongs to the kind: the path of the struct or class, the types in a container, the signature of a delegate.
    /// Empty for plain kinds.
    pub fn type_path(&self) -> &str {
        match self {
            Self::Object { class } => class,
            Self::Struct(of) => &of.path,
            Self::SubclassOf(path)
            | Self::SoftClass(path)
            | Self::SoftObject(path)
            | Self::LazyObject(path)
            | Self::WeakObject(path)
            | Self::ScriptInterface(path)
            | Self::Delegate(path) => path,
            Self::Array(of) | Self::Set(of) | Self::MulticastDelegate(of) | Self::SparseDelegate(of) => of.text(),
            Self::Map(of) => of.text(),
            Self::Optional(of) => of.text(),
            _ => "",
        }
    }

    /// How the rows of a set or map lie; `None` for all others.
    pub fn row(&self) -> Option<Row<'_>> {
        match self {
            Self::Set(of) => Some(of.row()),
            Self::Map(of) => Some(of.row()),
            _ => None,
        }
    }

    /// Whether a value is one number, name or handle of 1, 2, 4 or 8 bytes.
    pub(crate) fn is_word(&self) -> bool {
        !matches!(
            self,
            Self::Struct(_) | Self::LazyObject(_) | Self::Optional(_) | Self::Delegate(_) | Self::SparseDelegate(_)
        ) && (self.size() <= 8)
    }

    /// Bytes of a value.
    pub fn size(&self) -> usize {
        match self {
            Self::U8 | Self::I8 | Self::Bool => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::Name | Self::SubclassOf(_) | Self::SoftClass(_) | Self::SoftObject(_) | Self::FieldPath => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
            Self::Object { .. } | Self::WeakObject(_) | Self::ScriptInterface(_) => 8,
            Self::Text | Self::Utf8Text | Self::AnsiText => size_of::<TextRaw>(),
            Self::LocalText => size_of::<LocalTextRaw>(),
            Self::Struct(of) => of.size(),
            Self::LazyObject(_) => size_of::<LazyRaw>(),
            Self::Array(_) | Self::MulticastDelegate(_) => size_of::<ArrayRaw>(),
            Self::Set(_) | Self::Map(_) => size_of::<MapRaw>(),
            Self::Optional(of) => of.size(),
            Self::Delegate(_) => size_of::<DelegateRaw>(),
            Self::SparseDelegate(_) => size_of::<SparseRaw>(),
        }
    }

    /// Alignment of a value in bytes.
    pub fn align(&self) -> usize {
        match self {
            Self::Text | Self::Utf8Text | Self::AnsiText => align_of::<TextRaw>(),
            Self::LocalText => align_of::<LocalTextRaw>(),
            Self::Struct(of) => of.align(),
            Self::LazyObject(_) => align_of::<LazyRaw>(),
            Self::Array(_) | Self::MulticastDelegate(_) => align_of::<ArrayRaw>(),
            Self::Set(_) | Self::Map(_) => align_of::<MapRaw>(),
            Self::Optional(of) => of.ty().align(),
            Self::Delegate(_) => align_of::<DelegateRaw>(),
            Self::SparseDelegate(_) => align_of::<SparseRaw>(),
            word => word.size(),
        }
    }

    /// Whether values own memory of their own, which must be freed with them.
    pub fn owns_memory(&self) -> bool {
        match self {
            Self::Text | Self::Utf8Text | Self::AnsiText | Self::LocalText => true,
            Self::Struct(of) => of.nature().owns_memory,
            Self::Array(_) | Self::Set(_) | Self::Map(_) => true,
            Self::MulticastDelegate(_) | Self::SparseDelegate(_) => true,
            Self::Optional(of) => of.ty().owns_memory(),
            _ => false,
        }
    }

    /// Whether values keep objects alive, directly or by what is in them: references, interfaces and delegates do.
    pub fn holds_objects(&self) -> bool {
        match self {
            Self::Object { .. } | Self::ScriptInterface(_) => true,
            Self::Delegate(_) | Self::MulticastDelegate(_) | Self::SparseDelegate(_) => true,
            Self::Struct(of) => of.nature().holds_objects,
            Self::Array(of) | Self::Set(of) => of.ty().holds_objects(),
            Self::Map(of) => of.key().holds_objects() || of.value().holds_objects(),
            Self::Optional(of) => of.ty().holds_objects(),
            _ => false,
        }
    }

    /// Whether values name objects by handle, be it that they keep them alive or not.
    pub fn names_objects(&self) -> bool {
        match self {
            Self::WeakObject(_) => true,
            Self::Struct(of) => of.nature().names_objects,
            Self::Array(of) | Self::Set(of) => of.ty().names_objects(),
            Self::Map(of) => of.key().names_objects() || of.value().names_objects(),
            Self::Optional(of) => of.ty().names_objects(),
            other => other.holds_objects(),
        }
    }

    /// Whether values may be in a set, or be the keys of a map: what may change in place, or is a function, may not.
    pub fn can_be_key(&self) -> bool {
        match self {
            Self::Array(_) | Self::Set(_) | Self::Map(_) | Self::Optional(_) => false,
            Self::Delegate(_) | Self::MulticastDelegate(_) | Self::SparseDelegate(_) => false,
            Self::Struct(of) => of.nature().can_be_key,
            _ => true,
        }
    }

    /// Whether the type is, or has in it, a struct for which `is` says yes.
    pub fn any_struct(&self, is: &dyn Fn(&Rc<StructType>) -> bool) -> bool {
        match self {
            Self::Struct(of) => is(of) || of.fields().iter().any(|field| field.ty.any_struct(is)),
            Self::Array(of) | Self::Set(of) => of.ty().any_struct(is),
            Self::Map(of) => of.key().any_struct(is) || of.value().any_struct(is),
            Self::Optional(of) => of.ty().any_struct(is),
            _ => false,
        }
    }

    /// What all structs in the type come to, however deep, zero without any: they may change under their paths.
    pub fn layout(&self) -> u64 {
        let print = std::cell::Cell::new(None);
        self.any_struct(&|of| {
            let before = print.get().unwrap_or(Fingerprint::START);
            print.set(Some(before.text(&of.path).number(of.fingerprint())));
            false
        });
        print.get().map_or(0, Fingerprint::finish)
    }

    /// The fingerprint that imports of a property are compared by.
    #[inline]
    pub fn fingerprint(&self) -> u64 {
        Fingerprint::START.value(self.kind(), self.type_path()).finish()
    }
}

/// The type as signatures, reports and errors show it: `f64`, `Object(/Script/Engine.Actor)`, `/Script/Engine.Rotator`,
/// `Map(String, Array(f64))`.
impl fmt::Display for PropertyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind().text().unwrap_or("?");
        match self {
            Self::Struct(of) => f.write_str(&of.path),
            Self::Delegate(_) | Self::MulticastDelegate(_) | Self::SparseDelegate(_) => {
                write!(f, "{kind}({})", self.type_path())
            }
            plain if plain.type_path().is_empty() => f.write_str(kind),
            other => write!(f, "{kind}({})", other.type_path()),
        }
    }
}

/// Structs are the same when path and all fields are: two generations may well have a struct of one path.
impl PartialEq for PropertyType {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Struct(one), Self::Struct(two)) => Rc::ptr_eq(one, two) || one.same_layout(two),
            (Self::Array(one), Self::Array(two)) | (Self::Set(one), Self::Set(two)) => one.ty() == two.ty(),
            (Self::Map(one), Self::Map(two)) => one.key() == two.key() && one.value() == two.value(),
            (Self::Optional(one), Self::Optional(two)) => one.ty() == two.ty(),
            (one, two) => one.kind() == two.kind() && one.type_path() == two.type_path(),
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
                None => assert!(!matches!(number, 1..=13 | 16..=18 | 51), "{number}"),
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
