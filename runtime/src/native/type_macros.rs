//! Expansion of `#[ustruct]`, `#[uenum]`, `#[udelegate]` and `#[uinterface]` in a host: the types and their declarations.

/// Declares a struct that is passed by value.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_native_pod {
    (
        declared $struct:ident, package: $package:literal, name: $name:literal, doc: $doc:literal,
        [$(($field:ident, $field_name:literal, $ty:ty, $default:literal, $field_doc:literal)),* $(,)?]
    ) => {
        #[allow(deprecated, reason = "describes a deprecated field without a use of its value")]
        const _: () = {
            $crate::native::__private::plain_fields! {
                $struct in $crate::native::__private::core::concat!("/Script/", $package, ".", $name), [$doc],
                [$({ $field, $field_name, $ty, $default, [$field_doc] })*]
            }

            impl $crate::native::__private::Declared for $struct {
                fn add_to(natives: $crate::native::__private::Natives) -> $crate::native::__private::Natives {
                    // An inherent `ALCEDO_NET` takes precedence over the constant of `WithoutNet`.
                    #[allow(unused_imports, reason = "the struct may define `ALCEDO_NET`")]
                    use $crate::native::__private::WithoutNet as _;
                    $crate::native::__private::add_struct::<$struct>(natives, $package, &<$struct>::ALCEDO_NET)
                }
            }
        };
    };
}

/// Declares a struct with fields of any type. The fields are copied one by one.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_native_structure {
    (
        declared $struct:ident, package: $package:literal, name: $name:literal, doc: $doc:literal,
        [$(($field:ident, $field_name:literal, $ty:ty, $default:literal, $field_doc:literal)),* $(,)?]
    ) => {
        #[allow(deprecated, reason = "describes a deprecated field without a use of its value")]
        const _: () = {
            $crate::native::__private::host_fields! {
                $struct in $crate::native::__private::core::concat!("/Script/", $package, ".", $name),
                [$({ $field, $field_name, $ty })*]
            }

            impl $crate::native::__private::Declared for $struct {
                fn add_to(natives: $crate::native::__private::Natives) -> $crate::native::__private::Natives {
                    // An inherent `ALCEDO_NET` takes precedence over the constant of `WithoutNet`.
                    #[allow(unused_imports, reason = "the struct may define `ALCEDO_NET`")]
                    use $crate::native::__private::WithoutNet as _;
                    let fields = ::std::vec![
                        $($crate::native::__private::struct_field::<$ty>($field_name, $default, $field_doc)),*
                    ];
                    $crate::native::__private::add_structure::<$struct>(
                        natives, ($package, $name, $doc), fields, &<$struct>::ALCEDO_NET,
                    )
                }
            }
        };
    };
}

/// Declares the signature of a delegate.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_native_delegate {
    (
        declared $kind:ident $vis:vis $signature:ident $signature_doc:literal, of: $scope:tt, name: $name:literal,
        doc: $doc:literal, ($($param:literal: $ty:ty),*) -> $result:ty
    ) => {
        #[doc = $signature_doc]
        #[derive(Debug)]
        $vis enum $signature {}

        const _: () = {
            impl $crate::native::__private::NamedSignature for $signature {
                type Function = fn($($ty),*) -> $result;
                const SCOPE: (&'static str, &'static str) = $crate::native::__private::delegate!(@scope $scope);
                const NAME: &'static str = $name;
                const PARAMS: &'static [&'static str] = &[$($param),*];
                const DOC: &'static str = $doc;
            }
        };
    };
    (@scope { package $package:literal }) => {
        ($package, "")
    };
    (@scope { class $class:ty }) => {
        ("", <$class as $crate::native::__private::Class>::PATH)
    };
}

/// Declares an enum: its numbers, its property type and its declaration.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_native_enum {
    (
        declared $name:ident: $repr:ty, package: $package:literal, name: $text:literal, doc: $doc:literal,
        flags: $is_flags:literal, words: $words:literal,
        [$(($variant:ident, $entry:literal, $display:literal, $is_hidden:literal, $entry_doc:literal))*]
    ) => {
        #[allow(deprecated, reason = "describes a deprecated entry without a use of its value")]
        const _: () = {
            const ALCEDO_ENTRIES: &[$crate::native::__private::EnumEntryDesc] = &[$($crate::native::__private::enum_entry(
                ($entry, $name::$variant.alcedo_number() as $crate::native::__private::core::primitive::u64),
                $display, $is_hidden, $entry_doc,
            )),*];

            impl $crate::native::__private::NativeEnumeration for $name {
                const PATH: &'static $crate::native::__private::core::primitive::str =
                    $crate::native::__private::core::concat!("/Script/", $package, ".", $text);
                const ENTRIES: $crate::native::__private::EnumNumbers =
                    &[$(($entry, $name::$variant.alcedo_number() as $crate::native::__private::core::primitive::u64)),*];
                const DESC: &'static $crate::native::__private::EnumDesc = &$crate::native::__private::enum_description(
                    ($package, $text), <$repr as $crate::native::__private::Value>::KIND, $is_flags,
                    <Self as $crate::native::__private::NativeEnumeration>::ENTRIES, ALCEDO_ENTRIES, $doc,
                );

                fn number(self) -> $crate::native::__private::core::primitive::i128 {
                    $crate::native::__private::core::convert::Into::into(self.alcedo_number())
                }

                fn of_number(
                    number: $crate::native::__private::core::primitive::i128,
                ) -> $crate::native::__private::core::option::Option<Self> {
                    Self::alcedo_of($crate::native::__private::core::convert::TryInto::try_into(number).ok()?)
                }
            }

            impl $crate::native::__private::HostValue for $name {
                type Raw = $crate::native::__private::NumberOf<Self>;

                fn from_raw(raw: Self::Raw) -> Self {
                    $crate::native::__private::or_end(raw.entry())
                }

                fn into_raw(self) -> Self::Raw {
                    $crate::native::__private::NumberOf::new(self)
                }
            }

            impl $crate::native::__private::Value for $name {
                type Literal = &'static $crate::native::__private::core::primitive::str;
                const KIND: $crate::native::__private::PropertyKind = $crate::native::__private::PropertyKind::ENUM;
                const TYPE_PATH: &'static $crate::native::__private::core::primitive::str =
                    <Self as $crate::native::__private::NativeEnumeration>::PATH;
                const NUMBERS: $crate::native::__private::core::option::Option<($crate::native::__private::PropertyKind, bool)> =
                    $crate::native::__private::core::option::Option::Some((
                        <$repr as $crate::native::__private::Value>::KIND,
                        $crate::native::__private::fit_a_byte(<Self as $crate::native::__private::NativeEnumeration>::ENTRIES),
                    ));
            }

            impl $crate::native::__private::OfText for $name {
                fn of_text(text: &$crate::native::__private::core::primitive::str) -> Self {
                    $crate::native::__private::entry_of_text(text)
                }
            }

            impl $crate::native::__private::Declared for $name {
                fn add_to(natives: $crate::native::__private::Natives) -> $crate::native::__private::Natives {
                    $crate::native::__private::add_enum::<$name>(natives)
                }
            }
        };
    };
}

/// Declares an interface: its type and view.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_native_interface {
    (
        declared $(#[$attr:meta])* $vis:vis $interface:ident $view:ident $view_doc:literal,
        package: $package:literal, name: $name:literal, doc: $doc:literal,
        functions: [$({
            $function:literal ($($param:literal: $ty:ty),*) -> $result:ty, may_fail: $may_fail:literal,
            text: $text:literal, doc: $function_doc:literal
        })*],
    ) => {
        $(#[$attr])*
        #[derive(Debug)]
        $vis enum $interface {}

        $crate::native::__private::view! { $vis $view $view_doc: $crate::native::Object }

        const _: () = {
            impl $crate::native::__private::Interface for $interface {
                type View<'f> = $view<'f>;
                const PATH: &'static str = $crate::native::__private::core::concat!("/Script/", $package, ".", $name);
                const FUNCTIONS: &'static [$crate::native::__private::InterfaceFunction] =
                    &[$($crate::native::__private::compared::<($($ty,)*), $result>($function, $text)),*];
                const NAMES: &'static str =
                    $crate::native::__private::core::concat!("these:" $(, " `", $function, "`")*);
            }

            impl $crate::native::__private::Declared for $interface {
                fn add_to(natives: $crate::native::__private::Natives) -> $crate::native::__private::Natives {
                    $crate::native::__private::add_interface(natives, ($package, $name), $doc, ::std::vec![$(
                        $crate::native::__private::interface_function::<($($ty,)*), $result>(
                            $function,
                            $may_fail,
                            &$crate::native::__private::SignatureBlock::new(&[$($param),*]),
                            $function_doc,
                        )
                    ),*])
                }
            }
        };
    };
}

/// Rejects, at compile time, attributes that declare earlier names of native types and members.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_native_earlier_names {
    ($path:literal, $names:literal) => {
        ::core::compile_error!(
            "earlier names of a host's own types are redirects: `runtime.types().redirect(old, new)`"
        );
    };
}

/// Declares the marker of an interface function. The host declares the interface, so the function needs no import.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_native_import {
    ($cell:ident: $ty:ty = $new:expr, $import:ident($path:expr)) => {
        #[allow(clippy::type_complexity, reason = "the type has a part for each parameter")]
        static $cell: $ty = $new;
    };
}
