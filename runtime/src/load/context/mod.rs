//! Load contexts for any thread. These are the permanent Default, pinned contexts, and Slims. Slims can be created, replaced and unloaded
//! during calls from concurrent threads. For the Master, only lists of modules and unload tickets are stored here.

mod at_exit;
pub(crate) mod event;
mod free_context;
mod free_generation;
mod free_module;
pub(crate) mod function;
pub(crate) mod handle;
pub(crate) mod host_functions;
pub(crate) mod identity;
mod in_progress;
pub(crate) mod info;
mod loading;
pub(crate) mod lookup;
pub(crate) mod masters;
mod module_calls;
pub(crate) mod native_libs;
mod native_search;
mod owner;
pub(crate) mod peek;
pub(crate) mod registry;
mod resolve;
pub(crate) mod resolvers;
pub(crate) mod scope;
mod search;
mod type_name;
mod unloading;
pub(crate) mod waits;
