//! Module for contexts of every kind, whose initializer fails as its switches specify; healthy without any.

// An initializer needs a linker section attribute, which is unsafe.
#![deny(unsafe_code)]

use alcedo_plugin_api::prelude::*;

mod initializer;

module! { name: "unruly" }

/// Returns a fixed number.
#[zcall(ex = "unruly.answer")]
fn answer() -> u32 {
    42
}
