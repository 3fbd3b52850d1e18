//! Compiles `interposer.c`, which defines hooked C functions, into the plugin.

fn main() {
    println!("cargo::rerun-if-changed=src/interposer.c");
    cc::Build::new().file("src/interposer.c").warnings_into_errors(true).compile("interposer");
}
