//! Tables of functions that a module and its host exchange when the module is loaded: `entry_table!` and the entry method.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[cfg(any(feature = "other-engine", feature = "other-scores"))]
mod other;
#[cfg(not(any(feature = "other-engine", feature = "other-scores")))]
mod plain;

#[cfg(feature = "other-engine")]
module! { name: "exchange", entry: other::accepts }
#[cfg(feature = "other-scores")]
module! { name: "exchange", entry: other::returns }
#[cfg(not(any(feature = "other-engine", feature = "other-scores")))]
module! { name: "exchange", entry: plain::entry, main: plain::main }
