//! The survey repeatedly reloads one plugin per popular crate, each in a separate process. For each crate, the survey records if the code
//! is unmapped, the holders of mapped code, and the growth of the process. The survey also maps a second plugin, the neighbor, at the freed
//! addresses. The neighbor detects late effects of the crate, such as a write, a signal or a close.

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
