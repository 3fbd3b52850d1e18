//! What stands in the declaration of a native function with a thunk of its own, where it takes any array, set or map. The type that
//! reflection has there is one of `i32`; the metadata say that a script may pass another.

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

        // No parameter of the kind is read or written as such a number: that is the error of a call by its Rust type.
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
