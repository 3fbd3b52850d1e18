//! Placeholder types for parameters of native functions with a custom thunk. These parameters accept any array, set or map. Reflection
//! reports such a parameter as a container of `i32`. The metadata of the parameter states that scripts can pass any element type.

use crate::kinds::PropertyKind;
use crate::object::host_value::HostValue;
use crate::object::native_value::NativeValue;

macro_rules! wildcards {
    ($($(#[$doc:meta])* $name:ident: $kind:ident, $of:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct $name;

        impl NativeValue for $name {
            type Literal = ();
            const KIND: PropertyKind = PropertyKind::$kind;
            const TYPE_PATH: &'static str = $of;
        }

        // Values of these placeholder types cannot be converted. A call with placeholder types therefore returns an error.
        impl HostValue for $name {
            type Raw = i32;

            fn from_raw(_raw: i32) -> Self {
                Self
            }

            fn into_raw(self) -> i32 {
                0
            }
        }
    )*};
}
wildcards! {
    /// Any array, for a parameter that `array_parm` or `array_type_dependent_params` lists.
    ArrayWildcard: ARRAY, "i32";
    /// Any set, for a parameter that `custom_struct_param` lists.
    SetWildcard: SET, "i32";
    /// Any map, for a parameter that `custom_struct_param` lists.
    MapWildcard: MAP, "i32, i32";
}
