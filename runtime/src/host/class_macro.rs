//! Macro for host glue. Declares a class of a module as a Rust type. The members of the class become methods of object references.

/// Declares a class of a module for a host. Expands to an empty enum and a trait. The enum serves as the type parameter of `Obj`. The trait
/// contains the members of the class. `Obj` of this class and of derived classes implements the trait. `alcedo glue --for-host` generates
/// the invocation; see the module [`host`](crate::host).
#[macro_export]
macro_rules! host_class {
    (
        $(#[$attr:meta])*
        pub $class:ident: $base:ty = $path:literal, members $members:ident, extends [$($extends:ty),* $(,)?];
        properties {$(
            $(#[$property_attr:meta])*
            $get:ident / $set:ident $property:literal: $property_ty:ty;
        )*}
        values {$(
            $(#[$value_attr:meta])*
            $read:ident / $write:ident $value:literal;
        )*}
        delegates {$(
            $(#[$delegate_attr:meta])*
            $delegate:ident $delegate_name:literal($($delegate_param:ty),*) -> $delegate_result:ty;
        )*}
        functions {$(
            $(#[$function_attr:meta])*
            $function:ident $function_name:literal($($arg:ident $($out:ident)?: $arg_ty:ty),*) -> $result:ty;
        )*}
        dynamic {$(
            $(#[$dynamic_attr:meta])*
            $dynamic:ident $dynamic_name:literal;
        )*}
    ) => {
        $(#[$attr])*
        #[derive(Debug)]
        pub enum $class {}

        impl $crate::host::Class for $class {
            type Base = $base;
            type View<'f> = <$base as $crate::host::Class>::View<'f>;
            const PATH: &'static str = $path;
        }

        $(impl $crate::host::Extends<$extends> for $class {})*

        impl $class {
            /// Creates an object of the class. The object is in the root set, so no collection destroys the object.
            ///
            /// # Errors
            /// Fails if no module currently declares the class, or if the construction fails.
            #[allow(dead_code, reason = "glue has more than a host uses")]
            pub fn create(
                runtime: &$crate::Runtime,
            ) -> ::core::result::Result<$crate::host::Obj<Self>, $crate::Error> {
                runtime.objects().spawn_as::<Self>()
            }
        }

        #[doc = ::core::concat!("Members of a [`", stringify!($class), "`] for the host.")]
        ///
        /// # Errors
        /// Each member fails if the object is destroyed or dormant, or is not of this class. Each member also fails if the loaded class has
        /// no member with this name and type.
        #[allow(dead_code, clippy::missing_errors_doc, clippy::too_many_arguments, reason = "as the module declares it")]
        pub trait $members: $crate::host::Reference {
            $(
                $(#[$property_attr])*
                fn $get(
                    self,
                    runtime: &$crate::Runtime,
                ) -> ::core::result::Result<$property_ty, $crate::Error> {
                    $crate::host_class!(@member (PropertyOf) $path, $property, |member| {
                        member.get(runtime, self.to_handle())
                    })
                }

                $(#[$property_attr])*
                fn $set(
                    self,
                    runtime: &$crate::Runtime,
                    value: $property_ty,
                ) -> ::core::result::Result<(), $crate::Error> {
                    $crate::host_class!(@member (PropertyOf) $path, $property, |member| {
                        member.set(runtime, self.to_handle(), value)
                    })
                }
            )*
            $(
                $(#[$value_attr])*
                fn $read(
                    self,
                    runtime: &$crate::Runtime,
                ) -> ::core::result::Result<$crate::Value, $crate::Error> {
                    $crate::host_class!(@member (PropertyOf) $path, $value, |member| {
                        member.read(runtime, self.to_handle())
                    })
                }

                $(#[$value_attr])*
                fn $write(
                    self,
                    runtime: &$crate::Runtime,
                    value: &$crate::Value,
                ) -> ::core::result::Result<(), $crate::Error> {
                    $crate::host_class!(@member (PropertyOf) $path, $value, |member| {
                        member.write(runtime, self.to_handle(), value)
                    })
                }
            )*
            $(
                $(#[$delegate_attr])*
                #[must_use]
                fn $delegate(self) -> $crate::host::DelegateOf<($($delegate_param,)*), $delegate_result> {
                    $crate::host::DelegateOf::new($path, $delegate_name, self.to_handle())
                }
            )*
            $(
                $(#[$function_attr])*
                fn $function(
                    self,
                    runtime: &$crate::Runtime,
                    $($arg: $crate::host_class!(@type $($out)? $arg_ty)),*
                ) -> ::core::result::Result<$result, $crate::Error> {
                    $crate::host_class!(@member (FunctionOf<($($arg_ty,)*), $result>) $path, $function_name, |member| {
                        $crate::host_class!(@call [$($($out)?)*] member)(
                            runtime,
                            self.to_handle(),
                            ($($crate::host_class!(@give $($out)? $arg),)*),
                        )
                    })
                }
            )*
            $(
                $(#[$dynamic_attr])*
                fn $dynamic(
                    self,
                    runtime: &$crate::Runtime,
                    arguments: &[$crate::Value],
                ) -> ::core::result::Result<::core::option::Option<$crate::Value>, $crate::Error> {
                    $crate::host_class!(@member (DynamicFunctionOf) $path, $dynamic_name, |member| {
                        member.call(runtime, self.to_handle(), arguments)
                    })
                }
            )*
        }

        impl<AlcedoClass: $crate::host::Extends<$class>> $members for $crate::host::Obj<AlcedoClass> {}
    };
    // Passes parameters marked `out` by reference.
    (@type out $ty:ty) => { &mut $ty };
    (@type $ty:ty) => { $ty };
    (@give out $arg:ident) => { $crate::host::Out::to($arg) };
    (@give $arg:ident) => { $arg };
    // Functions with `out` parameters are called through a separate method.
    (@call [] $member:ident) => { |runtime, object, arguments| $member.call(runtime, object, arguments) };
    (@call [$($out:ident)+] $member:ident) => {
        |runtime, object, arguments| $member.call_with_out_parameters(runtime, object, arguments)
    };
    (@member ($($sort:tt)+) $path:literal, $name:literal, |$member:ident| $body:expr) => {{
        ::std::thread_local! {
            static MEMBER: $crate::host::$($sort)+ = <$crate::host::$($sort)+>::new($path, $name);
        }
        MEMBER.with(|$member| $body)
    }};
}
