//! Tests of the machine: hand-written bytecode, and scripts that run on real objects.

mod attacks;
mod broadcasts;
mod by_hand;
mod fuzz;
#[path = "../../uc/tests/interpreter/mod.rs"]
mod interpreter;
mod library;
mod natives;
mod package;
mod programs;
mod support;
mod text;
mod wildcards;
