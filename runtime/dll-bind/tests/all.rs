//! Tests calls of C functions that are declared in Rust or in scripts. Most tests compile a C library of their own.
#![expect(unsafe_code, reason = "vouches for the libraries that the tests compile")]

#[path = "../../tests/support/builds.rs"]
#[allow(dead_code, reason = "tests of other crates use the rest of it")]
mod builds;
#[path = "all/classes.rs"]
mod classes;
#[path = "all/fences.rs"]
mod fences;
#[path = "all/folders.rs"]
mod folders;
#[path = "all/gdb.rs"]
mod gdb;
#[path = "all/hostile.rs"]
mod hostile;
#[path = "all/life.rs"]
mod life;
#[path = "all/natives.rs"]
mod natives;
#[path = "all/page.rs"]
mod page;
#[path = "all/plugins.rs"]
mod plugins;
#[path = "all/random.rs"]
mod random;
#[path = "all/scripts.rs"]
mod scripts;
#[path = "all/source_page.rs"]
mod source_page;
#[path = "all/support.rs"]
mod support;
#[path = "all/type_table.rs"]
mod type_table;
#[path = "all/typed.rs"]
mod typed;
