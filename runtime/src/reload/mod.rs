//! Reload transaction. Builds the complete new generation next to the old generation, swaps pointers, and then unloads the old generation.
//! A failure before the swap leaves the world unchanged.

mod carry;
pub(crate) mod changes;
pub(crate) mod class_mapping;
mod compiled;
pub(crate) mod conversion;
mod converted;
pub(crate) mod defaults;
pub(crate) mod digest;
pub(crate) mod health;
pub(crate) mod migrate;
pub(crate) mod object_plan;
pub(crate) mod plan;
mod references;
pub(crate) mod report;
pub(crate) mod requests;
mod sources;
pub(crate) mod transaction;
pub(crate) mod watch;
