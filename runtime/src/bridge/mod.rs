//! Connects reflection and calls by name. Resolves the targets of the protocols `uf`, `uf!`, `up`, `nm` and `nd`, and converts between
//! slots and parameters. Calls reflected functions of modules.

pub(crate) mod batches;
pub(crate) mod call_cache;
pub(crate) mod callees;
pub(crate) mod calls;
pub(crate) mod collection;
pub(crate) mod conjugate_calls;
pub(crate) mod conjugates;
pub(crate) mod core;
pub(crate) mod delegates;
pub(crate) mod described_protocol;
pub(crate) mod direct;
pub(crate) mod dynamic_call;
mod ends;
pub(crate) mod exports;
pub(crate) mod fast_paths;
pub(crate) mod frames;
pub(crate) mod host_direct;
pub(crate) mod module_code;
pub(crate) mod module_protocols;
pub(crate) mod module_thunk;
pub(crate) mod nd;
pub(crate) mod nm;
mod paths;
pub(crate) mod protocols;
pub(crate) mod rebuild;
#[cfg(feature = "script")]
pub(crate) mod scripts;
pub(crate) mod slots;
pub(crate) mod tasks;
pub(crate) mod uf;
pub(crate) mod unbinding;
mod up;
pub(crate) mod value_types;
