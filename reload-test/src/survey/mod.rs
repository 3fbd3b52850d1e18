//! The survey: one plugin per popular crate, reloaded repeatedly, each in a separate process. Records if the code is
//! unmapped, its holders if not, and growth; and checks if another plugin, mapped at the freed addresses, notices
//! anything of the crate, such as a late write, signal or close.

pub(crate) mod args;
pub(crate) mod child;
mod fault_injection;
mod freed;
mod holders;
mod machine;
mod outcome;
#[cfg(test)]
mod pages;
pub(crate) mod parent;
mod plan;
mod rows;
mod sources;
mod store;
mod table;
