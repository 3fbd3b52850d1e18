//! Load contexts that belong to no thread: the Default, which stays, and Slims, which come, are replaced and go while
//! other threads call them. The Master is beside them, and only its picture is kept here.

mod at_exit;
mod calls;
pub(crate) mod error;
mod free_module;
pub(crate) mod function;
pub(crate) mod guides;
pub(crate) mod handle;
mod home;
pub(crate) mod hub;
pub(crate) mod id;
pub(crate) mod identity;
mod line;
mod loading;
pub(crate) mod lookup;
mod module_calls;
pub(crate) mod native_libs;
pub(crate) mod notice;
pub(crate) mod peek;
mod resolve;
pub(crate) mod scope;
mod search;
mod space;
mod type_name;
mod under_way;
mod unloading;
pub(crate) mod waits;
