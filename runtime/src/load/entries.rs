//! What a module is called by, as methods: one for each line of its list in `alcedo_abi::list`, made from it.
#![expect(unsafe_code, reason = "calls the functions of modules")]

use alcedo_abi::list::prelude::*;
use alcedo_abi::module::ModuleRef;

use crate::border::{CallError, from_module};

/// The functions of a module.
#[derive(Clone, Copy)]
pub(crate) struct Entries(pub(crate) ModuleRef);

/// What a call gives: without a failure what the function does; nothing, where a module may lack it.
macro_rules! given {
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
    (always $call:expr; $($arg:ident)*; $failure:ident) => {{
        let call = $call;
        // SAFETY: promised by the caller.
        from_module(|$failure| unsafe { call($($arg,)* $failure) })
    }};
    (maybe $call:expr; $($arg:ident)*) => {
        $call.map(|call| call($($arg),*))
    };
    (maybe $call:expr; $($arg:ident)*; $failure:ident) => {
        match $call {
            // SAFETY: promised by the caller.
            Some(call) => from_module(|$failure| unsafe { call($($arg,)* $failure) }),
            None => Ok(()),
        }
    };
}

macro_rules! entries {
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
        #[allow(dead_code, reason = "a pointer that outlives the module is taken from the table itself")]
        impl Entries {
            $(
                $(#[doc = $doc])*
                $(
                    #[doc = concat!("\n# Safety\nIt is `", stringify!($safety), "`: the module is mapped and, but for the call")]
                    /// that does it, attached; references are live for the call.
                )?
                pub(crate) $($safety)? fn $name(self, $($param: $ty),*) -> given!($since $($result)? $(; $failure)?) {
                    called!($since self.0.$name(); $($param)* $(; $failure)?)
                }
            )*
        }
    };
}

alcedo_abi::module_functions!(entries);

impl Entries {
    /// The last call that a module gets: its exit hook, if its main has returned, and what drops what was left to it to drop.
    ///
    /// # Errors
    /// Its panic.
    ///
    /// # Safety
    /// The module is mapped and attached.
    pub(crate) unsafe fn last(self, has_started: bool) -> Result<(), CallError> {
        match has_started {
            // SAFETY: promised by the caller.
            true => unsafe { self.exit() },
            // SAFETY: promised by the caller.
            false => unsafe { self.dispose() },
        }
    }

    /// Whether the author has written a `suspend` and a `resume`; a module that is older than they are has none.
    pub(crate) fn gives_up(self) -> bool {
        self.suspends().is_some_and(|suspends| suspends != 0)
    }
}
