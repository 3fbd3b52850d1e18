//! Expansion of `#[uclass]` in a host: the class type, its view, and its declaration.

/// Declares a class: the view, the Rust fields, the property accessors and the description.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_native_class {
    (
        declared $vis:vis $class:ident $view:ident $view_doc:literal, base: $base:ty,
        package: $package:literal, name: $name:literal, flags: $flags:expr, $(library: $library:literal,)? doc: $doc:literal,
        properties: [$({
            $(#[$attr:meta])* $get:ident: $ty:ty, $arg:ty = $argument:expr, {
                $cell:ident $at:tt $set:ident $try_set:ident $value:ident,
                name: $property:literal, flags: $property_flags:expr, default: $default:literal, metadata: $metadata:expr
            }
        })*],
        kept: [],
        fields: [$(($field:ident, $field_name:literal, $field_ty:ty))*],
        implements: [$(($interface:ty, $bodies:ident))*],
        subobjects: [$(($part:literal, $part_class:ty))*],
        defaults: [$(($default_path:literal, $default_text:literal))*],
        checks: { $($checks:tt)* },
    ) => {
        $crate::native::__private::view! { $vis $view $view_doc: $base }

        const _: () = {
            impl $crate::native::__private::Class for $class {
                type Base = $base;
                type View<'f> = $view<'f>;
                const PATH: &'static str = $crate::native::__private::core::concat!("/Script/", $package, ".", $name);
                $(const LIBRARY: &'static str = $library;)?
                const PROPERTIES: &'static [&'static str] = &[$($property),*];
                const IMPLEMENTS: &'static [&'static str] =
                    &[$(<$interface as $crate::native::__private::Interface>::PATH),*];
                const EVENTS: &'static [&'static str] = {
                    #[allow(unused_imports, reason = "a class may have no events")]
                    use $crate::native::__private::NoEvents as _;
                    <$view<'static>>::ALCEDO_EVENTS
                };
            }

            impl $crate::native::__private::Part for $class {
                fn red_constructor(this: $crate::native::__private::This<'_, Self>) -> Self {
                    #[allow(unused_imports, reason = "the author's own red constructor takes precedence")]
                    use $crate::native::__private::WithoutARedConstructor as _;
                    $class::alcedo_red_constructor(this)
                }
            }

            impl $crate::native::__private::Declared for $class {
                fn add_to(natives: $crate::native::__private::Natives) -> $crate::native::__private::Natives {
                    $crate::native::__private::add_class::<$class>(natives)
                }
            }

            $(
                // Inherent functions that the author of the class has written take precedence over the methods of this trait.
                #[allow(non_camel_case_types, reason = "named after the constant that it replaces")]
                trait $bodies {
                    const $bodies: $crate::native::__private::Bodies<$class, $interface> =
                        $crate::native::__private::Bodies::NONE;
                }
                impl $bodies for $class {}
            )*

            impl $crate::native::__private::DeclaredClass for $class {
                const PACKAGE: &'static str = $package;

                fn description() -> $crate::native::__private::Description<Self> {
                    #[allow(unused_imports, reason = "an `impl` block of the author takes precedence")]
                    use $crate::native::__private::NoBody as _;
                    $crate::native::__private::Description {
                        name: $name,
                        flags: $flags,
                        doc: $doc,
                        properties: ::std::vec![$({
                            const ALCEDO_METADATA: $crate::native::__private::Metadata = $metadata;
                            $crate::native::__private::class_property::<$ty>(
                                $property, $property_flags, $default, ALCEDO_METADATA,
                            )
                        }),*],
                        subobjects: &[$(($part, <$part_class as $crate::native::__private::Class>::PATH)),*],
                        defaults: &[$(($default_path, $default_text)),*],
                        body: $class::ONE_UCLASS_IMPL_BLOCK_PER_CLASS,
                        bodies: {
                            const ALCEDO_BODIES: &[&[$crate::native::__private::Function<$class>]] =
                                &[$($class::$bodies.functions()),*];
                            ALCEDO_BODIES
                        },
                        has_fields: {
                            const ALCEDO_FIELDS: &[&str] = &[$($field_name),*];
                            !ALCEDO_FIELDS.is_empty()
                        },
                    }
                }
            }

            impl<AlcedoMark> $crate::native::__private::DefaultPart<AlcedoMark> for $class
            where
                $($crate::native::__private::Probe<AlcedoMark, $field_ty>:
                    $crate::native::__private::BuildDefault<Out = $field_ty>,)*
            {
                fn default_part() -> Self {
                    Self {
                        $($field: <
                            $crate::native::__private::Probe<AlcedoMark, $field_ty> as $crate::native::__private::BuildDefault
                        >::build(),)*
                    }
                }
            }

            $($crate::native::__private::property! {
                $(#[$attr])* $class $view $get $set $try_set: $ty, $value: $arg = $argument, $cell $property
            })*
            $($checks)*
        };
    };
    (declared $vis:vis $class:ident $($rest:tt)*) => {
        $crate::native::__private::core::compile_error!(
            "a native class keeps its Rust fields over reloads: remove `#[keep]`"
        );
    };
}

/// Declares a view of objects that extends the view of the class `$base`.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_native_view {
    ($vis:vis $view:ident $view_doc:literal: $base:ty) => {
        #[doc = $view_doc]
        #[derive(Clone, Copy)]
        $vis struct $view<'f>(<$base as $crate::native::__private::Class>::View<'f>);

        impl<'f> $crate::native::__private::View<'f> for $view<'f> {
            #[inline]
            fn new(at: $crate::native::__private::At<'f>) -> Self {
                Self($crate::native::__private::View::new(at))
            }

            #[inline]
            fn at(&self) -> $crate::native::__private::At<'f> {
                $crate::native::__private::View::at(&self.0)
            }
        }

        impl<'f> $crate::native::__private::core::ops::Deref for $view<'f> {
            type Target = <$base as $crate::native::__private::Class>::View<'f>;

            #[inline]
            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }
    };
}

/// Declares the accessors of one property.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_native_property {
    (
        $(#[$attr:meta])* $class:ident $view:ident $get:ident $set:ident $try_set:ident: $ty:ty,
        $value:ident: $arg:ty = $argument:expr, $cell:ident $property:literal
    ) => {
        ::std::thread_local! {
            static $cell: $crate::native::__private::PropertyRef = $crate::native::__private::PropertyRef::new($property);
        }

        #[allow(deprecated, reason = "both setters of a deprecated property are deprecated")]
        impl<'f> $view<'f> {
            $(#[$attr])*
            #[must_use]
            #[inline]
            pub fn $get(&self) -> <$ty as $crate::native::__private::NativeProperty>::Seen<'f> {
                const ALCEDO_MEMBER: (&str, &str) = (<$class as $crate::native::__private::Class>::PATH, $property);
                $cell.with(|property| {
                    <$ty as $crate::native::__private::NativeProperty>::see(self, property, ALCEDO_MEMBER)
                })
            }

            /// Writes the property. If the write is rejected, the running call fails with the error. For example, during a reload, a red
            /// constructor can write only to the object that it constructs.
            $(#[$attr])*
            #[inline]
            pub fn $set(&self, $value: $arg) {
                $crate::native::__private::or_end(self.$try_set($value))
            }

            /// Writes the property. Returns an error if the write is rejected.
            $(#[$attr])*
            #[inline]
            pub fn $try_set(
                &self,
                $value: $arg,
            ) -> $crate::native::__private::core::result::Result<(), $crate::native::__private::CallError> {
                let value = $argument;
                $cell.with(|property| $crate::native::__private::NativeProperty::put(value, self, property))
            }
        }
    };
}

/// Declares two methods of a view for each function. If the call fails, `$try_name` returns the error, and `$ending` makes the running call
/// fail with the error. `$what` is a path with the class and function name. If `$name` differs from the function name in `$what`, the
/// methods call the body of this class even if an override exists.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_native_calls {
    (
        $view:ident
        endings: [$({
            $(#[$ending_attr:meta])*
            $ending:ident $tried:ident($($ending_arg:ident: $ending_ty:ty),*) -> $ending_result:ty
        })*],
        calls: [$({
            $(#[$attr:meta])*
            by $invoke:ident $name:ident $try_name:ident($($arg:ident: $ty:ty = $argument:expr),*) -> $result:ty, $errors:literal,
            $cell:tt, $what:expr
        })*]
    ) => {
        #[allow(deprecated, reason = "both variants of a deprecated function are deprecated")]
        impl $view<'_> {
            $(
                $(#[$ending_attr])*
                ///
                /// If the call fails, the running call also fails with the error.
                #[inline]
                pub fn $ending(&self, $($ending_arg: $ending_ty),*) -> $ending_result {
                    $crate::native::__private::or_end(self.$tried($($ending_arg),*))
                }
            )*
            $(
                $(#[$attr])*
                ///
                /// # Errors
                #[doc = $errors]
                pub fn $try_name(
                    &self,
                    $($arg: $ty),*
                ) -> $crate::native::__private::core::result::Result<$result, $crate::native::__private::CallError> {
                    const ALCEDO_WHAT: (&str, &str) = $crate::native::__private::member($what);
                    ::std::thread_local! {
                        static ALCEDO_FUNCTION: $crate::native::__private::MemberFunction =
                            $crate::native::__private::MemberFunction::new(ALCEDO_WHAT.1);
                    }
                    let is_virtual =
                        $crate::native::__private::core::stringify!($name).trim_start_matches("r#") == ALCEDO_WHAT.1;
                    let of = (!is_virtual).then_some(ALCEDO_WHAT.0);
                    ALCEDO_FUNCTION
                        .with(|function| $crate::native::__private::$invoke(self, function, of, ($($argument,)*)))
                }
            )*
        }
    };
}

/// Declares the method `$try_name`, which calls a C function. The out parameters of the caller are updated only if the whole call succeeds.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_native_c_call {
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
            ) -> $crate::native::__private::core::result::Result<$result, $crate::native::__private::CallError> {
                const ALCEDO_WHAT: (&str, &str) = $crate::native::__private::member($what);
                ::std::thread_local! {
                    static ALCEDO_FUNCTION: $crate::native::__private::FunctionRef =
                        $crate::native::__private::FunctionRef::new(ALCEDO_WHAT.1);
                }
                let (result, ($($back,)*)) = ALCEDO_FUNCTION.with(|function| {
                    $crate::native::__private::invoke_import(self, function, &$cell, ($($argument,)*))
                })?;
                $(*$out = $back;)*
                $crate::native::__private::core::result::Result::Ok(result)
            }
        }
    };
}

/// Expands to nothing: native types need no registration of imports, because one batch declares all native types.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_native_register {
    ($($all:tt)*) => {};
}

/// Collects native types with their packages: `natives![Lamp, Glow, Shines]`. Each type is declared with
/// [`uclass`](crate::native::uclass), [`ustruct`](crate::native::ustruct), [`uenum`](crate::native::uenum),
/// [`udelegate`](crate::native::udelegate) or [`uinterface`](crate::native::uinterface).
///
/// # Examples
/// ```rust
/// use alcedo_runtime::native::{uclass, uenum};
/// use alcedo_runtime::{Runtime, natives};
///
/// #[uenum(package = "Game")]
/// #[repr(u8)]
/// #[derive(Default)]
/// pub enum Mood {
///     #[default]
///     Calm,
///     Angry,
/// }
///
/// #[uclass(package = "Game")]
/// pub struct Cat {
///     #[uproperty(default = "Angry")]
///     mood: Mood,
/// }
///
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = Runtime::builder().natives(natives![Mood, Cat]).build()?;
/// let cat = runtime.objects().spawn_as::<Cat>()?;
/// assert!(runtime.objects().with(cat, |cat| matches!(cat.mood(), Mood::Angry))?);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! natives {
    ($($native:ty),* $(,)?) => {
        $crate::native::Natives::default()$(.declare::<$native>())*
    };
}
