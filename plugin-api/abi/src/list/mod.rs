//! What crosses the border is listed here once. From these lists come the tables ([`crate::host::HostTable`],
//! [`crate::values::ValueTable`], [`crate::module::Module`]), the shells of the side that is called, the methods of the side
//! that calls, and the test of the layout. A list is a macro that hands its lines to another macro.
//!
//! A line of the two lists of host functions, with all that it can have:
//!
//! ```text
//! /// Words for the docs of the table and of the method.
//! rule("what is done, as errors say it", unsafe)
//! fn name(host, module; parameter: Type; gives out: Type = before, more: Type = before; text sink; or failure) -> Status;
//! ```
//!
//! * The rule says what is done before the body in the host runs:
//!   * `game_thread`: the thread is proved, a panic stopped, and the body gets the stores;
//!   * `acts`: the same, and refused with `DURING_REBUILD` before the commit of what comes up, since a rollback could not take
//!     it back;
//!   * `any_thread`: a panic is stopped, and the body gets the host's word, of which foreign threads may use a part;
//!   * `bare`: nothing. The body may not panic: it runs inside a panic hook, or has no host at all.
//! * `unsafe`: what the docs say of the parameters is the caller's promise. Without it any value of their types is answered.
//! * `host, module;` is what the caller's method adds by itself: the word of its host, and its own number.
//! * `gives`, where the results are written, with what stands there before; `text`, a text that is put once; `or failure`, why not.
//!   They come in this order.
//!
//! A line of the list of a module's functions has no rule. `always` says that every module has it, `maybe` that one which is
//! older than the line lacks it: then the line has the mark `missing_field(option)`.
//!
//! Names count, those of parameters too: they are a part of the layout that a host compares when it loads a module.
//!
//! A new function is a line at the end of its list and a body in `runtime/src/host_api`, or for a module in
//! `plugin-api/src/plumbing/shells.rs`. It never goes elsewhere: a table may
//! grow at its end only. The mark `last_prefix_field` stays where it is; what stands behind it a host may lack, and a module that
//! calls it then panics. So the host API of a module grows with the list ([`crate::API_CURRENT`]), and a host that is older
//! refuses the module.

mod module;
mod objects;
mod values;

/// Every type that the lists name: who has a callback for them needs these in scope.
pub mod prelude {
    pub use abi_stable::std_types::{RSlice, RStr};

    pub use crate::black_direct::{DirectCallee, EachCall};
    pub use crate::call::{Failure, Status};
    pub use crate::describe::{
        ClassDesc, DelegateDesc, EntryTables, EnumDesc, ExportDesc, ImportDesc, InterfaceDesc, StructDesc,
    };
    pub use crate::handles::{
        BlackHandle, ClassId, ConjugateHandle, Name, ObjectHandle, PartPtr, TypeNumber, ZCallHandle,
    };
    pub use crate::host::{HostRef, ModuleContext};
    pub use crate::kinds::PropertyKind;
    pub use crate::log::{LogRecord, SpanStep};
    pub use crate::protocols::{ProtocolDesc, ResolverDesc};
    pub use crate::task::{Job, JobId};
    pub use crate::value::{TextRaw, TextSink, TextView};
    pub use crate::values::{ConjugateState, Site, ValuePlace};
    pub use crate::zcall::{ZCallBuffer, ZCallStatus};
}

/// A table of host functions, from its list.
macro_rules! table {
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
        $(#[doc = $about])*
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
            /// The names of its functions, in the order in which they lie.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Where each lies, and its form in words: what two builds have to agree on.
            #[cfg(test)]
            pub(crate) const FORMS: &'static [(usize, &'static str)] = &[$((
                core::mem::offset_of!(Self, $name),
                stringify!($name($($host $($module)?)? $($param: $ty)* $(gives $($out: $out_ty)+)? $($sink)? $($failure)?)
                    $(-> $result)?),
            )),*];
        }
    };
}

pub(crate) use table;

/// The root module, from its list.
macro_rules! root {
    (
        $(#[doc = $about:tt])*
        $table:ident, $reference:ident;
        $(
            $(#[doc = $doc:tt])*
            $(#[sabi($($mark:tt)+)])?
            $since:ident($($safety:tt)?)
            fn $name:ident($($param:ident: $ty:ty),* $(; or $failure:ident)?) $(-> $result:ty)?;
        )*
    ) => {
        $(#[doc = $about])*
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
            /// The names of its functions, in the order in which they lie.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Where each lies, and its form in words: what two builds have to agree on.
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
