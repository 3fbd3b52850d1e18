//! Trampolines: the functions that a module calls, one per line of the lists in `alcedo_abi`. A trampoline performs the checks that its
//! line requires, converts the parameters, calls the body of the same name, and reports the outcome to the module. Trampolines contain no
//! other logic.
#![expect(
    unsafe_code,
    reason = "the trampolines convert raw ABI values into references, and call functions that the lists mark unsafe"
)]

use std::rc::Rc;

use alcedo_abi::abi_stable::prefix_type::WithMetadata;
use alcedo_abi::host::{HostTable, HostTableRef};
use alcedo_abi::list::prelude::*;
use alcedo_abi::values::{ValueTable, ValueTableRef};

use super::answer::{Answer, Fill};
use super::arguments::{IntoArgument, Sink};
use super::host_context::CallerContext;
use crate::boundary::catch_panics_as;
use crate::bridge::core::Core;
use crate::handles::ModuleId;

/// Imports the bodies of all files, so that trampolines can call bodies by name.
mod bodies {
    pub(super) use super::super::{
        calls::*, conjugates::*, containers::*, delegates::*, each::*, frames::*, jobs::*, links::*, logging::*,
        objects::*, owned_values::*, plain::*, strings::*,
    };
}

/// Namespace of the table functions, which have the names in the lists.
struct Trampolines;

macro_rules! or_none {
    () => {
        None
    };
    ($failure:ident) => {
        Some($failure)
    };
}

/// Expands to the call of a body, after the checks that the rule in the list line requires.
macro_rules! by_rule {
    (bare $action:literal $body:ident($($host:ident $($module:ident)?)?; $($param:ident),*) $results:tt) => {{
        $(let _not_followed = $host;)?
        by_rule!(@body (), $body(; $($param),*))
    }};
    (any_thread $action:literal $body:ident($host:ident $($module:ident)?; $($param:ident),*) $results:tt) => {{
        let host_context: CallerContext<'_> = by_rule!(@argument $host, $action);
        let done = catch_panics_as(|| by_rule!(@body (), $body(host_context, $(ModuleId($module),)?; $($param),*)));
        by_rule!(@answer done $results)
    }};
    (game_thread $action:literal $body:ident($host:ident $($module:ident)?; $($param:ident),*) $results:tt) => {{
        let host_context: CallerContext<'_> = by_rule!(@argument $host, $action);
        let done = catch_panics_as(|| host_context.enter(|core: &Rc<Core>| {
            let core: &Core = core;
            by_rule!(@body core, $body(core, $(ModuleId($module),)?; $($param),*))
        }));
        by_rule!(@answer done $results)
    }};
    (acts $action:literal $body:ident($host:ident $($module:ident)?; $($param:ident),*) $results:tt) => {{
        let host_context: CallerContext<'_> = by_rule!(@argument $host, $action);
        let done = catch_panics_as(|| host_context.enter(|core: &Rc<Core>| {
            let core: &Core = core;
            core.world.mode.may_act($action)?;
            by_rule!(@body core, $body(core, $(ModuleId($module),)?; $($param),*))
        }));
        by_rule!(@answer done $results)
    }};
    (@body $of:expr, $body:ident($($before:expr,)*; $($param:ident),*)) => {
        bodies::$body($($before,)* $(by_rule!(@argument $param, $of)),*)
    };
    (@argument $param:expr, $of:expr) => {
        // SAFETY: the list states the promises of the module for this parameter during this call, and the target type requires no further
        // promises. A module passes back its own host context, and the core, if present, belongs to this context.
        unsafe { IntoArgument::into_argument($param, $of) }
    };
    (@answer $done:ident [$($out:ident)* ; $($failure:ident)?]) => {
        Answer::answer($done.map(|value| Fill::fill(($($out),*), value)), or_none!($($failure)?))
    };
}

macro_rules! trampolines {
    (
        $(#[doc = $table_doc:tt])*
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
        #[allow(unused_unsafe, clippy::needless_pass_by_ref_mut, reason = "one form for the safe lines and the others")]
        #[allow(unused_parens, reason = "one form for one result and for several")]
        impl Trampolines {
            $(
                unsafe extern "C" fn $name(
                    $($host: HostRef, $($module: u64,)?)? $($param: $ty,)*
                    $($($out: &mut $out_ty,)+)? $($sink: &TextSink,)? $($failure: &mut Failure)?
                ) $(-> $result)? {
                    $(let $sink: Sink<'_> = by_rule!(@argument $sink, ());)?
                    by_rule!(
                        $rule $action $name($($host $($module)?)?; $($param),*)
                        [$($($out)+)? $($sink)? ; $($failure)?]
                    )
                }
            )*
        }

        #[doc = concat!("The [`", stringify!($table), "`] that every module is attached with.")]
        pub(crate) fn $field() -> $reference {
            const TABLE: WithMetadata<$table> = WithMetadata::new($table { $($name: Trampolines::$name),* });
            static STATIC: &WithMetadata<$table> = &TABLE;
            $reference(STATIC.static_as_prefix())
        }
    };
}

alcedo_abi::host_functions!(trampolines);
alcedo_abi::value_functions!(trampolines);
