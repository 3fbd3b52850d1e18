//! The host's classes for plugins. `alcedo glue --host {{name}}-host -o glue/src/host.rs` writes `host.rs`: run it again after a
//! change of the host's classes. While a plugin is loaded, the host compares each name, type and signature with its own.

#![forbid(unsafe_code)]

mod host;

pub use host::*;
