//! The list of all kinds: one entry a kind, and from it the enums [`PropertyType`](crate::property::PropertyType) and
//! [`Value`](crate::value::Value) and every choice by kind are generated. The compiler makes a jump table of each choice, so
//! a kind's code is called directly and can be inlined.
//!
//! An entry: the doc of the type, its variant in `PropertyType`, what the variant carries, the name of the field that carries
//! it, the variant in `Value` with its content, and what implements [`Kind`](crate::values::Kind). `word` generates the type of
//! [`typed_values`](crate::typed_values) that has the content of the value and the name of its variant.

/// Hands the list to the macro `$then`, behind what `$given` is.
macro_rules! each_kind {
    ([$($then:tt)+] $given:tt) => {
        $($then)+! { $given
            /// One byte, unsigned.
            U8 [] () => U8(u8), integers::U8;
            /// Two bytes, unsigned.
            U16 [] () => U16(u16), integers::U16;
            /// Four bytes, unsigned.
            U32 [] () => U32(u32), integers::U32;
            /// Eight bytes, unsigned.
            U64 [] () => U64(u64), integers::U64;
            /// One byte, signed.
            I8 [] () => I8(i8), integers::I8;
            /// Two bytes, signed.
            I16 [] () => I16(i16), integers::I16;
            /// Four bytes, signed.
            I32 [] () => I32(i32), integers::I32;
            /// Eight bytes, signed.
            I64 [] () => I64(i64), integers::I64;
            /// Four bytes, IEEE 754.
            F32 [] () => F32(f32), floats::F32;
            /// Eight bytes, IEEE 754.
            F64 [] () => F64(f64), floats::F64;
            /// One byte, 0 or 1.
            Bool [] () => Bool(bool), boolean::Bool;
            /// UTF-8 text owned by the host. Its kind is `PropertyKind::STRING`.
            Text [] () => Text(String), text::Text;
            /// An interned name.
            Name [] () => Name(Name), name::NameKind;
            /// A strong reference to an object.
            Object [{
                /// Path of the class the declaration names, as it is written there.
                class: Rc<str>,
            }] (class) => Object(ObjectHandle), references::Object;
            /// A struct by value.
            Struct [(Rc<StructType>)] (0) => Struct(Vec<(Arc<str>, Value)>), structure::Struct;
            /// A number of an enum.
            Enum [(Rc<EnumType>)] (0) => Enum(EnumValue), enumeration::Enum;
            /// UTF-8 text, separate from `String` because other code distinguishes the two.
            Utf8Text [] () => Utf8(String), text::Utf8Text;
            /// Text of one byte a character, ISO 8859-1.
            AnsiText [] () => Ansi(String), ansi_text::AnsiText;
            /// Text for people, with the key it is translated by.
            LocalText [] () => LocalText(LocalText), local_text::LocalTextKind;
            /// A class, by the name of its path: the one of this path or a subclass.
            SubclassOf [(Rc<str>)] (0) => SubclassOf(Name), class_paths::SubclassOf, word;
            /// The same, also while there is no such class.
            SoftClass [(Rc<str>)] (0) => SoftClass(Name), class_paths::SoftClass, word;
            /// An object of the class of this path, by the name of its own path.
            SoftObject [(Rc<str>)] (0) => SoftObject(Name), soft_object::SoftObject, word;
            /// An object of the class of this path, by an id that no other ever has.
            LazyObject [(Rc<str>)] (0) => LazyObject(LazyRaw), lazy_object::LazyObject, word;
            /// A reference to an object of the class of this path that keeps nothing alive.
            WeakObject [(Rc<str>)] (0) => WeakObject(ObjectHandle), references::WeakObject, word;
            /// A strong reference to an object that implements the interface of this path.
            ScriptInterface [(Rc<str>)] (0) => ScriptInterface(ObjectHandle), references::ScriptInterface, word;
            /// A row of values.
            Array [(Rc<ElementType>)] (0) => Array(Vec<Value>), array::Array;
            /// Values, each once. Two values of it are equal whatever the order.
            Set [(Rc<ElementType>)] (0) => Set(Vec<Value>), set::Set;
            /// Values by key. Two values of it are equal whatever the order.
            Map [(Rc<EntryType>)] (0) => Map(Vec<(Value, Value)>), map::Map;
            /// A value or none.
            Optional [(Rc<OptionalType>)] (0) => Optional(Option<Box<Value>>), optional::Optional;
            /// A function of an object, to be called later, with the signature in words.
            Delegate [(Rc<str>)] (0) => Delegate(Binding), delegate::Delegate;
            /// Any number of delegates.
            MulticastDelegate [(Rc<ElementType>)] (0) => Multicast(Vec<Binding>), multicast::Multicast;
            /// The same where there mostly is none.
            SparseDelegate [(Rc<ElementType>)] (0) => Sparse(Vec<Binding>), sparse::Sparse;
            /// A property, by the name of its path.
            FieldPath [] () => FieldPath(Name), field_path::FieldPath, word;
            /// A kind that only tests have.
            #[cfg(any(test, feature = "toy-kind"))]
            Toy [] () => Toy(u32), toy::Toy;
        }
    };
}
pub(crate) use each_kind;

/// `$body` with `$kind` as the kind of the type `$ty`, and `$of` as what the type carries.
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

/// What a type carries that carries nothing.
macro_rules! nothing_in {
    ([] $of:ident) => {
        let $of = &();
    };
    ([$field:tt] $of:ident) => {};
}
pub(crate) use nothing_in;

/// `$body` with `$kind` as the kind of the value `$on`, and `$content` as what is in it.
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

/// What `PropertyType` and `Value` are.
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

/// Between the enums and the kinds, and the table of kinds by number.
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

        /// What is known of each kind without a type of it.
        const ENTRIES: &[Entry] = &[
            $(
                $(#[cfg($cfg)])?
                Entry {
                    kind: <$($path)::+ as Kind>::KIND,
                    name: <$($path)::+ as Kind>::NAME,
                    form: <$($path)::+ as Kind>::FORM,
                    plain: $crate::kind_list::plain!([$($decl)*] $ty),
                    of_path: $crate::kind_list::of_path!([$($decl)*] $ty),
                },
            )*
        ];
    };
}
pub(crate) use kinds;

/// The type of a kind that carries nothing; none for all others.
macro_rules! plain {
    ([] $ty:ident) => {
        Some(PropertyType::$ty)
    };
    ([$($decl:tt)+] $ty:ident) => {
        None
    };
}
pub(crate) use plain;

/// Constructor of a type that carries a path; `None` for all other types.
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
