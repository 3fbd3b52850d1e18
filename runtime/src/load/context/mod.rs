//! Load contexts that belong to no thread: the Default, which stays, and Slims, which come, are replaced and go while
//! other threads call them. The Master is beside them, and only its picture is kept here.

mod at_exit;
pub(crate) mod event;
mod free_context;
mod free_generation;
mod free_module;
pub(crate) mod function;
pub(crate) mod handle;
mod home;
pub(crate) mod host_functions;
pub(crate) mod identity;
pub(crate) mod info;
mod library;
mod loading;
pub(crate) mod lookup;
mod module_calls;
pub(crate) mod native_libs;
mod native_search;
pub(crate) mod peek;
pub(crate) mod registry;
mod resolve;
pub(crate) mod resolvers;
pub(crate) mod scope;
mod search;
mod type_name;
mod under_way;
mod unloading;
pub(crate) mod waits;
