//! Tests of the compiler front end: programs with expected results, erroneous programs, and random sources.

mod chance;
mod console;
mod errors;
mod files;
mod fixture;
mod interpreter;
mod print;
mod printing;
mod programs;
mod support;
mod worlds;
