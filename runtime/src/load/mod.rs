//! Load contexts and modules. Loads library files, runs the code of modules, replaces modules and unmaps images.

pub(crate) mod advice;
pub(crate) mod canary;
pub(crate) mod canary_child;
pub(crate) mod checks;
pub(crate) mod context;
pub(crate) mod context_id;
pub(crate) mod declared;
pub(crate) mod error;
pub(crate) mod hooks;
pub(crate) mod master;
pub(crate) mod module;
pub(crate) mod open;
pub(crate) mod order;
pub(crate) mod park_reason;
pub(crate) mod paths;
pub(crate) mod permissions;
pub(crate) mod record;
pub(crate) mod replace;
pub(crate) mod static_tls;
pub(crate) mod tables;
