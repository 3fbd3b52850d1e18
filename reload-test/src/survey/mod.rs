//! The survey: one plugin per crate that people use, reloaded again and again, each in a process of its own. What it
//! writes down is whether the code goes, who keeps it if not, and what grows.

pub(crate) mod args;
pub(crate) mod child;
mod date;
mod outcome;
pub(crate) mod parent;
mod rows;
mod system;
mod table;
