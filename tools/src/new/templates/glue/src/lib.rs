//! The host's classes, as plugins see them. `host.rs` is what `alcedo glue --host {{name}}-host -o glue/src/host.rs` writes: do that again
//! when the host's classes have changed. While a plugin is loaded, the host compares each name, type and signature with its own.

#![forbid(unsafe_code)]

mod host;

pub use host::*;
