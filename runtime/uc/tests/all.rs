//! Tests of the text side of scripts: programs in a folder with what is expected of them, texts that are no programs, and
//! texts of chance.

mod chance;
mod console;
mod errors;
mod files;
mod fixture;
mod interpreter;
mod printing;
mod programs;
mod support;
mod worlds;
