//! Expansion of `#[uclass]`: a declared or imported class, its view, and the members of the view.

/// Defines a class: its view, its implementation of `Class`, the accessors of its properties, and its registered description.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_class {
    (
        declared $vis:vis $class:ident $view:ident $view_doc:literal, base: $base:ty,
        package: $package:literal, name: $name:literal, flags: $flags:expr, $(library: $library:literal,)? doc: $doc:literal,
        properties: [$({
            $(#[$attr:meta])* $get:ident: $ty:ty, $arg:ty = $argument:expr, {
                $cell:ident $at:tt $set:ident $try_set:ident $value:ident,
                name: $property:literal, flags: $property_flags:expr, default: $default:literal, metadata: $metadata:expr
            }
        })*],
        kept: [$(($kept:ident, $kept_name:literal, $kept_ty:ty))*],
        fields: [$(($field:ident, $field_name:literal, $field_ty:ty))*],
        implements: [$(($interface:ty, $bodies:ident))*],
        subobjects: [$(($part:literal, $part_class:ty))*],
        defaults: [$(($default_path:literal, $default_text:literal))*],
        $(conversions: $conversions:ident,)?
        checks: { $($checks:tt)* },
    ) => {
        $crate::__private::view! { $vis $class $view $view_doc }
        const _: () = {
            static ALCEDO_CLASS: $crate::__private::ClassCell<$class> = $crate::__private::ClassCell::new();

            // SAFETY: the description below contains path, base and members.
            // Before any code of the module runs, the host emits the class from the description.
            unsafe impl $crate::__private::Class for $class {
                $crate::__private::class! { @members $view, $base, $package, $name, [$($property)*] [$($field_name)*] }
                $crate::__private::class! { @implements [$($interface)*] }
                $(const LIBRARY: &'static $crate::__private::core::primitive::str = $library;)?
            }

            #[allow(unused_imports, reason = "a class may have no field that is saved by name")]
            use $crate::__private::SavedByName as _;

            // SAFETY: the hooks in the description below are those of this implementation.
            unsafe impl $crate::__private::Part for $class {
                fn red_constructor(this: $crate::__private::This<'_, Self>) -> Self {
                    #[allow(unused_imports, reason = "the author's own red constructor takes precedence")]
                    use $crate::__private::WithoutARedConstructor as _;
                    $class::alcedo_red_constructor(this)
                }

                $crate::__private::class! { @kept [$(($kept, $kept_name, $kept_ty))*] }
            }

            impl<AlcedoMark> $crate::__private::DefaultPart<AlcedoMark> for $class
            where
                $($crate::__private::Probe<AlcedoMark, $field_ty>: $crate::__private::BuildDefault<Out = $field_ty>,)*
            {
                fn default_part() -> Self {
                    Self {
                        $($field: <$crate::__private::Probe<AlcedoMark, $field_ty> as $crate::__private::BuildDefault>::build(),)*
                    }
                }
            }

            // All cells are in one static, because separate statics would take longer to compile.
            #[allow(clippy::type_complexity, reason = "the type has a part for each property")]
            #[allow(clippy::unused_unit, reason = "a class may have no property")]
            static ALCEDO_CELLS: ($($crate::__private::PropertyCell<$class, $ty>,)*) = {
                // SAFETY: each cell is part of the description below.
                let cells = unsafe { $crate::__private::Cells::new() };
                ($(cells.at($at),)*)
            };
            $crate::__private::properties! {
                $view by read_member write_member
                $({ $(#[$attr])* $get $set $try_set: $ty, $value: $arg = $argument, (ALCEDO_CELLS.$at) })*
            }

            $(
                // If the author has written bodies, an inherent constant with these bodies takes precedence over this trait.
                #[allow(non_camel_case_types, reason = "the trait has the name of the constant that it replaces")]
                trait $bodies {
                    const $bodies: $crate::__private::Bodies<$class, $interface> = $crate::__private::Bodies::NONE;
                }
                impl $bodies for $class {}
            )*
            $($checks)*

            $crate::__private::register! {
                @here CLASSES: $crate::__private::ClassDesc = {
                    #[allow(unused_imports, reason = "an `impl` block of the author takes precedence")]
                    use $crate::__private::NoBody as _;
                    const ALCEDO_PROPERTIES: &[$crate::__private::Property<$class>] = &[$(
                        $crate::__private::property_description(
                            $property, $property_flags, $default, $metadata, &ALCEDO_CELLS.$at,
                        )
                    ),*];
                    $crate::__private::class_description(
                        ($package, $name),
                        $flags,
                        $doc,
                        ALCEDO_PROPERTIES,
                        $crate::__private::class! { @body $class [$($class::$bodies.functions(),)* $($conversions)?] },
                        &ALCEDO_CLASS,
                        (
                            &[$($crate::__private::interface_path::<$interface>()),*],
                            &[$($crate::__private::meta($part, <$part_class as $crate::__private::Class>::PATH)),*],
                            &[$($crate::__private::meta($default_path, $default_text)),*],
                        ),
                    )
                }
            }
            $crate::__private::type_record!(@here CLASS $package, $name);
        };
    };
    (
        imported $vis:vis $class:ident $view:ident $view_doc:literal, base: $base:ty,
        package: $package:literal, name: $name:literal,
        properties: [$({
            $(#[$attr:meta])* $get:ident: $ty:ty, $arg:ty = $argument:expr, {
                $cell:ident $at:tt $set:ident $try_set:ident $value:ident, name: $property:literal
            }
        })*],
    ) => {
        $crate::__private::view! { $vis $class $view $view_doc }
        #[allow(non_snake_case, reason = "the members are declared with these names")]
        const _: () = {
            static ALCEDO_CLASS: $crate::__private::ClassCell<$class> = $crate::__private::ClassCell::new();

            // SAFETY: the import below contains path, base and members.
            // Before any code of the module runs, the host compares the import with the class.
            unsafe impl $crate::__private::Class for $class {
                $crate::__private::class! { @members $view, $base, $package, $name, [$($property)*] [] }
            }

            $crate::__private::register! {
                @here IMPORTS: $crate::__private::ImportDesc =
                    $crate::__private::import_class(&[$($crate::__private::member_name($property)),*], &ALCEDO_CLASS)
            }

            $(
                $crate::__private::import! {
                    $cell: $crate::__private::PropertyCell<$class, $ty> = {
                        // SAFETY: the import contains the cell, and the module lists the import if any code uses the cell.
                        unsafe { $crate::__private::PropertyCell::new() }
                    },
                    import_property($crate::__private::core::concat!("/Script/", $package, ".", $name, ":", $property))
                }
            )*
            $crate::__private::properties! {
                $view by read_member write_member
                $({ $(#[$attr])* $get $set $try_set: $ty, $value: $arg = $argument, ($cell) })*
            }
        };
    };
    (
        @members $view:ident, $base:ty, $package:literal, $name:literal,
        [$($property:literal)*] [$($field:literal)*]
    ) => {
        type Base = $base;
        type View<'f> = $view<'f>;
        const PATH: &'static $crate::__private::core::primitive::str =
            $crate::__private::core::concat!("/Script/", $package, ".", $name);
        const MEMBERS: $crate::__private::Members = $crate::__private::Members::of::<$base>(
            &[$($property),*],
            &[$($field),*],
        );
        const EVENTS: &'static [&'static $crate::__private::core::primitive::str] = {
            #[allow(unused_imports, reason = "a class may have no events")]
            use $crate::__private::NoEvents as _;
            <$view<'static>>::ALCEDO_EVENTS
        };

        fn cell() -> &'static $crate::__private::Cell {
            $crate::__private::ClassCell::cell(&ALCEDO_CLASS)
        }
    };
    (@body $class:ident []) => {
        $class::ONE_UCLASS_IMPL_BLOCK_PER_CLASS
    };
    // Adds the functions of interfaces and the conversion functions to the functions of the `impl` block.
    (@body $class:ident [$($functions:tt)+]) => {{
        const ALCEDO_BODY: $crate::__private::Body<$class> = $class::ONE_UCLASS_IMPL_BLOCK_PER_CLASS;
        const ALCEDO_LISTS: &[&[$crate::__private::Function<$class>]] = &[ALCEDO_BODY.functions(), $($functions)+];
        const ALCEDO_COUNT: $crate::__private::core::primitive::usize =
            $crate::__private::count_functions(ALCEDO_LISTS);
        const ALCEDO_FUNCTIONS: &[$crate::__private::Function<$class>; ALCEDO_COUNT] =
            &$crate::__private::all_functions(ALCEDO_LISTS);
        ALCEDO_BODY.with_functions(ALCEDO_FUNCTIONS)
    }};
    (@implements []) => {};
    (@implements [$($interface:ty)+]) => {
        const IMPLEMENTS: &'static [&'static $crate::__private::core::primitive::str] =
            &[$(<$interface as $crate::__private::Interface>::PATH),+];
    };
    (@kept []) => {};
    (@kept [$(($kept:ident, $kept_name:literal, $kept_ty:ty))+]) => {
        const KEPT: &'static [(
            &'static $crate::__private::core::primitive::str,
            $crate::__private::core::primitive::u64,
        )] = &[$(($kept_name, <$crate::__private::Packing<$kept_ty>>::PRINT)),+];

        fn save_kept(&self, writer: &mut $crate::__private::KeptWriter<'_>) {
            $(writer.put::<$kept_ty>($kept_name, &self.$kept);)+
        }

        fn load_kept(
            &mut self,
            name: &$crate::__private::core::primitive::str,
            data: &[$crate::__private::core::primitive::u8],
        ) -> $crate::__private::CallResult<()> {
            match name {
                $($kept_name => $crate::__private::restore::<$kept_ty>(&mut self.$kept, data),)+
                _ => $crate::__private::core::result::Result::Err($crate::__private::unknown_field(
                    <Self as $crate::__private::Class>::PATH,
                    name,
                )),
            }
        }

        fn pack_kept(&self, out: &mut $crate::__private::Packer<'_>) {
            $(<$crate::__private::Packing<$kept_ty>>::pack(&self.$kept, out);)+
        }

        fn unpack_kept(
            &mut self,
            input: &mut $crate::__private::Unpacker<'_>,
        ) -> $crate::__private::core::option::Option<()> {
            $(self.$kept = <$crate::__private::Packing<$kept_ty>>::unpack(input)?;)+
            $crate::__private::core::option::Option::Some(())
        }
    };
}

/// Defines the view of a class.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_view {
    ($vis:vis $class:ident $view:ident $doc:literal) => {
        #[doc = $doc]
        #[repr(transparent)]
        $vis struct $view<'f>($crate::__private::This<'f, $class>);

        #[allow(clippy::expl_impl_clone_on_copy, reason = "a derived implementation takes longer to compile")]
        impl $crate::__private::core::clone::Clone for $view<'_> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl $crate::__private::core::marker::Copy for $view<'_> {}

        // SAFETY: the struct above is transparent over `This` of the class.
        unsafe impl<'f> $crate::__private::ClassView<'f> for $view<'f> {
            type Class = $class;
        }

        impl $crate::__private::core::fmt::Debug for $view<'_> {
            fn fmt(
                &self,
                f: &mut $crate::__private::core::fmt::Formatter<'_>,
            ) -> $crate::__private::core::fmt::Result {
                $crate::__private::debug_view($crate::__private::core::stringify!($view), &self.0, f)
            }
        }

        impl<'f> $crate::__private::core::ops::Deref for $view<'f> {
            type Target = <<$class as $crate::__private::Class>::Base as $crate::__private::Class>::View<'f>;

            fn deref(&self) -> &Self::Target {
                $crate::__private::base_ref(&self.0)
            }
        }
    };
}

/// Defines the accessors of the properties of a class, or of the fields of a struct, in one `impl` block. `$read` and `$write` are the
/// functions that access a value. `$place` is the location of a value: a static with the offset of a property, a type that dereferences to
/// this static, or the constant of a field.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_properties {
    ($view:ident by $read:ident $write:ident) => {};
    ($view:ident by $read:ident $write:ident $({
        $(#[$attr:meta])* $get:ident $set:ident $try_set:ident: $ty:ty, $value:ident: $arg:ty = $argument:expr, ($($place:tt)*)
    })+) => {
        #[allow(deprecated, reason = "both setters of a deprecated value are deprecated")]
        impl<'f> $view<'f> {$(
            $(#[$attr])*
            #[must_use]
            #[inline]
            pub fn $get(&self) -> <$ty as $crate::__private::Value>::Seen<'f> {
                $crate::__private::$read(&self.0, &$($place)*)
            }

            /// Writes the value. If the host refuses the write, the running call ends with the error. For example, during a reload, a red
            /// constructor cannot write to other objects.
            $(#[$attr])*
            #[inline]
            pub fn $set(&self, $value: $arg) {
                $crate::__private::or_end(self.$try_set($value))
            }

            /// Writes the value, or returns an error if the host refuses the write.
            $(#[$attr])*
            #[inline]
            pub fn $try_set(
                &self,
                $value: $arg,
            ) -> $crate::__private::core::result::Result<(), $crate::__private::CallError> {
                $crate::__private::$write(&self.0, &$($place)*, $argument)
            }
        )+}
    };
}

/// Defines the methods of a view that call functions, in one `impl` block. If a call fails, a method listed in `calls` returns the failure,
/// and a method listed in `endings` ends the running call. `$cell` is a static with the handle of a function, or a type that dereferences
/// to this static.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_calls {
    (
        $view:ident
        endings: [$({
            $(#[$ending_attr:meta])*
            $ending:ident $tried:ident($($ending_arg:ident: $ending_ty:ty),*) -> $ending_result:ty
        })*],
        calls: [$({
            $(#[$attr:meta])*
            by $invoke:ident $name:ident $try_name:ident($($arg:ident: $ty:ty = $argument:expr),*) -> $result:ty, $errors:literal,
            ($($cell:tt)*), $what:expr
        })*]
    ) => {
        #[allow(deprecated, clippy::too_many_arguments, reason = "both variants of a function are declared as the function is")]
        impl $view<'_> {
            $(
                $(#[$ending_attr])*
                ///
                /// If the called function fails, the running call ends with this error.
                #[inline]
                pub fn $ending(&self, $($ending_arg: $ending_ty),*) -> $ending_result {
                    $crate::__private::or_end(self.$tried($($ending_arg),*))
                }
            )*
            $(
                $(#[$attr])*
                ///
                /// # Errors
                #[doc = $errors]
                #[inline]
                pub fn $try_name(
                    &self,
                    $($arg: $ty),*
                ) -> $crate::__private::core::result::Result<$result, $crate::__private::CallError> {
                    $crate::__private::$invoke(&self.0, &$($cell)*, $what, &($($argument,)*))
                }
            )*
        }
    };
}

/// Defines the method `$try_name`, which calls a function of a C library. The method converts the values of all out parameters before it
/// assigns the first one.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_c_call {
    (
        $(#[$attr:meta])*
        $view:ident $try_name:ident($($arg:ident: $ty:ty = $argument:expr),*) -> $result:ty,
        out_parameters: ($($out:ident $back:ident),*), $cell:ident, $what:expr
    ) => {
        impl $view<'_> {
            $(#[$attr])*
            pub fn $try_name(
                &self,
                $($arg: $ty),*
            ) -> $crate::__private::core::result::Result<$result, $crate::__private::CallError> {
                const ALCEDO_WHAT: &$crate::__private::core::primitive::str = $what;
                let (result, ($($back,)*)) =
                    $crate::__private::invoke_import(&self.0, &$cell, ALCEDO_WHAT, &($($argument,)*))?;
                $(let $back = $crate::__private::GiveBack::ready($out, $back)?;)*
                $(*$out = $back;)*
                $crate::__private::core::result::Result::Ok(result)
            }
        }
    };
}
