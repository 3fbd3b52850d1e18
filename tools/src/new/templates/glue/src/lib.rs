//! The host's classes for plugins. `alcedo glue --host {{name}}-host -o glue/src/host.rs` writes `host.rs`: run it again after a
//! change to the host's classes. When the host loads a plugin, it compares each name, type and signature with its own.

#![forbid(unsafe_code)]

mod host;

pub use host::*;
