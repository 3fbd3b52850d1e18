//! The machine from outside: bytecode made by hand, and text that runs on real objects.

mod by_hand;
mod support;
