//! The numbers that say what a property, a function or a class is. Numbers, not Rust enums: an unknown one must
//! be an error in the reader, not undefined behavior.

use abi_stable::StableAbi;

/// What kind of value a property or parameter holds.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PropertyKind(pub u8);

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $text:literal;)*) => {
        impl PropertyKind {
            $($(#[$doc])* pub const $name: Self = Self($number);)*

            /// The name that signatures, reports and errors use; `None` for a number this build does not know.
            #[must_use]
            pub const fn text(self) -> Option<&'static str> {
                match self.0 { $($number => Some($text),)* _ => None }
            }
        }
    };
}

kinds! {
    /// One byte, unsigned.
    U8 = 1, "u8";
    /// Two bytes, unsigned.
    U16 = 2, "u16";
    /// Four bytes, unsigned.
    U32 = 3, "u32";
    /// Eight bytes, unsigned.
    U64 = 4, "u64";
    /// One byte, signed.
    I8 = 5, "i8";
    /// Two bytes, signed.
    I16 = 6, "i16";
    /// Four bytes, signed.
    I32 = 7, "i32";
    /// Eight bytes, signed.
    I64 = 8, "i64";
    /// Four bytes, IEEE 754.
    F32 = 9, "f32";
    /// Eight bytes, IEEE 754.
    F64 = 10, "f64";
    /// One byte, 0 or 1.
    BOOL = 11, "bool";
    /// UTF-8 text owned by the host: [`crate::value::TextRaw`].
    STRING = 12, "String";
    /// An interned name: [`crate::handles::Name`].
    NAME = 13, "Name";
    /// A strong reference to an object: [`crate::handles::ObjectHandle`].
    OBJECT = 14, "Object";
    /// A struct by value.
    STRUCT = 15, "Struct";
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
}

/// Flag bits of functions.
pub mod function_flags {
    /// Scripts may call it.
    pub const CALLABLE: u64 = 1;
    /// Scripts may call it, and it changes nothing.
    pub const PURE: u64 = 1 << 1;
    /// Subclasses may override it; without an override its own body runs.
    pub const NATIVE_EVENT: u64 = 1 << 2;
    /// Takes no object.
    pub const STATIC: u64 = 1 << 3;
    /// Overrides an event of a base class.
    pub const OVERRIDE: u64 = 1 << 4;
}

/// Flag bits of classes.
pub mod class_flags {
    /// Scripts may extend it.
    pub const BLUEPRINTABLE: u64 = 1;
    /// Scripts may name it, not extend it.
    pub const BLUEPRINT_TYPE: u64 = 1 << 1;
}
