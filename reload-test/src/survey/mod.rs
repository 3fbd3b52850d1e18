//! The survey repeatedly reloads one plugin per popular crate, each in a separate process. It records if the code is unmapped, the holders
//! if not, and the growth of the process. It also maps another plugin at the freed addresses, which detects late effects of the crate, such
//! as a write, a signal or a close.

pub(crate) mod args;
pub(crate) mod child;
mod fault_injection;
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
