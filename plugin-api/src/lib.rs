//! What a plugin is written against: classes and structs by attribute, properties and calls through the
//! frame-bound [`This`], and nothing that could outlive a frame by accident.
//!
//! A plugin depends on this crate only, says `#![forbid(unsafe_code)]`, and starts with
//! `use alcedo_plugin_api::prelude::*;`. It knows nothing of files, generations, or of being reloaded.

mod borrow_state;
mod class;
mod host;
mod keep;
mod name;
mod obj;
mod object;
mod part_cell;
mod signature;
mod this;
mod value;
mod zcall;

#[doc(hidden)]
pub mod plumbing;

pub use alcedo_abi::call::FailureKind;
pub use alcedo_abi::handles::ObjectHandle;
pub use alcedo_macros::{module, uclass, ustruct, zcall};
pub use alcedo_rt::{CallError, Place};
pub use class::Class;
pub use name::UName;
pub use obj::Obj;
pub use object::{Object, ObjectFace};
pub use signature::{Params, ReturnValue};
pub use this::This;
pub use value::Value;

/// All that most plugins need.
pub mod prelude {
    pub use crate::{CallError, Obj, Object, This, UName, module, uclass, ustruct, zcall};
}
