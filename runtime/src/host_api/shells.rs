//! The shells: what a module calls. One is made of each line of the lists. It does what the rule of its line says, converts, calls
//! the body of the same name, and tells the module how it went. Nothing is decided here.
#![expect(
    unsafe_code,
    reason = "the shells turn raw words of the border into references, and call what the lists name unsafe"
)]

use std::rc::Rc;

use alcedo_abi::abi_stable::prefix_type::WithMetadata;
use alcedo_abi::host::{HostTable, HostTableRef};
use alcedo_abi::list::prelude::*;
use alcedo_abi::values::{ValueTable, ValueTableRef};

use super::answer::{Answer, Fill};
use super::given::{Given, Sink};
use super::host_context::CallerContext;
use crate::border::trap_as;
use crate::bridge::core::Core;
use crate::handles::ModuleId;

/// Where the bodies are: a new one in one of these files is found by its name.
mod bodies {
    pub(super) use super::super::{
        blacks::*, calls::*, conjugates::*, containers::*, delegates::*, each::*, frames::*, jobs::*, links::*,
        logging::*, objects::*, plain::*, texts::*,
    };
}

/// The functions that stand in the tables, under the names of the lists.
struct Shells;

macro_rules! or_nothing {
    () => {
        ()
    };
    ($result:ty) => {
        $result
    };
}

macro_rules! or_none {
    () => {
        None
    };
    ($failure:ident) => {
        Some($failure)
    };
}

/// What is done before and after a body, by the rule.
macro_rules! by_rule {
    (bare $action:literal $body:ident($($host:ident $($module:ident)?)?; $($param:ident),*) $results:tt) => {{
        $(let _not_followed = $host;)?
        by_rule!(@body (), $body(; $($param),*))
    }};
    (any_thread $action:literal $body:ident($host:ident $($module:ident)?; $($param:ident),*) $results:tt) => {{
        let host_context: CallerContext<'_> = by_rule!(@given $host, $action);
        let done = trap_as(|| by_rule!(@body (), $body(host_context, $(ModuleId($module),)?; $($param),*)));
        by_rule!(@answer done $results)
    }};
    (game_thread $action:literal $body:ident($host:ident $($module:ident)?; $($param:ident),*) $results:tt) => {{
        let host_context: CallerContext<'_> = by_rule!(@given $host, $action);
        let done = trap_as(|| host_context.enter(|core: &Rc<Core>| {
            let core: &Core = core;
            by_rule!(@body core, $body(core, $(ModuleId($module),)?; $($param),*))
        }));
        by_rule!(@answer done $results)
    }};
    (acts $action:literal $body:ident($host:ident $($module:ident)?; $($param:ident),*) $results:tt) => {{
        let host_context: CallerContext<'_> = by_rule!(@given $host, $action);
        let done = trap_as(|| host_context.enter(|core: &Rc<Core>| {
            let core: &Core = core;
            core.world.mode.may_act($action)?;
            by_rule!(@body core, $body(core, $(ModuleId($module),)?; $($param),*))
        }));
        by_rule!(@answer done $results)
    }};
    (@body $of:expr, $body:ident($($before:expr,)*; $($param:ident),*)) => {
        bodies::$body($($before,)* $(by_rule!(@given $param, $of)),*)
    };
    (@given $param:expr, $of:expr) => {
        // SAFETY: the list says what the module has promised of this parameter, for this one call, and the type that it is taken as
        // says no more. A module hands back its own host context, and the core, where there is one, is that context's.
        unsafe { Given::given($param, $of) }
    };
    (@answer $done:ident [$($out:ident)* ; $($failure:ident)?]) => {
        Answer::answer($done.map(|value| Fill::fill(($($out),*), value)), or_none!($($failure)?))
    };
}

macro_rules! shells {
    (
        $(#[doc = $about:tt])*
        $table:ident, $reference:ident, $field:ident;
        $(
            $(#[doc = $doc:tt])*
            $(#[sabi($mark:ident)])?
            $rule:ident($action:literal $(, $safety:tt)?)
            fn $name:ident(
                $($host:ident $(, $module:ident)?)?; $($param:ident: $ty:ty),*
                $(; gives $($out:ident: $out_ty:ty = $before:expr),+)? $(; text $sink:ident)? $(; or $failure:ident)?
            ) $(-> $result:ty)?;
        )*
    ) => {
        #[allow(unused_unsafe, clippy::needless_pass_by_ref_mut, reason = "one form for the safe lines and the others")]
        #[allow(unused_parens, reason = "one form for one result and for several")]
        impl Shells {
            $(
                unsafe extern "C" fn $name(
                    $($host: HostRef, $($module: u64,)?)? $($param: $ty,)*
                    $($($out: &mut $out_ty,)+)? $($sink: &TextSink,)? $($failure: &mut Failure)?
                ) -> or_nothing!($($result)?) {
                    $(let $sink: Sink<'_> = by_rule!(@given $sink, ());)?
                    by_rule!(
                        $rule $action $name($($host $($module)?)?; $($param),*)
                        [$($($out)+)? $($sink)? ; $($failure)?]
                    )
                }
            )*
        }

        #[doc = concat!("The [`", stringify!($table), "`] that every module is attached with.")]
        pub(crate) fn $field() -> $reference {
            const TABLE: WithMetadata<$table> = WithMetadata::new($table { $($name: Shells::$name),* });
            static STATIC: &WithMetadata<$table> = &TABLE;
            $reference(STATIC.static_as_prefix())
        }
    };
}

alcedo_abi::host_functions!(shells);
alcedo_abi::value_functions!(shells);
