//! Generates the function tables of the fake host from the lists of the ABI. A function that the fake host does not implement returns an
//! error with the function's name, so a new function in a list needs no change in this file.

use alcedo_abi::abi_stable::prefix_type::PrefixTypeTrait;
use alcedo_abi::call::FailureKind;
use alcedo_abi::host::{HostTable, HostTableRef};
use alcedo_abi::list::prelude::*;
use alcedo_abi::values::{ValueTable, ValueTableRef};

/// Result type of a function that the fake host does not implement.
trait Refused {
    fn refused(name: &str, failure: Option<&mut Failure>) -> Self;
}

fn set_not_found(name: &str, failure: Option<&mut Failure>) {
    if let Some(failure) = failure {
        *failure = Failure::new(FailureKind::NOT_FOUND, format!("the fake host has no {name}"));
    }
}

impl Refused for Status {
    fn refused(name: &str, failure: Option<&mut Failure>) -> Self {
        set_not_found(name, failure);
        Self::FAILED
    }
}

impl Refused for ZCallStatus {
    fn refused(name: &str, failure: Option<&mut Failure>) -> Self {
        set_not_found(name, failure);
        Self::DISPATCHER_ERROR
    }
}

impl Refused for () {
    fn refused(_name: &str, _failure: Option<&mut Failure>) {}
}

impl Refused for u8 {
    fn refused(_name: &str, _failure: Option<&mut Failure>) -> Self {
        0
    }
}

impl Refused for u64 {
    fn refused(_name: &str, _failure: Option<&mut Failure>) -> Self {
        0
    }
}

impl Refused for *const () {
    fn refused(_name: &str, _failure: Option<&mut Failure>) -> Self {
        std::ptr::null()
    }
}

macro_rules! or_none {
    () => {
        None
    };
    ($failure:ident) => {
        Some($failure)
    };
}

macro_rules! fake {
    (
        $(#[doc = $docs:tt])*
        $table:ident, $reference:ident, $field:ident;
        $(
            $(#[doc = $doc:tt])*
            $(#[sabi($mark:ident)])?
            $rule:ident($action:literal $(, $safety:tt)?)
            fn $name:ident(
                $($host:ident $(, $module:ident)?)?; $($param:ident: $ty:ty),*
                $(; returns $($out:ident: $out_ty:ty = $before:expr),+)? $(; text $sink:ident)? $(; or $failure:ident)?
            ) $(-> $result:ty)?;
        )*
    ) => {
        pub(super) mod $field {
            use super::*;

            /// Functions that the fake host implements.
            #[expect(unused_variables, reason = "refused functions ignore their arguments")]
            pub(in crate::fake_host) trait Functions {
                $(
                    unsafe fn $name(
                        $($($module: u64,)?)? $($param: $ty,)*
                        $($($out: &mut $out_ty,)+)? $($sink: &TextSink,)? $($failure: &mut Failure)?
                    ) $(-> $result)? {
                        Refused::refused(stringify!($name), or_none!($($failure)?))
                    }
                )*
            }

            struct Trampolines<A>(std::marker::PhantomData<A>);

            impl<A: Functions> Trampolines<A> {
                $(
                    unsafe extern "C" fn $name(
                        $($host: HostRef, $($module: u64,)?)? $($param: $ty,)*
                        $($($out: &mut $out_ty,)+)? $($sink: &TextSink,)? $($failure: &mut Failure)?
                    ) $(-> $result)? {
                        $(let _unused = $host;)?
                        // SAFETY: the module lends all arguments for the call, as the ABI specifies.
                        unsafe {
                            A::$name($($($module,)?)? $($param,)* $($($out,)+)? $($sink,)? $($failure)?)
                        }
                    }
                )*
            }

            /// Returns a table of these functions.
            pub(in crate::fake_host) fn of<A: Functions>() -> $reference {
                $table { $($name: Trampolines::<A>::$name),* }.leak_into_prefix()
            }
        }
    };
}

alcedo_abi::host_functions!(fake);
alcedo_abi::value_functions!(fake);
