//! Module that every kind of context accepts. Its initializer fails as its switches specify. Without a switch, the module is healthy.

// An initializer needs the unsafe attribute for a linker section.
#![deny(unsafe_code)]

use alcedo_plugin_api::prelude::*;

mod initializer;

module! { name: "unruly" }

/// Returns a fixed number.
#[zcall(ex = "unruly.answer")]
fn answer() -> u32 {
    42
}
