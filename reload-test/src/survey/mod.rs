//! The survey reloads one plugin per popular crate repeatedly, each in a separate process. Records if the code is unmapped, otherwise its
//! holders, and the growth of the process. Then maps another plugin at the freed addresses, which detects late effects of the crate, such
//! as a write, a signal or a close.

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
