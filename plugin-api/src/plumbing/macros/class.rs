//! Expansion of `#[uclass]`: a declared or imported class, its view, and the members of the view.

/// Defines a class: its view, the promises of `Class`, the accessors of its properties, and its registered description.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_class {
    (
        declared $vis:vis $class:ident $view:ident $view_doc:literal, base: $base:ty,
        package: $package:literal, name: $name:literal, flags: $flags:expr, $(library: $library:literal,)? doc: $doc:literal,
        properties: [$({
            $(#[$attr:meta])*
            $cell:ident $get:ident $set:ident $try_set:ident: $ty:ty, $how:ident $arg:ty,
            name: $property:literal, flags: $property_flags:expr, default: $default:literal, about: $about:expr
        })*],
        kept: [$(($kept:ident, $kept_name:literal, $kept_ty:ty))*],
        fields: [$(($field:ident, $field_ty:ty))*],
        implements: [$(($interface:ty, $bodies:ident))*],
        subobjects: [$(($part:literal, $part_class:ty))*],
        defaults: [$(($default_path:literal, $default_text:literal))*],
        checks: { $($checks:tt)* },
    ) => {
        $crate::plumbing::view! { $vis $class $view $view_doc }
        const _: () = {
            static ALCEDO_CLASS: $crate::plumbing::ClassCell<$class> = $crate::plumbing::ClassCell::new();

            // SAFETY: the view above is transparent over `This`; path, base and members are in the description below, which the
            // host emits before any code of the module runs.
            unsafe impl $crate::plumbing::Class for $class {
                type Base = $base;
                type View<'f> = $view<'f>;
                const PATH: &'static $crate::plumbing::core::primitive::str =
                    $crate::plumbing::core::concat!("/Script/", $package, ".", $name);
                const MEMBERS: $crate::plumbing::Members = $crate::plumbing::Members::of::<$base>(
                    &[$($property),*],
                    &[$($crate::plumbing::core::stringify!($field)),*],
                );
                const EVENTS: &'static [&'static $crate::plumbing::core::primitive::str] = {
                    #[allow(unused_imports, reason = "a class may have no events")]
                    use $crate::plumbing::NoEvents as _;
                    <$view<'static>>::ALCEDO_EVENTS
                };
                const IMPLEMENTS: &'static [&'static $crate::plumbing::core::primitive::str] =
                    &[$(<$interface as $crate::plumbing::Interface>::PATH),*];
                $(const LIBRARY: &'static $crate::plumbing::core::primitive::str = $library;)?

                fn cell() -> &'static $crate::plumbing::Cell {
                    ALCEDO_CLASS.cell()
                }
            }

            // SAFETY: the hooks in the description below are those of this implementation.
            unsafe impl $crate::plumbing::Part for $class {
                fn red_constructor(this: $crate::plumbing::This<'_, Self>) -> Self {
                    #[allow(unused_imports, reason = "the author's own red constructor goes first")]
                    use $crate::plumbing::WithoutARedConstructor as _;
                    $class::alcedo_red_constructor(this)
                }

                #[allow(unused_variables, reason = "a class may keep nothing")]
                fn save_kept(&self, keeper: &mut $crate::plumbing::Keeper<'_>) {
                    $(keeper.put::<$kept_ty>($kept_name, &self.$kept);)*
                }

                #[allow(unused_variables, reason = "a class may keep nothing")]
                fn load_kept(
                    &mut self,
                    name: &$crate::plumbing::core::primitive::str,
                    data: &[$crate::plumbing::core::primitive::u8],
                ) -> $crate::plumbing::core::result::Result<(), $crate::plumbing::CallError> {
                    match name {
                        $($kept_name => $crate::plumbing::restore::<$kept_ty>(&mut self.$kept, data),)*
                        _ => $crate::plumbing::core::result::Result::Err($crate::plumbing::unknown_field(
                            <Self as $crate::plumbing::Class>::PATH,
                            name,
                        )),
                    }
                }
            }

            impl<M> $crate::plumbing::DefaultPart<M> for $class
            where
                $($crate::plumbing::Probe<M, $field_ty>: $crate::plumbing::BuildDefault<Out = $field_ty>,)*
            {
                fn default_part() -> Self {
                    Self {
                        $($field: <$crate::plumbing::Probe<M, $field_ty> as $crate::plumbing::BuildDefault>::build(),)*
                    }
                }
            }

            $(
                static $cell: $crate::plumbing::PropertyCell<$class, $ty> = {
                    // SAFETY: the cell is part of the description below.
                    unsafe { $crate::plumbing::PropertyCell::new() }
                };
                $crate::plumbing::property! {
                    $(#[$attr])* $class $view $get $set $try_set: $ty, $how $arg, $cell
                }
            )*

            $(
                // Bodies written by the author take precedence.
                #[allow(non_camel_case_types, reason = "the trait has the name of the constant that it replaces")]
                trait $bodies {
                    const $bodies: $crate::plumbing::Bodies<$class, $interface> = $crate::plumbing::Bodies::NONE;
                }
                impl $bodies for $class {}
            )*
            $($checks)*

            $crate::plumbing::register! {
                CLASSES: $crate::plumbing::ClassDesc = {
                    #[allow(unused_imports, reason = "an `impl` block of the author's goes first")]
                    use $crate::plumbing::NoBody as _;
                    const ALCEDO_BODY: $crate::plumbing::Body<$class> = $class::ONE_UCLASS_IMPL_BLOCK_PER_CLASS;
                    const ALCEDO_LISTS: &[&[$crate::plumbing::Function<$class>]] =
                        &[ALCEDO_BODY.functions(), $($class::$bodies.functions()),*];
                    const ALCEDO_COUNT: $crate::plumbing::core::primitive::usize =
                        $crate::plumbing::count_functions(ALCEDO_LISTS);
                    const ALCEDO_FUNCTIONS: &[$crate::plumbing::Function<$class>; ALCEDO_COUNT] =
                        &$crate::plumbing::all_functions(ALCEDO_LISTS);
                    $crate::plumbing::class_description(
                        ($package, $name),
                        $flags,
                        $doc,
                        &[$($crate::plumbing::property_description(
                            $property, $property_flags, $default, $about, &$cell,
                        )),*],
                        ALCEDO_BODY.with_functions(ALCEDO_FUNCTIONS),
                        &ALCEDO_CLASS,
                        (
                            &[$($crate::plumbing::interface_path::<$interface>()),*],
                            &[$($crate::plumbing::meta($part, <$part_class as $crate::plumbing::Class>::PATH)),*],
                            &[$($crate::plumbing::meta($default_path, $default_text)),*],
                        ),
                    )
                }
            }
            $crate::plumbing::type_record!(CLASS $package, $name);
        };
    };
    (
        imported $vis:vis $class:ident $view:ident $view_doc:literal, base: $base:ty,
        package: $package:literal, name: $name:literal,
        properties: [$({
            $(#[$attr:meta])*
            $cell:ident $get:ident $set:ident $try_set:ident: $ty:ty, $how:ident $arg:ty, name: $property:literal
        })*],
    ) => {
        $crate::plumbing::view! { $vis $class $view $view_doc }
        #[allow(non_snake_case, reason = "its members have the names that their module gave them")]
        const _: () = {
            static ALCEDO_CLASS: $crate::plumbing::ClassCell<$class> = $crate::plumbing::ClassCell::new();

            // SAFETY: the view above is transparent over `This`; path, base and members are in the imports below, which the
            // host compares before any code of the module runs.
            unsafe impl $crate::plumbing::Class for $class {
                type Base = $base;
                type View<'f> = $view<'f>;
                const PATH: &'static $crate::plumbing::core::primitive::str =
                    $crate::plumbing::core::concat!("/Script/", $package, ".", $name);
                const MEMBERS: $crate::plumbing::Members = $crate::plumbing::Members::of::<$base>(&[$($property),*], &[]);
                const EVENTS: &'static [&'static $crate::plumbing::core::primitive::str] = {
                    #[allow(unused_imports, reason = "a class may have no events")]
                    use $crate::plumbing::NoEvents as _;
                    <$view<'static>>::ALCEDO_EVENTS
                };

                fn cell() -> &'static $crate::plumbing::Cell {
                    ALCEDO_CLASS.cell()
                }
            }
            $crate::plumbing::register! {
                IMPORTS: $crate::plumbing::ImportDesc =
                    $crate::plumbing::import_class(&[$($crate::plumbing::member_name($property)),*], &ALCEDO_CLASS)
            }

            $(
                $crate::plumbing::import! {
                    $cell: $crate::plumbing::PropertyCell<$class, $ty> = {
                        // SAFETY: the import has the cell, and is listed if code uses the cell.
                        unsafe { $crate::plumbing::PropertyCell::new() }
                    },
                    import_property($crate::plumbing::core::concat!("/Script/", $package, ".", $name, ":", $property))
                }
                $crate::plumbing::property! {
                    $(#[$attr])* $class $view $get $set $try_set: $ty, $how $arg, $cell
                }
            )*
        };
    };
}

/// Defines the view of a class.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_view {
    ($vis:vis $class:ident $view:ident $doc:literal) => {
        #[doc = $doc]
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug)]
        $vis struct $view<'f>($crate::plumbing::This<'f, $class>);

        impl<'f> $crate::plumbing::core::ops::Deref for $view<'f> {
            type Target = <<$class as $crate::plumbing::Class>::Base as $crate::plumbing::Class>::View<'f>;

            fn deref(&self) -> &Self::Target {
                $crate::plumbing::base_ref(&self.0)
            }
        }
    };
}

/// Defines the accessors of a property. `$cell` holds its offset: a static, or a type that derefs to one.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_property {
    (
        $(#[$attr:meta])* $class:ident $view:ident $get:ident $set:ident $try_set:ident: $ty:ty, $how:ident $arg:ty, $cell:ident
    ) => {
        impl<'f> $view<'f> {
            $(#[$attr])*
            #[must_use]
            #[inline]
            pub fn $get(&self) -> <$ty as $crate::plumbing::Value>::Seen<'f> {
                $crate::plumbing::read_member(&self.0, &$cell)
            }

            /// Writes the property. If the host refuses the write, as in a red constructor during a reload for any object
            /// except its own, the running call ends with that error.
            $(#[$attr])*
            #[inline]
            pub fn $set(&self, value: $arg) {
                self.$try_set(value).unwrap_or_else(|error| $crate::plumbing::fail(error));
            }

            /// Writes the property, or returns the error if the host refuses.
            $(#[$attr])*
            #[inline]
            pub fn $try_set(
                &self,
                value: $arg,
            ) -> $crate::plumbing::core::result::Result<(), $crate::plumbing::CallError> {
                let value = $crate::plumbing::property!(@$how value, $ty);
                $crate::plumbing::write_member(&self.0, &$cell, value)
            }
        }
    };
    (@into $value:ident, $ty:ty) => {
        $crate::plumbing::core::convert::Into::<$ty>::into($value)
    };
    (@give $value:ident, $ty:ty) => {
        $value
    };
}

/// Defines the calls of a function. `$cell` holds its handle: a static, or a type that derefs to one.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_call {
    (
        plain by $invoke:ident $(#[$attr:meta])*
        $view:ident $name:ident $try_name:ident($($arg:ident: $ty:ty = $given:expr),*) -> $result:ty, $cell:ident, $what:expr
    ) => {
        impl $view<'_> {
            $(#[$attr])*
            ///
            /// If the call fails, the running call ends with the same error.
            #[inline]
            pub fn $name(&self, $($arg: $ty),*) -> $result {
                self.$try_name($($arg),*).unwrap_or_else(|error| $crate::plumbing::fail(error))
            }

            $(#[$attr])*
            ///
            /// # Errors
            /// Failures of the callee.
            #[inline]
            pub fn $try_name(
                &self,
                $($arg: $ty),*
            ) -> $crate::plumbing::core::result::Result<$result, $crate::plumbing::CallError> {
                const ALCEDO_WHAT: &$crate::plumbing::core::primitive::str = $what;
                $crate::plumbing::$invoke(&self.0, &$cell, ALCEDO_WHAT, &($($given,)*))
            }
        }
    };
    (
        fallible by $invoke:ident $(#[$attr:meta])*
        $view:ident $name:ident($($arg:ident: $ty:ty = $given:expr),*) -> $result:ty, $cell:ident, $what:expr
    ) => {
        impl $view<'_> {
            $(#[$attr])*
            ///
            /// # Errors
            /// The error returned by the function, for which `is_returned` is true, and other failures of the call.
            #[inline]
            pub fn $name(
                &self,
                $($arg: $ty),*
            ) -> $crate::plumbing::core::result::Result<$result, $crate::plumbing::CallError> {
                const ALCEDO_WHAT: &$crate::plumbing::core::primitive::str = $what;
                $crate::plumbing::$invoke(&self.0, &$cell, ALCEDO_WHAT, &($($given,)*))
            }
        }
    };
}

/// Defines the calls of a function of a C library. Out parameters are assigned only after all of them were returned.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_c_call {
    (
        $(#[$attr:meta])*
        $view:ident $name:ident $try_name:ident($($arg:ident: $ty:ty = $given:expr),*) -> $result:ty,
        outs: ($($out:ident $back:ident),*), $cell:ident, $what:expr
    ) => {
        impl $view<'_> {
            $(#[$attr])*
            ///
            /// If the call fails, the running call ends with the same error.
            pub fn $name(&self, $($arg: $ty),*) -> $result {
                self.$try_name($($arg),*).unwrap_or_else(|error| $crate::plumbing::fail(error))
            }

            $(#[$attr])*
            ///
            /// # Errors
            /// The buffer error of the function; the buffers are then unchanged.
            pub fn $try_name(
                &self,
                $($arg: $ty),*
            ) -> $crate::plumbing::core::result::Result<$result, $crate::plumbing::CallError> {
                const ALCEDO_WHAT: &$crate::plumbing::core::primitive::str = $what;
                let (result, ($($back,)*)) =
                    $crate::plumbing::invoke_import(&self.0, &$cell, ALCEDO_WHAT, &($($given,)*))?;
                $(let $back = $crate::plumbing::GiveBack::ready($out, $back)?;)*
                $(*$out = $back;)*
                $crate::plumbing::core::result::Result::Ok(result)
            }
        }
    };
}
