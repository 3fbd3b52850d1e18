//! What a module is called by, as methods: one for each line of its list in `alcedo_abi::list`, made from it.
#![expect(unsafe_code, reason = "calls the functions of modules")]

use alcedo_abi::list::prelude::*;
use alcedo_abi::module::ModuleRef;

use crate::border::{CallError, from_module};

/// The functions of a module that is attached.
pub(crate) struct Entries(ModuleRef);

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
    (maybe $call:expr; $($arg:ident)*) => {
        $call.map(|call| call($($arg),*))
    };
    (always $call:expr; $($arg:ident)*; $failure:ident) => {
        called!(maybe Some($call); $($arg)*; $failure)
    };
    (maybe $call:expr; $($arg:ident)*; $failure:ident) => {
        match $call {
            // SAFETY: `Entries::of` is promised that the module is mapped, and calls nothing else before; the arguments
            // are lent for the call.
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
                pub(crate) fn $name(&self, $($param: $ty),*) -> given!($since $($result)? $(; $failure)?) {
                    called!($since self.0.$name(); $($param)* $(; $failure)?)
                }
            )*
        }
    };
}

alcedo_abi::module_functions!(entries);

impl Entries {
    /// Calls a module for the first time: it takes its host.
    ///
    /// # Errors
    /// When it does not.
    ///
    /// # Safety
    /// The module is mapped, and stays so as long as what this gives is used. All that the context leads to stays as long as the
    /// module is mapped.
    pub(crate) unsafe fn of(root: ModuleRef, context: &ModuleContext) -> Result<Self, CallError> {
        let entries = Self(root);
        entries.attach(context).map(|()| entries)
    }
}
