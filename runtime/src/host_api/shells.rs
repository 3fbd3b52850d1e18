//! The shells: what a module calls. One is made of each line of the lists. It does what the rule of its line says, converts, calls
//! the body of the same name, and tells the module how it went. Nothing is decided here.
#![expect(
    unsafe_code,
    reason = "the shells turn raw words of the border into references, and call what the lists name unsafe"
)]

use alcedo_abi::abi_stable::prefix_type::WithMetadata;
use alcedo_abi::host::{HostTable, HostTableRef};
use alcedo_abi::list::prelude::*;
use alcedo_abi::values::{ValueTable, ValueTableRef};

use super::given::{Answer, Fill, Given};
use super::host_context::host_context;
use crate::border::trap_as;
use crate::handles::ModuleId;

/// Where the bodies are: a new one in one of these files is found by its name.
mod bodies {
    pub(super) use super::super::{
        blacks::*, calls::*, conjugates::*, containers::*, delegates::*, jobs::*, links::*, logging::*, objects::*,
        plain::*, texts::*,
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
    (bare $action:literal $body:ident($($host:ident $($module:ident)?)?; $($param:ident: $ty:ty),*) $results:tt) => {{
        $(let _not_followed = $host;)?
        // SAFETY: the list says what the caller has promised of the parameters, and the body asks for no more.
        unsafe { bodies::$body($(<$ty as Given>::given($param)),*) }
    }};
    (any_thread $action:literal $body:ident($host:ident $($module:ident)?; $($param:ident: $ty:ty),*) $results:tt) => {{
        let done = trap_as(|| {
            // SAFETY: the module hands back its own host context. The list says what the caller has promised of the
            // parameters, and the body takes no more.
            unsafe {
                bodies::$body(host_context($host, $action), $(ModuleId($module),)? $(<$ty as Given>::given($param)),*)
            }
        });
        by_rule!(@answer done $results)
    }};
    (game_thread $($rest:tt)*) => { by_rule!(@entered [] $($rest)*) };
    (acts $action:literal $($rest:tt)*) => { by_rule!(@entered [$action] $action $($rest)*) };
    (@entered [$($acts:literal)?] $action:literal $body:ident($host:ident $($module:ident)?; $($param:ident: $ty:ty),*) $results:tt) => {{
        // SAFETY: the module hands back its own host context. The list says what the caller has promised of the parameters, and
        // the body takes no more.
        let done = trap_as(|| unsafe {
            host_context($host, $action).enter(|core| {
                $(core.world.mode.may_act($acts)?;)?
                bodies::$body(core, $(ModuleId($module),)? $(<$ty as Given>::given($param)),*)
            })
        });
        by_rule!(@answer done $results)
    }};
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
                    by_rule!(
                        $rule $action $name($($host $($module)?)?; $($param: $ty),*)
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
