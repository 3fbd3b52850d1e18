//! Expansion of `#[udelegate]`: a type with the declared name, and a signature with a path.

/// Defines the signature of a delegate, and declares or imports the delegate.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_delegate {
    (
        $origin:ident $kind:ident $vis:vis $signature:ident $signature_doc:literal, of: $scope:tt, name: $name:literal,
        doc: $doc:literal, ($($param:literal: $ty:ty),*) -> $result:ty
    ) => {
        #[doc = $signature_doc]
        #[derive($crate::__private::core::fmt::Debug)]
        $vis enum $signature {}

        const _: () = {
            impl $crate::__private::NamedSignature for $signature {
                type Function = fn($($ty),*) -> $result;
                const PATH: &'static $crate::__private::core::primitive::str =
                    $crate::__private::delegate!(@path $scope $name);
            }

            $crate::__private::delegate! {
                @$origin $scope $name $doc $crate::__private::$kind<$crate::__private::Named<$signature>>,
                ($($param: $ty),*) -> $result
            }
        };
    };
    (@path { package $package:literal } $name:literal) => {
        $crate::__private::core::concat!("/Script/", $package, ".", $name)
    };
    (@path { class $class:ty } $name:literal) => {
        $crate::__private::join!(<$class as $crate::__private::Class>::PATH, ":", $name)
    };
    (@declared $scope:tt $name:literal $doc:literal $delegate:ty, ($($param:literal: $ty:ty),*) -> $result:ty) => {
        $crate::__private::register! {
            DELEGATES: $crate::__private::DelegateDesc = $crate::__private::delegate_description::<$delegate>(
                $crate::__private::delegate!(@scope $scope $name),
                {
                    const BLOCK: &$crate::__private::SignatureBlock<($($ty,)*), $result> =
                        &$crate::__private::SignatureBlock::new(&[$($param),*]);
                    BLOCK
                },
                $doc,
            )
        }
        $crate::__private::delegate! { @recorded $scope $name }
    };
    (@scope { package $package:literal } $name:literal) => {
        ($package, "", $name)
    };
    (@scope { class $class:ty } $name:literal) => {
        ("", <$class as $crate::__private::Class>::PATH, $name)
    };
    (@recorded { package $package:literal } $name:literal) => {
        $crate::__private::type_record!(DELEGATE $package, $name);
    };
    (@recorded { class $class:ty } $name:literal) => {
        // Checks that this module declares the class, because the delegates of a class must be declared in the module of the class.
        const fn alcedo_is_declared_here<C: $crate::__private::Part>() {}
        const _: () = alcedo_is_declared_here::<$class>();

        const ALCEDO_PATH: &$crate::__private::core::primitive::str =
            $crate::__private::delegate!(@path { class $class } $name);
        $crate::__private::type_record!(
            DELEGATE $crate::__private::package_of(ALCEDO_PATH), $crate::__private::name_in(ALCEDO_PATH)
        );
    };
    (@imported $scope:tt $name:literal $doc:literal $delegate:ty, $params:tt -> $result:ty) => {
        $crate::__private::register! {
            IMPORTS: $crate::__private::ImportDesc = $crate::__private::import_delegate::<$delegate>()
        }
    };
}
