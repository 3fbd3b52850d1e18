//! Expansion of `#[udelegate]`: a type with the name of the declaration, and a signature with a path.

/// Defines the signature of a delegate, and declares or imports it.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_delegate {
    (
        $origin:ident $kind:ident $vis:vis $signature:ident $signature_doc:literal, of: $place:tt, name: $name:literal,
        doc: $doc:literal, ($($param:literal: $ty:ty),*) -> $result:ty
    ) => {
        #[doc = $signature_doc]
        #[derive(Debug)]
        $vis enum $signature {}

        const _: () = {
            impl $crate::plumbing::NamedSignature for $signature {
                type Function = fn($($ty),*) -> $result;
                const PATH: &'static $crate::plumbing::core::primitive::str =
                    $crate::plumbing::delegate!(@path $place $name);
            }

            $crate::plumbing::delegate! {
                @$origin $place $name $doc $crate::plumbing::$kind<$crate::plumbing::Named<$signature>>,
                ($($param: $ty),*) -> $result
            }
        };
    };
    (@path { package $package:literal } $name:literal) => {
        $crate::plumbing::core::concat!("/Script/", $package, ".", $name)
    };
    (@path { class $class:ty } $name:literal) => {
        $crate::plumbing::join!(<$class as $crate::plumbing::Class>::PATH, ":", $name)
    };
    (
        @declared { package $package:literal } $name:literal $doc:literal $delegate:ty,
        ($($param:literal: $ty:ty),*) -> $result:ty
    ) => {
        $crate::plumbing::register! {
            DELEGATES: $crate::plumbing::DelegateDesc = $crate::plumbing::delegate_description::<$delegate>(
                ($package, "", $name),
                {
                    const BLOCK: &$crate::plumbing::SignatureBlock<($($ty,)*), $result> =
                        &$crate::plumbing::SignatureBlock::new(&[$($param),*]);
                    BLOCK
                },
                $doc,
            )
        }
        $crate::plumbing::type_record!(DELEGATE $package, $name);
    };
    (
        @declared { class $class:ty } $name:literal $doc:literal $delegate:ty,
        ($($param:literal: $ty:ty),*) -> $result:ty
    ) => {
        // A class and its delegates must be declared by the same module.
        const fn alcedo_is_declared_here<C: $crate::plumbing::Part>() {}
        const _: () = alcedo_is_declared_here::<$class>();

        const ALCEDO_PATH: &$crate::plumbing::core::primitive::str =
            $crate::plumbing::delegate!(@path { class $class } $name);
        $crate::plumbing::register! {
            DELEGATES: $crate::plumbing::DelegateDesc = $crate::plumbing::delegate_description::<$delegate>(
                ("", <$class as $crate::plumbing::Class>::PATH, $name),
                {
                    const BLOCK: &$crate::plumbing::SignatureBlock<($($ty,)*), $result> =
                        &$crate::plumbing::SignatureBlock::new(&[$($param),*]);
                    BLOCK
                },
                $doc,
            )
        }
        $crate::plumbing::type_record!(
            DELEGATE $crate::plumbing::package_of(ALCEDO_PATH), $crate::plumbing::name_in(ALCEDO_PATH)
        );
    };
    (@imported $place:tt $name:literal $doc:literal $delegate:ty, $params:tt -> $result:ty) => {
        static ALCEDO_CELL: $crate::plumbing::PresenceCell = $crate::plumbing::PresenceCell::new();
        $crate::plumbing::register! {
            IMPORTS: $crate::plumbing::ImportDesc = $crate::plumbing::import_delegate::<$delegate>(&ALCEDO_CELL)
        }
    };
}
