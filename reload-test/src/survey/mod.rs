//! The survey: one plugin per crate that people use, reloaded again and again, each in a process of its own. What it
//! writes down is whether the code goes, who keeps it if not, and what grows; and whether a plugin that lives in its
//! place afterwards notices anything of it.

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
