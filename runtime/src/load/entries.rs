//! Provides the entry points of a module as methods. A macro generates the methods from the list in `alcedo_abi::list`.
#![expect(unsafe_code, reason = "calls the functions of modules")]

use alcedo_abi::list::prelude::*;
use alcedo_abi::module::ModuleRef;

use crate::boundary::{CallError, from_module};

/// Entry points of an attached module.
pub(crate) struct Entries(ModuleRef);

/// Result type of an entry point. Expands to `Option` for an optional entry point, and to the plain result for an entry point that cannot
/// fail.
macro_rules! call_result {
    (always) => { () };
    (always $result:ty) => { $result };
    (always $result:ty; $failure:ident) => { Result<(), CallError> };
    (maybe $result:ty) => { Option<$result> };
    (maybe $result:ty; $failure:ident) => { Result<(), CallError> };
}

macro_rules! called {
    (always $call:expr; $($arg:ident)*) => {
        $call($($arg),*)
    };
    (maybe $call:expr; $($arg:ident)*) => {
        $call.map(|call| call($($arg),*))
    };
    (always $call:expr; $($arg:ident)*; $failure:ident) => {
        called!(maybe Some($call); $($arg)*; $failure)
    };
    (maybe $call:expr; $($arg:ident)*; $failure:ident) => {
        match $call {
            // SAFETY: the caller of `Entries::of` promised that the module is mapped, and `attach` was the first call. The
            // arguments are borrowed for this call.
            Some(call) => from_module(|$failure| unsafe { call($($arg,)* $failure) }),
            None => Ok(()),
        }
    };
}

macro_rules! entries {
    (
        $(#[doc = $table_doc:tt])*
        $table:ident, $reference:ident;
        $(
            $(#[doc = $doc:tt])*
            $(#[sabi($($mark:tt)+)])?
            $since:ident($($safety:tt)?)
            fn $name:ident($($param:ident: $ty:ty),* $(; or $failure:ident)?) $(-> $result:ty)?;
        )*
    ) => {
        #[allow(dead_code, reason = "a pointer that outlives the module is taken from the table itself")]
        impl Entries {
            $(
                $(#[doc = $doc])*
                pub(crate) fn $name(&self, $($param: $ty),*) -> call_result!($since $($result)? $(; $failure)?) {
                    called!($since self.0.$name(); $($param)* $(; $failure)?)
                }
            )*
        }
    };
}

alcedo_abi::module_functions!(entries);

impl Entries {
    /// Attaches a module to its host by the first call into the module. Returns an error if the module rejects the host.
    ///
    /// # Safety
    /// The module must stay mapped while the result is used. Everything that `context` refers to must exist while the module
    /// is mapped.
    pub(crate) unsafe fn of(root: ModuleRef, context: &ModuleContext) -> Result<Self, CallError> {
        let entries = Self(root);
        entries.attach(context).map(|()| entries)
    }
}
