//! A class in two declarations. A reload migrates each value of a living object if the change of the declaration permits it. The report of
//! the reload lists the values that were not migrated.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[cfg(not(feature = "v2"))]
mod diver;
#[cfg(feature = "v2")]
mod diver_component;
#[cfg(not(any(feature = "v2", feature = "ghost-later")))]
mod ghost;
#[cfg(all(not(feature = "v2"), feature = "ghost-later"))]
mod ghost_later;
#[cfg(not(feature = "v2"))]
mod v1;
#[cfg(feature = "v2")]
mod v2;
#[cfg(feature = "v2")]
mod wisp;

module! { name: "migration" }
