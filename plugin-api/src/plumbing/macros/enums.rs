//! Expansion of `#[uenum]`: a Rust type for the numbers of an enum of the host.

/// Describes an enum, and implements its values in memory and in calls. Reading a number without a variant is an error.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_enum {
    (
        $origin:ident $name:ident: $repr:ty, package: $package:literal, name: $text:literal, doc: $doc:literal,
        flags: $is_flags:literal, words: $words:literal,
        [$(($variant:ident, $entry:literal, $display:literal, $is_hidden:literal, $entry_doc:literal))*]
    ) => {
      const _: () = {
        const ALCEDO_NUMBERS: &[(&$crate::plumbing::core::primitive::str, $crate::plumbing::core::primitive::u64)] =
            &[$(($entry, $name::$variant.alcedo_number() as $crate::plumbing::core::primitive::u64)),*];

        $crate::plumbing::enumeration! {
            @$origin $name $repr [$package $text $doc $is_flags $words]
            [$($crate::plumbing::enum_entry(
                ($entry, $name::$variant.alcedo_number() as $crate::plumbing::core::primitive::u64),
                $display, $is_hidden, $entry_doc,
            )),*]
        }

        impl $crate::plumbing::OfText for $name {
            fn of_text(text: &$crate::plumbing::core::primitive::str) -> Self {
                let number = $crate::plumbing::entry_number::<Self>(text, ALCEDO_NUMBERS) as $repr;
                Self::alcedo_of(number).unwrap_or_else(|| $crate::plumbing::fail($crate::plumbing::unknown_entry::<Self>(number)))
            }
        }

        // SAFETY: the host has a number of this type for each value, which is compared by fingerprint; any bytes are a number,
        // and numbers without a variant are refused before a value is created from them.
        unsafe impl $crate::plumbing::Value for $name {
            const KIND: $crate::plumbing::PropertyKind = $crate::plumbing::PropertyKind::ENUM;
            const TYPE_PATH: &'static $crate::plumbing::core::primitive::str =
                $crate::plumbing::core::concat!("/Script/", $package, ".", $text);
            const NAMES_OBJECTS: bool = false;
            const NUMBERS: $crate::plumbing::core::option::Option<($crate::plumbing::PropertyKind, bool)> =
                $crate::plumbing::numbers::<$repr>(ALCEDO_NUMBERS);
            type Raw = $repr;
            type Literal = &'static $crate::plumbing::core::primitive::str;
            $crate::plumbing::copied_value! {}

            fn try_load(
                from: $crate::plumbing::Ptr<'_, Self>,
            ) -> $crate::plumbing::core::result::Result<Self, $crate::plumbing::CallError> {
                let number: $repr = $crate::plumbing::enum_number(from);
                Self::alcedo_of(number).ok_or_else(|| $crate::plumbing::unknown_entry::<Self>(number))
            }

            fn load(from: $crate::plumbing::Ptr<'_, Self>) -> Self {
                <Self as $crate::plumbing::Value>::try_load(from).unwrap_or_else(|error| $crate::plumbing::fail(error))
            }

            fn store(
                &self,
                target: $crate::plumbing::PtrMut<'_, Self>,
            ) -> $crate::plumbing::core::result::Result<(), $crate::plumbing::CallError> {
                $crate::plumbing::put_enum_number(target, self.alcedo_number());
                $crate::plumbing::core::result::Result::Ok(())
            }
        }
      };
    };
    (@declared $name:ident $repr:ty [$package:literal $text:literal $doc:literal $is_flags:literal $words:literal] $entries:tt) => {
        $crate::plumbing::register! {
            ENUMS: $crate::plumbing::EnumDesc = $crate::plumbing::enum_description::<$name, $repr>(
                ($package, $text),
                $is_flags,
                ALCEDO_NUMBERS,
                &$entries,
                $doc,
            )
        }
        $crate::plumbing::type_record!(ENUM $package, $text);
    };
    (@imported $name:ident $repr:ty [$package:literal $text:literal $doc:literal $is_flags:literal $words:literal] $entries:tt) => {
        static ALCEDO_CELL: $crate::plumbing::PresenceCell = $crate::plumbing::PresenceCell::new();
        $crate::plumbing::register! {
            IMPORTS: $crate::plumbing::ImportDesc =
                $crate::plumbing::import_enumeration::<$name, $repr>($is_flags, ALCEDO_NUMBERS, $words, &ALCEDO_CELL)
        }
    };
}
