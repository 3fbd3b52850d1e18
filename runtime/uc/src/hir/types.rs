//! Types of the checked tree.

use std::fmt;
use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_reflect::type_text::{SignatureText, TypeText};

use super::Path;

/// A type. The zero value of a type consists of zero bytes. Only the zero value of a struct contains the defaults of the struct's fields
/// instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// A number: `byte`, `int`, `float`, and the other number types of reflection.
    Num(Num),
    /// The type `bool`.
    Bool,
    /// The type `string`. In reflection, this type is `String`.
    Text,
    /// `Utf8String` of reflection.
    Utf8Text,
    /// `AnsiString` of reflection.
    AnsiText,
    /// `Text` of reflection.
    LocalText,
    /// The type `name`.
    Name,
    /// `FieldPath` of reflection.
    FieldPath,
    /// An enum, and the number kind of its discriminants. Script enums have the kind `u8`.
    Enum(Path, Num),
    /// A struct.
    Struct(Path),
    /// An object of the class or of a derived class, or no object.
    Object(Path),
    /// `class<X>`: the class `X`, a class derived from `X`, or no class. In reflection, this type is `SubclassOf`.
    Class(Path),
    /// An object whose class implements the interface, or no object. In reflection, this type is `ScriptInterface`.
    Interface(Path),
    /// A reference type of reflection that has a keyword in the language: see [`PropertyKind::script_words`].
    Reference(PropertyKind, Path),
    /// A dynamic array: `array<T>`.
    Array(Box<Self>),
    /// A fixed array `T name[N]` with exactly `N` elements. In reflection, this type is `Array(T)` with the metadata key `array_dim`.
    Fixed(Box<Self>, u32),
    /// `Set` of reflection.
    Set(Box<Self>),
    /// `map<K, V>`. In reflection, this type is `Map`.
    Map(Box<Self>, Box<Self>),
    /// `Optional` of reflection.
    Optional(Box<Self>),
    /// A delegate: its kind (one of three), its path if it has a name, and its signature.
    Delegate(PropertyKind, Option<Path>, Rc<SignatureText>),
    /// Type of `none` before its context determines the actual type. No property or local has this type.
    None,
    /// Type of a call without a result. No property or local has this type.
    Nothing,
}

/// Declares the kinds of numbers: name, Rust type, and name in scripts.
macro_rules! nums {
    ($($name:ident $ty:ident $script_name:literal;)*) => {
        /// The kinds of numbers.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[expect(missing_docs, reason = "the names are self-explanatory")]
        pub enum Num { $($name,)* }

        impl Num {
            /// All kinds.
            pub const ALL: [Self; 10] = [$(Self::$name,)*];

            /// Returns the property kind in reflection.
            pub const fn kind(self) -> PropertyKind {
                match self { $(Self::$name => PropertyKind::$name,)* }
            }

            /// Returns the number of bits of a value.
            pub const fn bits(self) -> u32 {
                match self { $(Self::$name => 8 * size_of::<$ty>() as u32,)* }
            }

            /// Returns the minimum and the maximum value. Returns `None` for floats.
            pub const fn range(self) -> Option<(i128, i128)> {
                if self.is_float() {
                    return None;
                }
                Some(match self { $(Self::$name => ($ty::MIN as i128, $ty::MAX as i128),)* })
            }

            /// Returns the name of the number type in scripts.
            pub const fn script_name(self) -> &'static str {
                match self { $(Self::$name => $script_name,)* }
            }
        }
    };
}

nums! {
    U8 u8 "byte";
    U16 u16 "u16";
    U32 u32 "u32";
    U64 u64 "u64";
    I8 i8 "i8";
    I16 i16 "i16";
    I32 i32 "int";
    I64 i64 "i64";
    F32 f32 "float";
    F64 f64 "double";
}

impl Num {
    /// Returns the number type of a kind in reflection.
    pub fn of(kind: PropertyKind) -> Option<Self> {
        Self::ALL.into_iter().find(|num| num.kind() == kind)
    }

    /// Returns true for floating-point types.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }
}

/// A vector or rotator: a reflected struct named `Vector` or `Rotator`. The struct has exactly three fields of the same number type: `x y
/// z` or `pitch yaw roll`. Operators and the literals `vect(…)` and `rot(…)` work on triples.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Triple {
    /// The path of the struct.
    pub path: Path,
    /// Type of the three numbers.
    pub of: Num,
}

impl Type {
    /// The type `int`.
    pub const INT: Self = Self::Num(Num::I32);
    /// The type `float`.
    pub const FLOAT: Self = Self::Num(Num::F32);

    /// Types that a single keyword names, except numbers. Each entry has the type, the kind in reflection, and the keyword.
    pub(crate) const KEYWORDS: &'static [(Self, PropertyKind, &'static str)] = &[
        (Self::Bool, PropertyKind::BOOL, "bool"),
        (Self::Text, PropertyKind::STRING, "string"),
        (Self::Utf8Text, PropertyKind::UTF8_STRING, "utf8string"),
        (Self::AnsiText, PropertyKind::ANSI_STRING, "ansistring"),
        (Self::LocalText, PropertyKind::TEXT, "text"),
        (Self::Name, PropertyKind::NAME, "name"),
        (Self::FieldPath, PropertyKind::FIELD_PATH, "fieldpath"),
    ];

    /// Returns the type itself, or `None` for [`Type::Nothing`]. In parameters, results and fields, `Nothing` replaces types that have an
    /// error.
    pub(crate) fn known(&self) -> Option<&Self> {
        (*self != Self::Nothing).then_some(self)
    }

    fn keyword(&self) -> Option<&'static (Self, PropertyKind, &'static str)> {
        Self::KEYWORDS.iter().find(|(ty, ..)| ty == self)
    }

    /// Returns the type for a property kind without element, key or class type.
    pub(crate) fn of_kind(kind: PropertyKind) -> Option<Self> {
        let keyword = Self::KEYWORDS.iter().find(|(_, known, _)| *known == kind);
        keyword.map(|(ty, ..)| ty.clone()).or_else(|| Num::of(kind).map(Self::Num))
    }

    /// Returns the types of the elements, keys, values or content of a container type. Returns an empty iterator for all other types.
    pub(crate) fn inner(&self) -> impl Iterator<Item = &Self> {
        let (one, two) = match self {
            Self::Array(of) | Self::Fixed(of, _) | Self::Set(of) | Self::Optional(of) => (Some(of), None),
            Self::Map(key, value) => (Some(key), Some(value)),
            _ => (None, None),
        };
        one.into_iter().chain(two).map(|of| &**of)
    }

    /// Returns the path of the class, struct, enum or interface that the type names.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Struct(path)
            | Self::Object(path)
            | Self::Enum(path, _)
            | Self::Interface(path)
            | Self::Class(path) => Some(path),
            _ => None,
        }
    }

    /// Returns the description of the type, which reflection can resolve. Returns `None` for [`Type::None`] and [`Type::Nothing`].
    pub fn type_text(&self) -> Option<TypeText> {
        let reference = |kind, path: &Path| Some(TypeText::Reference(kind, path.to_string()));
        let container =
            |kind| Some(TypeText::Container(kind, self.inner().map(Self::type_text).collect::<Option<_>>()?));
        match self {
            Self::Num(num) => Some(TypeText::Plain(num.kind())),
            Self::Enum(path, _) => reference(PropertyKind::ENUM, path),
            Self::Struct(path) => Some(TypeText::Struct(path.to_string())),
            Self::Object(path) => reference(PropertyKind::OBJECT, path),
            Self::Class(path) => reference(PropertyKind::SUBCLASS_OF, path),
            Self::Interface(path) => reference(PropertyKind::SCRIPT_INTERFACE, path),
            Self::Reference(kind, path) => reference(*kind, path),
            Self::Array(_) | Self::Fixed(..) => container(PropertyKind::ARRAY),
            Self::Set(_) => container(PropertyKind::SET),
            Self::Map(..) => container(PropertyKind::MAP),
            Self::Optional(_) => container(PropertyKind::OPTIONAL),
            Self::Delegate(kind, path, signature) => {
                Some(TypeText::Delegate(*kind, path.as_ref().map(|path| path.to_string()), (**signature).clone()))
            }
            plain => Some(TypeText::Plain(plain.keyword()?.1)),
        }
    }
}

/// Formats the type for messages, in the syntax of the language: `int`, `array<Pawn>`, `class<Actor>`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |path: &str| path.rsplit(['.', ':']).next().unwrap_or(path).to_owned();
        match self {
            Self::Num(num) => f.write_str(num.script_name()),
            Self::Enum(path, _) | Self::Struct(path) | Self::Object(path) | Self::Interface(path) => {
                f.write_str(&short(path))
            }
            Self::Class(path) => write!(f, "class<{}>", short(path)),
            Self::Reference(kind, path) => {
                write!(f, "{}<{}>", kind.script_words().first().unwrap_or(&"?"), short(path))
            }
            Self::Array(of) => write!(f, "array<{of}>"),
            Self::Fixed(of, len) => write!(f, "{of}[{len}]"),
            Self::Set(of) => write!(f, "set<{of}>"),
            Self::Map(key, value) => write!(f, "map<{key}, {value}>"),
            Self::Optional(of) => write!(f, "optional<{of}>"),
            Self::Delegate(_, Some(path), _) => write!(f, "delegate<{}>", short(path)),
            Self::Delegate(_, None, signature) => write!(f, "delegate({signature})"),
            Self::None => f.write_str("none"),
            plain => f.write_str(plain.keyword().map_or("nothing", |(.., word)| word)),
        }
    }
}
