//! Lists of all functions at the ABI boundary. Each list is a macro that passes its lines to a callback macro. The callback macros generate
//! the tables ([`crate::host::HostTable`], [`crate::values::ValueTable`], [`crate::module::Module`]), the callee's trampolines, the
//! caller's methods, and the layout test.
//!
//! A line in a list of host functions has the following form. The example contains all optional parts:
//!
//! ```text
//! /// Documentation of the table entry and of the method.
//! rule("name of the action, for errors", unsafe)
//! fn name(host, module; parameter: Type; returns out: Type = before, more: Type = before; text sink; or failure) -> Status;
//! ```
//!
//! * The rule states the checks that the host performs before the body runs:
//!   * `game_thread`: checks the thread, catches panics, and passes the host's stores of objects and values to the body;
//!   * `acts`: like `game_thread`, but also refuses calls with `DURING_REBUILD` before the commit of a load or reload, because a
//!     rollback could not revert their effects;
//!   * `any_thread`: catches panics, and passes the host pointer to the body. The body may use only data of the host that any thread may
//!     use;
//!   * `bare`: performs no checks. The body must not panic, because it may run inside a panic hook or without a host.
//! * `unsafe`: the caller promises that the parameters fulfill the requirements in the docs. Without `unsafe`, the body accepts
//!   all values of the parameter types.
//! * `host, module;`: arguments that the caller's method adds: the host pointer, and the number of the module.
//! * `returns`: results, with their initial values; `text`: a sink that is called once; `or failure`: the failure. The parts
//!   appear in this order.
//!
//! A line in the list of module functions has no rule. `always` marks a function that every module has. `maybe` marks a function
//! that older modules lack; the line of this function also has the attribute `missing_field(option)`.
//!
//! The layout that the host compares when it loads a module includes the names of functions and parameters.
//!
//! To add a function, add a line at the end of its list. Add the body in `runtime/src/host_api`, or for a module function in
//! `plugin-api/src/__private/root.rs`. Functions may be added only at the end of a table. The mark `last_prefix_field` never moves. An
//! older host may lack functions after the mark, and a call of a missing function panics. Each added function therefore increments the host
//! API of new modules ([`crate::API_CURRENT`]). An older host refuses modules with a newer host API.

mod module;
mod objects;
mod values;

/// All types that the lists use. A callback macro needs these types in scope.
pub mod prelude {
    pub use abi_stable::std_types::{RSlice, RStr};

    pub use crate::call::{Failure, Status};
    pub use crate::describe::{
        ClassDesc, DelegateDesc, EntryTables, EnumDesc, ExportDesc, ImportDesc, InterfaceDesc, MetaDesc, StructDesc,
    };
    pub use crate::handles::{
        BlackHandle, ClassId, ConjugateHandle, Name, ObjectHandle, PartPtr, TypeNumber, ZCallHandle,
    };
    pub use crate::host::{HostRef, ModuleContext};
    pub use crate::host_direct::{DirectCallee, EachCall};
    pub use crate::kinds::PropertyKind;
    pub use crate::log::{LogRecord, SpanStep};
    pub use crate::protocols::{ProtocolDesc, ResolverDesc};
    pub use crate::task::{Job, JobId};
    pub use crate::value::{TextRaw, TextSink, TextView};
    pub use crate::values::{ConjugateState, RawLocation, Site};
    pub use crate::zcall::{ZCallBuffer, ZCallStatus};
}

/// Generates a table of host functions from its list.
macro_rules! table {
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
        $(#[doc = $docs])*
        #[repr(C)]
        #[derive(StableAbi)]
        #[sabi(kind(Prefix(prefix_ref = $reference)))]
        #[sabi(missing_field(panic))]
        pub struct $table {
            $(
                $(#[doc = $doc])*
                $(#[sabi($mark)])?
                pub $name: unsafe extern "C" fn(
                    $($host: HostRef, $($module: u64,)?)? $($param: $ty,)*
                    $($($out: &mut $out_ty,)+)? $($sink: &TextSink,)? $($failure: &mut Failure)?
                ) $(-> $result)?,
            )*
        }

        impl $table {
            /// Names of the functions, in the order of the table.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Offset and signature of each function, compared between two builds.
            #[cfg(test)]
            pub(crate) const FORMS: &'static [(usize, &'static str)] = &[$((
                core::mem::offset_of!(Self, $name),
                stringify!($name($($host $($module)?)? $($param: $ty)* $(returns $($out: $out_ty)+)? $($sink)? $($failure)?)
                    $(-> $result)?),
            )),*];
        }
    };
}

pub(crate) use table;

/// Generates the root module from its list.
macro_rules! root {
    (
        $(#[doc = $docs:tt])*
        $table:ident, $reference:ident;
        $(
            $(#[doc = $doc:tt])*
            $(#[sabi($($mark:tt)+)])?
            $since:ident($($safety:tt)?)
            fn $name:ident($($param:ident: $ty:ty),* $(; or $failure:ident)?) $(-> $result:ty)?;
        )*
    ) => {
        $(#[doc = $docs])*
        #[repr(C)]
        #[derive(StableAbi)]
        #[sabi(kind(Prefix(prefix_ref = $reference)))]
        #[sabi(missing_field(panic))]
        pub struct $table {
            $(
                $(#[doc = $doc])*
                $(#[sabi($($mark)+)])?
                pub $name: $($safety)? extern "C" fn($($param: $ty,)* $($failure: &mut Failure)?) $(-> $result)?,
            )*
        }

        impl $table {
            /// Names of the functions, in the order of the table.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Offset and signature of each function, compared between two builds.
            #[cfg(test)]
            pub(crate) const FORMS: &'static [(usize, &'static str)] = &[$((
                core::mem::offset_of!(Self, $name),
                stringify!($since $name($($param: $ty)* $($failure)?) $(-> $result)?),
            )),*];
        }
    };
}

pub(crate) use root;

#[cfg(test)]
mod tests;
