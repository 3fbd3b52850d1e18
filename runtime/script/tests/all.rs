//! The machine from outside: bytecode made by hand, and text that runs on real objects.

mod by_hand;
mod natives;
mod package;
mod support;
mod text;
mod wildcards;
