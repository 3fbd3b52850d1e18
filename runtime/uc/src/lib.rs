//! Classes in text: a subset of UnrealScript, from the bytes of its files to a tree in which every name and type is resolved
//! against reflection. What runs the tree is elsewhere: this crate knows neither machine nor modules.
#![forbid(unsafe_code)]

pub mod hir;
