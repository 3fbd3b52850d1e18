//! API that plugins are written against: classes and structs declared by attributes, with properties and calls through the
//! frame-bound [`This`]. No reference obtained from [`This`] outlives its frame.
//!
//! A plugin depends on this crate only, declares `#![forbid(unsafe_code)]`, and starts with `use alcedo_plugin_api::prelude::*;`.
//! Files, generations and reloads are not part of the API.

mod any_call;
mod blocks;
mod cells;
mod class;
mod delegate_signature;
mod direct;
mod dispose;
mod host;
mod keep;
mod kinds;
mod name;
mod obj;
mod object;
mod out;
mod part_cell;
pub mod protocols;
mod ptr;
mod registered;
mod signature;
mod step;
mod tables;
pub mod task;
mod this;
pub mod thread;
pub mod thunk;
pub mod timer;
mod type_text;
mod validity_token;
mod value;
mod zcall;
mod zmethod;
mod zproperty;

#[doc(hidden)]
pub mod __private;

pub use alcedo_abi::call::FailureKind;
pub use alcedo_abi::handles::ObjectHandle;
pub use alcedo_abi::kinds::PropertyKind;
pub use alcedo_abi::net::{NetArchive, NetMap, NetNumber, NetObject};
#[doc(hidden)]
pub use alcedo_macros::{
    add_references, begin_destroy, class_constructor, dll_import, overrides, post_init_properties, red_constructor,
    ufunction,
};
pub use alcedo_macros::{module, uclass, udelegate, uenum, uinterface, ustruct, zcall, zmethods};
pub use alcedo_rt::{CallError, SourcePlace};
pub use any_call::{AnyArgument, AnyArguments, AnyResult};
pub use class::{Class, Interface};
pub use delegate_signature::Signature;
pub use dispose::auto_dispose;
pub use kinds::reference::*;
pub use kinds::{
    AnyConjugate, Delegate, FieldPath, IntoHost, Kind, Lent, MulticastDelegate, SoftClass, SparseDelegate, SubclassOf,
    UAnsiString, UArray, UMap, UOptional, USet, UString, UText, UUtf8String,
};
pub use name::UName;
pub use obj::Obj;
pub use object::{Object, ObjectView};
pub use out::Out;
pub use signature::{Params, ReturnValue};
pub use tables::{HostEntries, HostEntry, ModuleEntries};
pub use this::This;
pub use value::{Plain, Value};
pub use zcall::{HotFunction, ZFunction, zcall};
pub use zmethod::{Each, ZMethod};
pub use zproperty::ZProperty;

/// Items that most plugins use.
pub mod prelude {
    pub use crate::kinds::reference::*;
    pub use crate::{
        AnyConjugate, CallError, FailureKind, Lent, NetArchive, NetMap, Obj, Object, Out, PropertyKind, This, UName,
        module, task, timer, uclass, udelegate, uenum, uinterface, ustruct, zcall, zmethods,
    };
    pub use crate::{
        Delegate, FieldPath, MulticastDelegate, SoftClass, SparseDelegate, SubclassOf, UAnsiString, UArray, UMap,
        UOptional, USet, UString, UText, UUtf8String,
    };
    #[doc(hidden)]
    pub use crate::{
        add_references, begin_destroy, class_constructor, dll_import, overrides, post_init_properties, red_constructor,
        ufunction,
    };
}
