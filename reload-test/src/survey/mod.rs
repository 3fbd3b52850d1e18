//! The survey: one plugin per popular crate, reloaded repeatedly, each in a separate process. Records if the code is
//! unmapped, its holders if not, and growth; and checks with another plugin, mapped at the freed addresses, that no
//! code of the crate still runs.

pub(crate) mod args;
pub(crate) mod child;
mod freed;
mod keepers;
mod machine;
mod outcome;
#[cfg(test)]
mod pages;
pub(crate) mod parent;
mod plan;
mod rows;
mod sabotage;
mod sources;
mod store;
mod table;
