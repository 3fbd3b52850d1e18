//! The survey repeatedly reloads one plugin per popular crate, each in a separate process. For each crate, the survey records if the
//! plugin's code is unmapped, what keeps it mapped otherwise, and how much the process grows. The survey also loads a second plugin, the
//! neighbor, which maps memory at the freed addresses. The neighbor detects late effects of the crate, such as a write, a signal or a
//! closed descriptor.

pub(crate) mod args;
pub(crate) mod child;
mod freed;
mod holders;
mod machine;
mod outcome;
#[cfg(test)]
#[path = "tests/pages.rs"]
mod pages;
pub(crate) mod parent;
mod plan;
mod rows;
mod sources;
mod store;
mod table;
