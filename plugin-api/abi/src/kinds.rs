//! Numbers for the kinds of properties, and flag bits for properties, functions and classes. Rust enums are not used, because an unknown
//! number in an enum would be undefined behavior. The host reports an unknown number as an error.

use abi_stable::StableAbi;

/// Kind of the values of a property or parameter.
///
/// # Examples
/// ```
/// use alcedo_abi::kinds::PropertyKind;
///
/// /// Returns the width of an input field for values of a kind.
/// fn columns(kind: PropertyKind) -> u32 {
///     match kind {
///         PropertyKind::BOOL => 1,
///         PropertyKind::STRING | PropertyKind::TEXT => 40,
///         _ => 12,
///     }
/// }
/// assert_eq!(columns(PropertyKind::F64), 12);
/// assert_eq!(PropertyKind::ARRAY.text(), Some("Array"));
/// ```
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PropertyKind(pub u8);

/// Syntax of type descriptions for the types of one kind.
///
/// # Examples
/// ```
/// use alcedo_abi::kinds::{KindForm, PropertyKind};
///
/// assert_eq!(PropertyKind::F64.form(), KindForm::Plain); // f64
/// assert_eq!(PropertyKind::MAP.form(), KindForm::Types(2)); // Map(Name, f64)
/// assert_eq!(PropertyKind::DELEGATE.form(), KindForm::Signature); // Delegate(f64 -> bool)
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KindForm {
    /// The name of the kind alone.
    Plain,
    /// The path of the struct, instead of the name of the kind.
    Struct,
    /// The name of the kind, followed by the path of a class, interface or enum in parentheses.
    Path,
    /// The name of the kind, followed by this number of types in parentheses.
    Types(usize),
    /// The name of the kind, followed by a signature in parentheses.
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

            /// All kinds that this build of the crate defines.
            ///
            /// # Examples
            /// ```
            /// use alcedo_abi::kinds::PropertyKind;
            ///
            /// let parsed = PropertyKind::ALL.iter().find(|kind| kind.text() == Some("Optional"));
            /// assert_eq!(parsed, Some(&PropertyKind::OPTIONAL));
            /// ```
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns the name of the kind in signatures, reports and errors; `None` for an unknown number.
            ///
            /// # Examples
            /// ```
            /// use alcedo_abi::kinds::PropertyKind;
            ///
            /// assert_eq!(PropertyKind::NAME.text(), Some("Name"));
            /// assert_eq!(PropertyKind(200).text(), None, "a newer host may have more kinds");
            /// ```
            #[must_use]
            pub const fn text(self) -> Option<&'static str> {
                match self.0 { $($number => Some($text),)* _ => None }
            }

            /// Returns the syntax of types of this kind; `Plain` for an unknown number.
            ///
            /// # Examples
            /// ```
            /// use alcedo_abi::kinds::{KindForm, PropertyKind};
            ///
            /// /// Returns the number of element types of a container.
            /// fn elements(kind: PropertyKind) -> usize {
            ///     if let KindForm::Types(count) = kind.form() { count } else { 0 }
            /// }
            /// assert_eq!([PropertyKind::ARRAY, PropertyKind::MAP, PropertyKind::I32].map(elements), [1, 2, 0]);
            /// ```
            #[must_use]
            pub const fn form(self) -> KindForm {
                match self.0 { $($number => KindForm::$form $(($types))?,)* _ => KindForm::Plain }
            }

            /// Returns the name of the Rust type that plugins use, without type parameters. Returns `None` for an unknown number, and for
            /// kinds such as `STRUCT`, because each type of such a kind has its own name.
            ///
            /// # Examples
            /// ```
            /// use alcedo_abi::kinds::PropertyKind;
            ///
            /// assert_eq!(PropertyKind::ARRAY.plugin_type(), Some("UArray"));
            /// assert_eq!(PropertyKind::STRUCT.plugin_type(), None, "each struct has its own name");
            /// ```
            #[must_use]
            pub const fn plugin_type(self) -> Option<&'static str> {
                match self.0 { $($number => kinds!(@plugin $text $($plugin)?),)* _ => None }
            }

            /// Returns the keywords with which scripts declare a reference of this kind. Messages use the first keyword.
            ///
            /// # Examples
            /// ```
            /// use alcedo_abi::kinds::PropertyKind;
            ///
            /// assert_eq!(PropertyKind::SOFT_OBJECT.script_words().first(), Some(&"soft"));
            /// assert!(PropertyKind::F64.script_words().is_empty());
            /// ```
            #[must_use]
            pub const fn script_words(self) -> &'static [&'static str] {
                match self.0 { $($number => &[$($($word),+)?],)* _ => &[] }
            }
        }
    };
}

kinds! {
    /// Unsigned integer of one byte.
    U8 = 1, "u8", Plain;
    /// Unsigned integer of two bytes.
    U16 = 2, "u16", Plain;
    /// Unsigned integer of four bytes.
    U32 = 3, "u32", Plain;
    /// Unsigned integer of eight bytes.
    U64 = 4, "u64", Plain;
    /// Signed integer of one byte.
    I8 = 5, "i8", Plain;
    /// Signed integer of two bytes.
    I16 = 6, "i16", Plain;
    /// Signed integer of four bytes.
    I32 = 7, "i32", Plain;
    /// Signed integer of eight bytes.
    I64 = 8, "i64", Plain;
    /// IEEE 754 number of four bytes.
    F32 = 9, "f32", Plain;
    /// IEEE 754 number of eight bytes.
    F64 = 10, "f64", Plain;
    /// Byte with the value 0 or 1.
    BOOL = 11, "bool", Plain;
    /// UTF-8 text owned by the host: [`crate::value::TextRaw`].
    STRING = 12, "String", Plain;
    /// An interned name: [`crate::handles::Name`].
    NAME = 13, "Name", Plain, plugin: Some("UName");
    /// A value of an enum, stored with the size of the enum's underlying type.
    ENUM = 19, "Enum", Path, plugin: None;
    /// A strong reference to an object: [`crate::handles::ObjectHandle`].
    OBJECT = 14, "Object", Path, plugin: Some("Obj");
    /// A struct by value.
    STRUCT = 15, "Struct", Struct, plugin: None;
    /// UTF-8 text of a type that reflection distinguishes from `String`: [`crate::value::TextRaw`].
    UTF8_STRING = 16, "Utf8String", Plain, plugin: Some("UUtf8String");
    /// ISO 8859-1 text, one byte per character: [`crate::value::TextRaw`].
    ANSI_STRING = 17, "AnsiString", Plain, plugin: Some("UAnsiString");
    /// Localized text with its translation key: [`crate::value::LocalTextRaw`].
    TEXT = 18, "Text", Plain, plugin: Some("UText");
    /// A reference to a class or one of its subclasses; stored as the interned path.
    SUBCLASS_OF = 21, "SubclassOf", Path;
    /// A reference to a class that need not be loaded; stored as the interned path.
    SOFT_CLASS = 22, "SoftClass", Path, script: ["softclass"];
    /// A reference to an object that need not exist; stored as the interned path.
    SOFT_OBJECT = 23, "SoftObject", Path, script: ["soft", "softobject"];
    /// A reference to an object that need not exist; stored as a unique id: [`crate::value::LazyRaw`].
    LAZY_OBJECT = 24, "LazyObject", Path, script: ["lazy", "lazyobject"];
    /// A weak reference, which does not keep the object alive: [`crate::handles::ObjectHandle`].
    WEAK_OBJECT = 25, "WeakObject", Path, script: ["weak", "weakobject"];
    /// A strong reference to an object of a class that implements an interface: [`crate::handles::ObjectHandle`].
    SCRIPT_INTERFACE = 26, "ScriptInterface", Path;
    /// A list of values: [`crate::value::ArrayRaw`].
    ARRAY = 31, "Array", Types(1), plugin: Some("UArray");
    /// A set of distinct values: [`crate::value::MapRaw`].
    SET = 32, "Set", Types(1), plugin: Some("USet");
    /// A map from keys to values: [`crate::value::MapRaw`].
    MAP = 33, "Map", Types(2), plugin: Some("UMap");
    /// An optional value: a byte that is zero or one, and the value at the next aligned offset.
    OPTIONAL = 34, "Optional", Types(1), plugin: Some("UOptional");
    /// A bound function of an object: [`crate::value::DelegateRaw`].
    DELEGATE = 41, "Delegate", Signature;
    /// A list of bound functions, which are called one after another: an [`crate::value::ArrayRaw`] of delegates.
    MULTICAST_DELEGATE = 42, "MulticastDelegate", Signature;
    /// A multicast delegate that uses little memory while it has no bindings: [`crate::value::SparseRaw`].
    SPARSE_DELEGATE = 43, "SparseDelegate", Signature;
    /// A reference to a property; stored as the interned path.
    FIELD_PATH = 51, "FieldPath", Plain;
}

impl PropertyKind {
    /// Returns `true` if a slot of a call contains the value itself. This holds for numbers, `bool`, `Name` and `Object`. A `String` is
    /// passed as a view, and returned through a sink. Values of all other kinds are passed by address.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::kinds::PropertyKind;
    ///
    /// assert!(PropertyKind::F64.fits_slot() && PropertyKind::OBJECT.fits_slot());
    /// assert!(!PropertyKind::STRING.fits_slot(), "a string is passed as a view");
    /// ```
    #[must_use]
    pub const fn fits_slot(self) -> bool {
        matches!(self.0, 1..=11 | 13 | 14)
    }

    /// Returns `true` for a numeric kind.
    #[must_use]
    pub const fn is_number(self) -> bool {
        Self::U8.0 <= self.0 && self.0 <= Self::F64.0
    }

    /// Returns `true` if C functions accept values of the kind: numbers, strings and structs.
    #[must_use]
    pub const fn fits_c(self) -> bool {
        self.is_number() || matches!(self, Self::STRING | Self::STRUCT)
    }

    /// Returns the number of this kind in the registry of conjugates, which releases conjugates in descending order of this
    /// number. Returns `None` for kinds whose values are copied and have no conjugates.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::kinds::PropertyKind;
    ///
    /// let mut kinds = [PropertyKind::STRING, PropertyKind::MAP, PropertyKind::OBJECT];
    /// kinds.sort_by_key(|kind| std::cmp::Reverse(kind.conjugate()));
    /// assert_eq!(kinds, [PropertyKind::MAP, PropertyKind::STRING, PropertyKind::OBJECT], "the order of release");
    /// ```
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

macro_rules! flags {
    ($(#[$docs:meta])* $module:ident { $($(#[$doc:meta])* $name:ident = $bit:literal, $word:literal;)* }) => {
        $(#[$docs])*
        pub mod $module {
            $($(#[$doc])* pub const $name: u64 = 1 << $bit;)*

            /// All bits with their specifiers.
            pub const WORDS: &[(u64, &str)] = &[$(($name, $word)),*];
        }
    };
}

flags! {
    /// Flag bits of properties.
    property_flags {
        /// Editors may change the property.
        EDIT_ANYWHERE = 0, "edit_anywhere";
        /// Scripts may read the property.
        BLUEPRINT_READ = 1, "blueprint_read";
        /// Scripts may write the property.
        BLUEPRINT_WRITE = 2, "blueprint_write";
        /// The property contains a subobject that is created together with its owner.
        DEFAULT_SUBOBJECT = 3, "default_subobject";
        /// The subobject is the root component of an actor.
        ROOT_COMPONENT = 4, "root_component";
        /// The callee writes the parameter.
        OUT = 5, "out";
        /// The parameter is the result of a function.
        RETURN = 6, "return";
        /// The property is not saved to disk.
        TRANSIENT = 7, "transient";
        /// Editors display the property, but cannot change its value.
        VISIBLE_ANYWHERE = 8, "visible_anywhere";
        /// The value is replicated to copies of the object on other machines.
        REPLICATED = 9, "replicated";
        /// Saved games contain the value.
        SAVE_GAME = 10, "save_game";
        /// The field contains the base struct. The base field is the first field of its struct, at offset zero.
        BASE = 11, "base";
        /// Scripts access the enum as a byte, regardless of its underlying type.
        ENUM_AS_BYTE = 12, "enum_as_byte";
    }
}

flags! {
    /// Flag bits of functions.
    function_flags {
        /// Scripts may call the function.
        CALLABLE = 0, "blueprint_callable";
        /// Scripts may call the function. The function has no side effects, so new code may call it before the commit of a
        /// reload.
        PURE = 1, "blueprint_pure";
        /// Subclasses may override the function. Without an override, the declared body runs.
        NATIVE_EVENT = 2, "blueprint_native_event";
        /// The function is called without an object.
        STATIC = 3, "static";
        /// The function overrides an event of a base class.
        OVERRIDE = 4, "overrides";
        /// The function may return an error of the plugin author instead of its result.
        FALLIBLE = 5, "may_fail";
        /// Only scripts implement the function; the default body does nothing and returns the zero value.
        IMPLEMENTABLE_EVENT = 6, "blueprint_implementable_event";
        /// The function does not change the plugin part of its object.
        CONST = 7, "const";
        /// The function is implemented in a C library. The function's metadata names the library.
        DLL_IMPORT = 8, "dll_import";
        /// The function is implemented in a C library. Its calls keep the working directory of the process.
        NO_CWD = 9, "no_cwd";
        /// The function is implemented in a C library, and its `bool` result has one byte.
        BOOL8 = 10, "bool8";
        /// The function is implemented in a C library, and its `bool` result has four bytes.
        BOOL32 = 11, "bool32";
        /// The function has a custom thunk instead of a plain body. The thunk reads the parameters one by one.
        CUSTOM_THUNK = 16, "custom_thunk";
    }
}

/// Calling convention of a C function.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct CallingConvention {
    /// True if calls of the function keep the working directory of the process.
    pub no_cwd: bool,
    /// True if a `bool` result has one byte.
    pub bool8: bool,
    /// True if a `bool` result has four bytes.
    pub bool32: bool,
}

impl CallingConvention {
    /// Returns this calling convention as bits of [`function_flags`].
    #[must_use]
    pub const fn flags(self) -> u64 {
        let no_cwd = if self.no_cwd { function_flags::NO_CWD } else { 0 };
        let bool8 = if self.bool8 { function_flags::BOOL8 } else { 0 };
        let bool32 = if self.bool32 { function_flags::BOOL32 } else { 0 };
        function_flags::DLL_IMPORT | no_cwd | bool8 | bool32
    }
}

flags! {
    /// Flag bits of classes.
    class_flags {
        /// Scripts may extend the class.
        BLUEPRINTABLE = 0, "blueprintable";
        /// Scripts may use the class as a type, but not extend it.
        BLUEPRINT_TYPE = 1, "blueprint_type";
        /// No class may extend the class.
        FINAL = 2, "final";
        /// Only subclasses can have objects; the class itself has only its class default object.
        ABSTRACT = 3, "abstract";
        /// All objects, except the class default object, require an outer object as their context.
        CONTEXTUAL = 4, "contextual";
        /// After a reload, the plugin part of an object is built at its first use, not during the reload.
        LAZY_REBUILD = 5, "lazy_rebuild";
    }
}
