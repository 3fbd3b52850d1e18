//! The numbers that say what a property, a function or a class is. Numbers, not Rust enums: an unknown one must
//! be an error in the reader, not undefined behavior.

use abi_stable::StableAbi;

/// What kind of value a property or parameter holds.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PropertyKind(pub u8);

/// Syntax behind the name of a kind in the text of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KindForm {
    /// The name alone.
    Plain,
    /// A path instead of the name.
    Struct,
    /// The path of a class, interface or enum in parentheses.
    Path,
    /// So many types in parentheses.
    Types(usize),
    /// A signature in parentheses.
    Signature,
}

macro_rules! kinds {
    (@plugin $text:literal) => {
        Some($text)
    };
    (@plugin $text:literal $plugin:expr) => {
        $plugin
    };
    ($(
        $(#[$doc:meta])*
        $name:ident = $number:literal, $text:literal, $form:ident $(($types:literal))?
        $(, plugin: $plugin:expr)? $(, script: [$($word:literal),+])?;
    )*) => {
        impl PropertyKind {
            $($(#[$doc])* pub const $name: Self = Self($number);)*

            /// All kinds of this build.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name that signatures, reports and errors use; `None` for a number this build does not know.
            #[must_use]
            pub const fn text(self) -> Option<&'static str> {
                match self.0 { $($number => Some($text),)* _ => None }
            }

            /// Syntax of types of the kind; `Plain` for an unknown number.
            #[must_use]
            pub const fn form(self) -> KindForm {
                match self.0 { $($number => KindForm::$form $(($types))?,)* _ => KindForm::Plain }
            }

            /// Name of the Rust type that plugins use, without parameters; `None` for types that have names of their own, and for an
            /// unknown number.
            #[must_use]
            pub const fn plugin_type(self) -> Option<&'static str> {
                match self.0 { $($number => kinds!(@plugin $text $($plugin)?),)* _ => None }
            }

            /// Keywords of the script language that make a reference of the kind to a class; the first one is shown.
            #[must_use]
            pub const fn script_words(self) -> &'static [&'static str] {
                match self.0 { $($number => &[$($($word),+)?],)* _ => &[] }
            }
        }
    };
}

kinds! {
    /// One byte, unsigned.
    U8 = 1, "u8", Plain;
    /// Two bytes, unsigned.
    U16 = 2, "u16", Plain;
    /// Four bytes, unsigned.
    U32 = 3, "u32", Plain;
    /// Eight bytes, unsigned.
    U64 = 4, "u64", Plain;
    /// One byte, signed.
    I8 = 5, "i8", Plain;
    /// Two bytes, signed.
    I16 = 6, "i16", Plain;
    /// Four bytes, signed.
    I32 = 7, "i32", Plain;
    /// Eight bytes, signed.
    I64 = 8, "i64", Plain;
    /// Four bytes, IEEE 754.
    F32 = 9, "f32", Plain;
    /// Eight bytes, IEEE 754.
    F64 = 10, "f64", Plain;
    /// One byte, 0 or 1.
    BOOL = 11, "bool", Plain;
    /// UTF-8 text owned by the host: [`crate::value::TextRaw`].
    STRING = 12, "String", Plain;
    /// An interned name: [`crate::handles::Name`].
    NAME = 13, "Name", Plain, plugin: Some("UName");
    /// A number of an enum, in the bytes that its underlying type has.
    ENUM = 19, "Enum", Path, plugin: None;
    /// A strong reference to an object: [`crate::handles::ObjectHandle`].
    OBJECT = 14, "Object", Path, plugin: Some("Obj");
    /// A struct by value.
    STRUCT = 15, "Struct", Struct, plugin: None;
    /// UTF-8 text, kept apart from `String` because other code tells the two apart: [`crate::value::TextRaw`].
    UTF8_STRING = 16, "Utf8String", Plain, plugin: Some("UUtf8String");
    /// Text of one byte a character, ISO 8859-1: [`crate::value::TextRaw`].
    ANSI_STRING = 17, "AnsiString", Plain, plugin: Some("UAnsiString");
    /// Text for people, with the key it is translated by: [`crate::value::LocalTextRaw`].
    TEXT = 18, "Text", Plain, plugin: Some("UText");
    /// A class that is the named one or a subclass: the name of its path.
    SUBCLASS_OF = 21, "SubclassOf", Path;
    /// The same, also while there is no such class: the name of its path.
    SOFT_CLASS = 22, "SoftClass", Path, script: ["softclass"];
    /// An object by its path, be it there or not: the name of the path.
    SOFT_OBJECT = 23, "SoftObject", Path, script: ["soft", "softobject"];
    /// An object by an id that no other ever has, be it there or not: [`crate::value::LazyRaw`].
    LAZY_OBJECT = 24, "LazyObject", Path, script: ["lazy", "lazyobject"];
    /// A reference that keeps nothing alive: [`crate::handles::ObjectHandle`].
    WEAK_OBJECT = 25, "WeakObject", Path, script: ["weak", "weakobject"];
    /// A strong reference to an object of a class that implements an interface: [`crate::handles::ObjectHandle`].
    SCRIPT_INTERFACE = 26, "ScriptInterface", Path;
    /// A row of values: [`crate::value::ArrayRaw`].
    ARRAY = 31, "Array", Types(1), plugin: Some("UArray");
    /// Values, each once: [`crate::value::MapRaw`].
    SET = 32, "Set", Types(1), plugin: Some("USet");
    /// Values by key: [`crate::value::MapRaw`].
    MAP = 33, "Map", Types(2), plugin: Some("UMap");
    /// A value or none: a byte that is zero or one, and the value at the next offset that suits it.
    OPTIONAL = 34, "Optional", Types(1), plugin: Some("UOptional");
    /// A function of an object, to be called later: [`crate::value::DelegateRaw`].
    DELEGATE = 41, "Delegate", Signature;
    /// Any number of them, called one after the other: an [`crate::value::ArrayRaw`] of delegates.
    MULTICAST_DELEGATE = 42, "MulticastDelegate", Signature;
    /// The same where there mostly is none: [`crate::value::SparseRaw`].
    SPARSE_DELEGATE = 43, "SparseDelegate", Signature;
    /// A property by its path: the name of the path.
    FIELD_PATH = 51, "FieldPath", Plain;
}

impl PropertyKind {
    /// Whether a value lies in a slot of a call itself: numbers, `bool`, `Name` and `Object`. `String` goes as a view and
    /// comes back through a sink; every other kind goes by the address of a value.
    #[must_use]
    pub const fn fits_slot(self) -> bool {
        matches!(self.0, 1..=11 | 13 | 14)
    }

    /// The number that conjugates of this kind are registered under, which is also the order they are released in,
    /// downwards; `None` for kinds that have no conjugate, because their values are copied in and out.
    #[must_use]
    pub const fn conjugate(self) -> Option<u8> {
        Some(match self {
            Self::OBJECT => 1,
            Self::STRUCT => 2,
            Self::STRING => 11,
            Self::UTF8_STRING => 12,
            Self::ANSI_STRING => 13,
            Self::NAME => 14,
            Self::TEXT => 15,
            Self(number @ 21..) if self.text().is_some() => number,
            _ => return None,
        })
    }
}

/// Flag bits of properties.
pub mod property_flags {
    /// Editors may change it.
    pub const EDIT_ANYWHERE: u64 = 1;
    /// Scripts may read it.
    pub const BLUEPRINT_READ: u64 = 1 << 1;
    /// Scripts may write it.
    pub const BLUEPRINT_WRITE: u64 = 1 << 2;
    /// Holds a subobject that is made together with its owner.
    pub const DEFAULT_SUBOBJECT: u64 = 1 << 3;
    /// The subobject is the root component of an actor.
    pub const ROOT_COMPONENT: u64 = 1 << 4;
    /// A parameter the callee writes.
    pub const OUT: u64 = 1 << 5;
    /// The result of a function.
    pub const RETURN: u64 = 1 << 6;
    /// Not written to disk.
    pub const TRANSIENT: u64 = 1 << 7;
    /// Editors show it and do not change it.
    pub const VISIBLE_ANYWHERE: u64 = 1 << 8;
    /// Copies of the object on other machines get its value.
    pub const REPLICATED: u64 = 1 << 9;
    /// Saved games have it.
    pub const SAVE_GAME: u64 = 1 << 10;
    /// Scripts have the enum that it holds as a byte, whatever its underlying type.
    pub const ENUM_AS_BYTE: u64 = 1 << 12;
    /// No field, but the struct that a struct extends: the first of its fields, a struct at its start.
    pub const BASE: u64 = 1 << 11;
}

/// Flag bits of functions.
pub mod function_flags {
    /// Scripts may call it.
    pub const CALLABLE: u64 = 1;
    /// Scripts may call it, and it changes nothing: so code of a generation that comes up may, before the commit.
    pub const PURE: u64 = 1 << 1;
    /// Subclasses may override it; without an override its own body runs.
    pub const NATIVE_EVENT: u64 = 1 << 2;
    /// Takes no object.
    pub const STATIC: u64 = 1 << 3;
    /// Overrides an event of a base class.
    pub const OVERRIDE: u64 = 1 << 4;
    /// Its result may be an error of its author's instead.
    pub const FALLIBLE: u64 = 1 << 5;
    /// Only scripts give it a body; without one it does nothing and gives the zero value.
    pub const IMPLEMENTABLE_EVENT: u64 = 1 << 6;
    /// It does not change the state of its object's plugin part.
    pub const CONST: u64 = 1 << 7;
    /// Its body is in a C library, which its metadata name.
    pub const DLL_IMPORT: u64 = 1 << 8;
    /// The same, and it needs no working directory.
    pub const NO_CWD: u64 = 1 << 9;
    /// The same, and the `bool` that it gives fills one byte.
    pub const BOOL8: u64 = 1 << 10;
    /// Marks a function of a C library whose `bool` result fills four bytes.
    pub const BOOL32: u64 = 1 << 11;
    /// It brings its own thunk, which steps through the parameters; its plain body is never called.
    pub const CUSTOM_THUNK: u64 = 1 << 16;
}

/// Flag bits of classes.
pub mod class_flags {
    /// Scripts may extend it.
    pub const BLUEPRINTABLE: u64 = 1;
    /// Scripts may name it, not extend it.
    pub const BLUEPRINT_TYPE: u64 = 1 << 1;
    /// No class extends it.
    pub const FINAL: u64 = 1 << 2;
    /// Only classes that extend it have objects, beside its class default object.
    pub const ABSTRACT: u64 = 1 << 3;
    /// An object is made inside of another only, its context, beside the class default object.
    pub const CONTEXTUAL: u64 = 1 << 4;
}
