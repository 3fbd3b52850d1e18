//! Expansion of `#[ustruct]`: a struct that is passed by value, or a struct that is accessed in place.

/// Defines the items that both kinds of structs need: the struct's representation in host memory with a constant for each field, and the
/// description for the host. The arguments of `AlcedoParts` determine the types of the fields. Code that repeats the author's types
/// compiles only if these types match the arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_declare {
    (
        $origin:ident $struct:ident $package:literal $name:literal $doc:literal
        [$(($field:ident, $field_name:literal, $ty:ty, $default:literal, $field_doc:literal, $is_base:literal)),* $(,)?]
    ) => {
        /// Representation of the struct in host memory: each field as the host stores it.
        #[repr(C)]
        #[allow(non_camel_case_types, non_snake_case, reason = "a field and its type have the name of the author's field")]
        pub struct AlcedoParts<$($field: $crate::__private::Value),*> {
            $($field: $crate::__private::Stored<$field>,)*
        }

        /// Representation in host memory with the author's field types. Because this type is separate, the compiler reports a wrong field
        /// type only once.
        #[repr(transparent)]
        pub struct AlcedoRaw(AlcedoTypes);

        type AlcedoTypes = AlcedoParts<$($ty),*>;

        const ALCEDO_BLANK: &AlcedoRaw = &$crate::__private::blank::<$struct>();

        #[allow(non_upper_case_globals, reason = "a field has its own name")]
        impl AlcedoRaw {
            $(const $field: $crate::__private::Field<$struct, $ty> = {
                struct AlcedoField;
                impl $crate::__private::FieldPlace for AlcedoField {
                    type Struct = $struct;
                    type Type = $ty;
                    const AT: (&'static AlcedoRaw, &'static $crate::__private::Stored<$ty>) = {
                        let whole = ALCEDO_BLANK;
                        (whole, &whole.0.$field)
                    };
                }
                $crate::__private::Field::of::<AlcedoField>()
            };)*
        }

        $crate::__private::declare! {
            @$origin $struct $package $name $doc [$(AlcedoRaw::$field.described($field_name, $default, $field_doc, $is_base)),*]
        }
    };
    (@declared $struct:ident $package:literal $name:literal $doc:literal $fields:tt) => {
        $crate::__private::register! {
            STRUCTS: $crate::__private::StructDesc = $crate::__private::structure_description::<$struct>(
                ($package, $name),
                &$fields,
                &$crate::__private::field_descriptions(&$fields),
                $doc,
            )
        }
        $crate::__private::type_record!(STRUCT $package, $name);
    };
    (@imported $struct:ident $package:literal $name:literal $doc:literal $fields:tt) => {
        $crate::__private::register! {
            IMPORTS: $crate::__private::ImportDesc =
                $crate::__private::import_structure::<$struct>(
                    &$fields,
                    &$crate::__private::field_descriptions(&$fields),
                )
        }
    };
}

/// Defines a struct that is passed by value. Rejects a struct that is not `Copy`, because a set or map in a field would run code of the
/// author while the fields are read:
///
/// ```compile_fail,E0507
/// use std::collections::HashSet;
///
/// use alcedo_plugin_api::__private;
///
/// #[repr(C)]
/// pub struct Marks {
///     seen: Option<HashSet<u64>>,
/// }
///
/// __private::pod! {
///     declared Marks, package: "Game", name: "Marks", doc: "", [(seen, "seen", Option<HashSet<u64>>, "", "")]
/// }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_pod {
    (
        $origin:ident $name:ident, package: $package:literal, name: $text:literal, doc: $doc:literal,
        [$(($field:ident, $field_name:literal, $ty:ty, $default:literal, $field_doc:literal)),* $(,)?]
    ) => {
      #[allow(deprecated, reason = "describes a deprecated field without a use of its value")]
      const _: () = {
        $crate::__private::declare! {
            $origin $name $package $text $doc [$(($field, $field_name, $ty, $default, $field_doc, false)),*]
        }

        const _: () = $crate::__private::core::assert!(
            $crate::__private::core::mem::size_of::<$name>() == $crate::__private::core::mem::size_of::<AlcedoRaw>()
                && $crate::__private::core::mem::align_of::<$name>() == $crate::__private::core::mem::align_of::<AlcedoRaw>()
                $(&& $crate::__private::core::mem::offset_of!($name, $field)
                    == $crate::__private::core::mem::offset_of!(AlcedoTypes, $field))*,
            "a `#[ustruct(pod)]` struct has the C layout: remove its own `repr`",
        );

        /// Implemented by `AlcedoParts` if each field type is `Plain`.
        pub trait AlcedoPlain {}
        #[allow(non_camel_case_types, reason = "the type of a field has the name of the field")]
        impl<$($field: $crate::__private::Plain),*> AlcedoPlain for AlcedoParts<$($field),*> {}

        // SAFETY: each field has the offset of its raw form, which is asserted above.
        // Each field has exactly its declared type, otherwise `load` below would not compile.
        // The struct therefore has the layout of its raw form, and accepts any bytes if all fields do.
        // The `for` bound defers the check of the fields to users of the trait.
        unsafe impl $crate::__private::Plain for $name where for<'plain> AlcedoTypes: AlcedoPlain {}

        // SAFETY: `AlcedoRaw` has the fields of the host's struct in order, with the layout of C.
        // The fingerprint ensures equal size, alignment and offsets.
        // The raw form of each field is valid for any bytes, and so is the struct. Slots hold a pointer to this form.
        unsafe impl $crate::__private::Value for $name {
            const KIND: $crate::__private::PropertyKind = $crate::__private::PropertyKind::STRUCT;
            const TYPE_PATH: &'static $crate::__private::core::primitive::str =
                $crate::__private::core::concat!("/Script/", $package, ".", $text);
            const OWNS_MEMORY: bool = false $(|| $crate::__private::Field::owns_memory(&AlcedoRaw::$field))*;
            type Raw = AlcedoRaw;
            type Literal = $crate::__private::NoDefault;
            $crate::__private::copied_value! {}

            fn load(from: $crate::__private::Ptr<'_, Self>) -> Self {
                Self { $($field: $crate::__private::Ptr::load_field(from, &AlcedoRaw::$field),)* }
            }

            fn store(&self, target: $crate::__private::PtrMut<'_, Self>) -> $crate::__private::CallResult<()> {
                // Compiles only if the struct is `Copy`, as the value of `COPY_RUNS_CODE` requires.
                let copy = *self;
                $($crate::__private::PtrMut::store_field(&target, &AlcedoRaw::$field, &copy.$field)?;)*
                $crate::__private::core::result::Result::Ok(())
            }
        }
      };
    };
}

/// Defines a struct that is accessed in place: the type of an owned value, the view, and the description.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_struct {
    (
        $origin:ident $(#[$attr:meta])* $vis:vis $name:ident $view:ident $view_doc:literal,
        package: $package:literal, name: $text:literal, doc: $doc:literal,
        [$({
            $(#[$field_attr:meta])*
            $field:ident $set:ident $try_set:ident: $ty:ty, $value:ident: $arg:ty = $argument:expr,
            name: $field_name:literal, default: $default:literal, doc: $field_doc:literal, is_base: $is_base:literal
        })*]
    ) => {
        $(#[$attr])*
        $vis struct $name($crate::__private::Owned<Self>);

        #[doc = $view_doc]
        #[repr(transparent)]
        $vis struct $view<'f>($crate::__private::Borrowed<'f, $name>);

      const _: () = {
        $crate::__private::declare! {
            $origin $name $package $text $doc [$(($field, $field_name, $ty, $default, $field_doc, $is_base)),*]
        }

        // SAFETY: `AlcedoRaw` has the fields of the host's struct in order, with the layout of C.
        // The fingerprint ensures equal size, alignment and offsets.
        // The raw form of each field is valid for any bytes until its pointers are followed, and so is the struct.
        // Slots hold a pointer to this form.
        unsafe impl $crate::__private::Value for $name {
            const KIND: $crate::__private::PropertyKind = $crate::__private::PropertyKind::STRUCT;
            const TYPE_PATH: &'static $crate::__private::core::primitive::str =
                $crate::__private::core::concat!("/Script/", $package, ".", $text);
            type Raw = AlcedoRaw;
            type Literal = $crate::__private::NoDefault;
            $crate::__private::owned_value! {}
            $crate::__private::owned_value! { @slots }
        }

        // SAFETY: the view is transparent over `Borrowed`. The host creates each owned value with the type number of this type.
        unsafe impl $crate::__private::Kind for $name {
            type View<'f> = $view<'f>;
            $crate::__private::owned_value! { @slot_data }

            fn owned(&self) -> &$crate::__private::Owned<Self> {
                &self.0
            }

            fn from_owned(owned: $crate::__private::Owned<Self>) -> Self {
                Self(owned)
            }
        }

        $crate::__private::owned_type! { [] $name }

        $crate::__private::properties! {
            $view by field set_field
            $({ $(#[$field_attr])* $field $set $try_set: $ty, $value: $arg = $argument, (AlcedoRaw::$field) })*
        }
      };
    };
}
