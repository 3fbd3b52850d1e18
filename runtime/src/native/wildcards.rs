//! Placeholder types in declarations of native functions with a custom thunk that accept any array, set or map. Reflection sees a
//! container of `i32`; the metadata state that scripts may pass another type.

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

        // Values of these types cannot be converted: a call by Rust type is an error.
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
    /// Any array: a parameter that `array_parm` or `array_type_dependent_params` names.
    ArrayWildcard: ARRAY, "i32";
    /// Any set: a parameter that `custom_struct_param` names.
    SetWildcard: SET, "i32";
    /// Any map: a parameter that `custom_struct_param` names.
    MapWildcard: MAP, "i32, i32";
}
