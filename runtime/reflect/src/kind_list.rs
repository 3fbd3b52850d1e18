//! List of all kinds of properties. The enums [`PropertyType`](crate::property::PropertyType) and [`Value`](crate::value::Value) and all
//! matches on kinds are generated from this list. The compiler builds a jump table for each match. The code of a kind is therefore called
//! directly and can be inlined.
//!
//! Fields of an entry: doc of the type, variant in `PropertyType`, data and field name of that variant, variant in `Value` with its
//! content, and implementor of [`Kind`](crate::values::Kind). An entry with `word` at the end also generates a type in
//! [`typed_values`](crate::typed_values). The type has the name and the content of the entry's variant in `Value`.

/// Calls the macro `$then` with `$arguments` and the list.
macro_rules! each_kind {
    ([$($then:tt)+] $arguments:tt) => {
        $($then)+! { $arguments
            /// Unsigned integer of one byte.
            U8 [] () => U8(u8), numbers::U8;
            /// Unsigned integer of two bytes.
            U16 [] () => U16(u16), numbers::U16;
            /// Unsigned integer of four bytes.
            U32 [] () => U32(u32), numbers::U32;
            /// Unsigned integer of eight bytes.
            U64 [] () => U64(u64), numbers::U64;
            /// Signed integer of one byte.
            I8 [] () => I8(i8), numbers::I8;
            /// Signed integer of two bytes.
            I16 [] () => I16(i16), numbers::I16;
            /// Signed integer of four bytes.
            I32 [] () => I32(i32), numbers::I32;
            /// Signed integer of eight bytes.
            I64 [] () => I64(i64), numbers::I64;
            /// IEEE 754 number of four bytes.
            F32 [] () => F32(f32), numbers::F32;
            /// IEEE 754 number of eight bytes.
            F64 [] () => F64(f64), numbers::F64;
            /// Boolean: one byte, 0 or 1.
            Bool [] () => Bool(bool), boolean::Bool;
            /// UTF-8 string owned by the host. The kind is `PropertyKind::STRING`.
            Text [] () => Text(String), text::Text;
            /// Interned name.
            Name [] () => Name(Name), name::NameKind;
            /// Strong reference to an object.
            Object [{
                /// Path of the class, as declared.
                class: Rc<str>,
            }] (class) => Object(ObjectHandle), references::Object;
            /// Struct by value.
            Struct [(Rc<StructType>)] (0) => Struct(Vec<(Arc<str>, Value)>), structure::Struct;
            /// Entry of an enum.
            Enum [(Rc<EnumType>)] (0) => Enum(EnumValue), enumeration::Enum;
            /// UTF-8 string of a separate kind, for code that distinguishes `Utf8String` from `String`.
            Utf8Text [] () => Utf8(String), text::Utf8Text;
            /// String with one byte per character, ISO 8859-1.
            AnsiText [] () => Ansi(String), ansi_text::AnsiText;
            /// Localized text with its translation key.
            LocalText [] () => LocalText(LocalText), local_text::LocalTextKind;
            /// Class reference, stored as the interned path of the class. Refers to the class at the type's path or to a derived class.
            SubclassOf [(Rc<str>)] (0) => SubclassOf(Name), class_paths::SubclassOf, word;
            /// Variant of `SubclassOf` that may refer to an undeclared class.
            SoftClass [(Rc<str>)] (0) => SoftClass(Name), class_paths::SoftClass, word;
            /// Reference to an object of the class at the type's path, stored as the interned path of the object.
            SoftObject [(Rc<str>)] (0) => SoftObject(Name), soft_object::SoftObject, word;
            /// Reference to an object of the class at the type's path, stored as a permanent unique id.
            LazyObject [(Rc<str>)] (0) => LazyObject(LazyRaw), lazy_object::LazyObject, word;
            /// Weak reference to an object of the class at the type's path.
            WeakObject [(Rc<str>)] (0) => WeakObject(ObjectHandle), references::WeakObject, word;
            /// Strong reference to an object that implements the interface at the type's path.
            ScriptInterface [(Rc<str>)] (0) => ScriptInterface(ObjectHandle), references::ScriptInterface, word;
            /// Array of values.
            Array [(Rc<ElementType>)] (0) => Array(Vec<Value>), array::Array;
            /// Set of values. Equality ignores the order.
            Set [(Rc<ElementType>)] (0) => Set(Vec<Value>), set::Set;
            /// Map of values by key. Equality ignores the order.
            Map [(Rc<EntryType>)] (0) => Map(Vec<(Value, Value)>), map::Map;
            /// Optional value.
            Optional [(Rc<ElementType>)] (0) => Optional(Option<Box<Value>>), optional::Optional;
            /// Bound function of an object, with the text of its signature.
            Delegate [(Rc<str>)] (0) => Delegate(Binding), delegate::Delegate;
            /// List of delegates.
            MulticastDelegate [(Rc<ElementType>)] (0) => Multicast(Vec<Binding>), multicast::Multicast;
            /// Variant of `MulticastDelegate` that allocates memory only if the list has delegates.
            SparseDelegate [(Rc<ElementType>)] (0) => Sparse(Vec<Binding>), sparse::Sparse;
            /// Reference to a property, stored as its interned path.
            FieldPath [] () => FieldPath(Name), field_path::FieldPath, word;
            /// Kind for tests.
            #[cfg(any(test, feature = "toy-kind"))]
            Toy [] () => Toy(u32), toy::Toy;
        }
    };
}
pub(crate) use each_kind;

/// Expands to `$body` with `$kind` as the kind of type `$ty`, and `$of` as the data of the type.
macro_rules! of_type {
    ($ty:expr, $kind:ident, $of:ident => $body:expr) => {
        $crate::kind_list::each_kind! { [$crate::kind_list::of_type_arms] ($ty, $kind, $of, $body) }
    };
}
pub(crate) use of_type;

macro_rules! of_type_arms {
    (
        ($on:expr, $kind:ident, $of:ident, $body:expr)
        $(
            $(#[doc = $doc:literal])*
            $(#[cfg($cfg:meta)])?
            $ty:ident [$($decl:tt)*] ($($field:tt)?) => $value:ident ($content:ty), $($path:ident)::+ $(, $word:ident)?;
        )*
    ) => {
        match $on {
            $(
                $(#[cfg($cfg)])?
                $crate::property::PropertyType::$ty { $($field: $of)? } => {
                    type $kind = $crate::values::$($path)::+;
                    $crate::kind_list::nothing_in!([$($field)?] $of);
                    $body
                }
            )*
        }
    };
}
pub(crate) use of_type_arms;

/// Binds `$of` to `()` for a type without data.
macro_rules! nothing_in {
    ([] $of:ident) => {
        let $of = &();
    };
    ([$field:tt] $of:ident) => {};
}
pub(crate) use nothing_in;

/// Expands to `$body` with `$kind` as the kind of value `$on`, and `$content` as its content.
macro_rules! of_value {
    ($on:expr, $kind:ident, $content:ident => $body:expr) => {
        $crate::kind_list::each_kind! { [$crate::kind_list::of_value_arms] ($on, $kind, $content, $body) }
    };
}
pub(crate) use of_value;

macro_rules! of_value_arms {
    (
        ($on:expr, $kind:ident, $found:ident, $body:expr)
        $(
            $(#[doc = $doc:literal])*
            $(#[cfg($cfg:meta)])?
            $ty:ident [$($decl:tt)*] ($($field:tt)?) => $value:ident ($content:ty), $($path:ident)::+ $(, $word:ident)?;
        )*
    ) => {
        match $on {
            $(
                $(#[cfg($cfg)])?
                $crate::value::Value::$value($found) => {
                    type $kind = $crate::values::$($path)::+;
                    $body
                }
            )*
        }
    };
}
pub(crate) use of_value_arms;

/// Defines `PropertyType`. The macro `value_enum` defines `Value`.
macro_rules! type_enum {
    (
        ($(#[$meta:meta])* $name:ident)
        $(
            $(#[doc = $doc:literal])*
            $(#[cfg($cfg:meta)])?
            $ty:ident [$($decl:tt)*] ($($field:tt)?) => $value:ident ($content:ty), $($path:ident)::+ $(, $word:ident)?;
        )*
    ) => {
        $(#[$meta])*
        pub enum $name {
            $( $(#[doc = $doc])* $(#[cfg($cfg)])? $ty $($decl)*, )*
        }
    };
}
pub(crate) use type_enum;

macro_rules! value_enum {
    (
        ($(#[$meta:meta])* $name:ident)
        $(
            $(#[doc = $doc:literal])*
            $(#[cfg($cfg:meta)])?
            $ty:ident [$($decl:tt)*] ($($field:tt)?) => $value:ident ($content:ty), $($path:ident)::+ $(, $word:ident)?;
        )*
    ) => {
        $(#[$meta])*
        pub enum $name {
            $( $(#[doc = $doc])* $(#[cfg($cfg)])? $value($content), )*
        }
    };
}
pub(crate) use value_enum;

/// Connects the enums with the kinds, and defines the table of kinds by number.
macro_rules! kinds {
    (
        ()
        $(
            $(#[doc = $doc:literal])*
            $(#[cfg($cfg:meta)])?
            $ty:ident [$($decl:tt)*] ($($field:tt)?) => $value:ident ($content:ty), $($path:ident)::+ $(, $word:ident)?;
        )*
    ) => {
        $(
            $(#[cfg($cfg)])?
            impl Content for $($path)::+ {
                type Value = $content;

                #[inline]
                fn wrap(content: $content) -> Value {
                    Value::$value(content)
                }

                #[inline]
                fn get(value: &Value) -> Option<&$content> {
                    if let Value::$value(content) = value { Some(content) } else { None }
                }

                #[inline]
                fn take(value: Value) -> Result<$content, Value> {
                    match value {
                        Value::$value(content) => Ok(content),
                        other => Err(other),
                    }
                }

                #[inline]
                fn of(ty: &PropertyType) -> Option<&<Self as Kind>::Of> {
                    if let PropertyType::$ty { $($field: of)? } = ty {
                        $crate::kind_list::nothing_in!([$($field)?] of);
                        return Some(of);
                    }
                    None
                }
            }
        )*

        /// Type-independent data of each kind.
        const ENTRIES: &[Entry] = &[
            $(
                $(#[cfg($cfg)])?
                Entry {
                    kind: <$($path)::+ as Kind>::KIND,
                    name: <$($path)::+ as Kind>::NAME,
                    form: <$($path)::+ as Kind>::KIND.form(),
                    plain: $crate::kind_list::plain!([$($decl)*] $ty),
                    of_path: $crate::kind_list::of_path!([$($decl)*] $ty),
                },
            )*
        ];
    };
}
pub(crate) use kinds;

/// Returns the type of a kind without data. Returns `None` for other kinds.
macro_rules! plain {
    ([] $ty:ident) => {
        Some(PropertyType::$ty)
    };
    ([$($decl:tt)+] $ty:ident) => {
        None
    };
}
pub(crate) use plain;

/// Constructor of a type that carries a path. `None` for all other types.
macro_rules! of_path {
    ([(Rc<str>)] $ty:ident) => {
        Some(PropertyType::$ty)
    };
    ([{ $(#[$doc:meta])* class: Rc<str>, }] $ty:ident) => {
        Some(|class| PropertyType::$ty { class })
    };
    ([$($decl:tt)*] $ty:ident) => {
        None
    };
}
pub(crate) use of_path;
