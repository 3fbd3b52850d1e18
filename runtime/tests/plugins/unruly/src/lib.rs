//! A module that any context takes, and whose initializer does what its switches name; without any it is healthy.

// An initializer needs a linker section, which is unsafe to name.
#![deny(unsafe_code)]

use alcedo_plugin_api::prelude::*;

mod initializer;

module! { name: "unruly" }

/// Answers, when nothing has happened to its process.
#[zcall(ex = "unruly.answer")]
fn answer() -> u32 {
    42
}
