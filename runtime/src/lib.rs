//! The host side of Alcedo: reflected objects whose code can be swapped while they live.
//!
//! A host builds a [`Runtime`], declares its packages and native classes, loads plugins into the Master load context
//! and calls [`Runtime::tick`] from its own loop. When the libraries change, a reload replaces the code and keeps the
//! objects; when the new code fails to come up, everything is as it was.
//!
//! The thread that builds the runtime is the game thread: nothing here leaves it. Plugins are native code: a
//! boundary for mistakes, not a sandbox against malice.

mod object;

mod border;
mod bridge;
mod builder;
mod conjugate;
mod counters;
mod dynamic_call;
mod emit;
mod error;
mod game_thread;
mod handles;
mod host_table;
mod load;
mod logs;
pub mod native;
pub mod reload;
mod runtime;
mod zcall;

pub use alcedo_sys::{process, seal_file};

pub use border::{CallError, Place};
pub use builder::Builder;
pub use conjugate::Color;
pub use counters::Counters;
pub use dynamic_call::Signature;
pub use emit::error::EmitError;
pub use error::Error;
pub use handles::{Name, ObjectHandle, ZCallHandle};
pub use load::error::LoadError;
pub use load::events::MasterEvent;
pub use load::master::Unload;
pub use load::state::ContextState;
pub use object::World;
pub use object::birth::{BirthFailed, BirthStep};
pub use object::thunk::Frame;
pub use object::typed::{PlainField, PlainStruct};
pub use object::value::Value;
pub use reload::report::{Outcome, Phase, Phases, PropertyChange, Reload};
pub use runtime::{Budget, Runtime, Shutdown};

/// What the macros of this crate expand to. Not for use by hand.
#[doc(hidden)]
pub mod plumbing {
    pub use crate::object::typed::{PlainField, PlainStruct, PropertyKind, add_field, start_fields};
}

pub use alcedo_abi::kinds;
