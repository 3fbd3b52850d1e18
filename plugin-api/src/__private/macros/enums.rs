//! Expansion of `#[uenum]`: a Rust type for the numbers of a host enum.

/// Describes an enum to the host, and implements `Value` for the Rust type. Reading a number without a variant is an error.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_enum {
    (
        $origin:ident $name:ident: $repr:ty, package: $package:literal, name: $text:literal, doc: $doc:literal,
        flags: $is_flags:literal, words: $words:literal,
        [$(($variant:ident, $entry:literal, $display:literal, $is_hidden:literal, $entry_doc:literal))*]
    ) => {
      #[allow(deprecated, reason = "describes a deprecated entry without a use of its value")]
      const _: () = {
        const ALCEDO_NUMBERS: &[(&$crate::__private::core::primitive::str, $crate::__private::core::primitive::u64)] =
            &[$(($entry, $name::$variant.alcedo_number() as $crate::__private::core::primitive::u64)),*];

        $crate::__private::enumeration! {
            @$origin $name $repr [$package $text $doc $is_flags $words]
            [$($crate::__private::enum_entry(
                ($entry, $name::$variant.alcedo_number() as $crate::__private::core::primitive::u64),
                $display, $is_hidden, $entry_doc,
            )),*]
        }

        impl $crate::__private::OfText for $name {
            fn of_text(text: &$crate::__private::core::primitive::str) -> Self {
                let number = $crate::__private::entry_number::<Self>(text, ALCEDO_NUMBERS) as $repr;
                Self::alcedo_of(number).unwrap_or_else(|| $crate::__private::fail($crate::__private::unknown_entry::<Self>(number)))
            }
        }

        // Calls only `const` functions of the enum, because other code could reach the host, which could then move the value.
        const fn alcedo_number(entry: $name) -> $repr {
            <$name>::alcedo_number(entry)
        }
        const fn alcedo_of(number: $repr) -> $crate::__private::core::option::Option<$name> {
            <$name>::alcedo_of(number)
        }

        // SAFETY: the host stores each value as a number of this type, as the fingerprint ensures. Any bytes are a valid number.
        // A number without a variant is refused before a value is created.
        unsafe impl $crate::__private::Value for $name {
            const KIND: $crate::__private::PropertyKind = $crate::__private::PropertyKind::ENUM;
            const TYPE_PATH: &'static $crate::__private::core::primitive::str =
                $crate::__private::core::concat!("/Script/", $package, ".", $text);
            const NAMES_OBJECTS: bool = false;
            const NUMBERS: $crate::__private::core::option::Option<($crate::__private::PropertyKind, bool)> =
                $crate::__private::numbers::<$repr>(ALCEDO_NUMBERS);
            type Raw = $repr;
            type Literal = &'static $crate::__private::core::primitive::str;
            $crate::__private::copied_value! {}

            fn try_load(from: $crate::__private::Ptr<'_, Self>) -> $crate::__private::CallResult<Self> {
                let number: $repr = $crate::__private::enum_number(from);
                $crate::__private::core::option::Option::ok_or_else(alcedo_of(number), || {
                    $crate::__private::unknown_entry::<Self>(number)
                })
            }

            fn load(from: $crate::__private::Ptr<'_, Self>) -> Self {
                $crate::__private::or_end(<Self as $crate::__private::Value>::try_load(from))
            }

            fn store(&self, target: $crate::__private::PtrMut<'_, Self>) -> $crate::__private::CallResult<()> {
                $crate::__private::put_enum_number(target, alcedo_number(*self));
                $crate::__private::core::result::Result::Ok(())
            }
        }
      };
    };
    (@declared $name:ident $repr:ty [$package:literal $text:literal $doc:literal $is_flags:literal $words:literal] $entries:tt) => {
        $crate::__private::register! {
            ENUMS: $crate::__private::EnumDesc = $crate::__private::enum_description::<$name, $repr>(
                ($package, $text),
                $is_flags,
                ALCEDO_NUMBERS,
                &$entries,
                $doc,
            )
        }
        $crate::__private::type_record!(ENUM $package, $text);
    };
    (@imported $name:ident $repr:ty [$package:literal $text:literal $doc:literal $is_flags:literal $words:literal] $entries:tt) => {
        $crate::__private::register! {
            IMPORTS: $crate::__private::ImportDesc =
                $crate::__private::import_enumeration::<$name, $repr>($is_flags, ALCEDO_NUMBERS, $words)
        }
    };
}
